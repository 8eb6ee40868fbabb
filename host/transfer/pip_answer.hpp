// Facts that only Python and pip themselves know, asked once and kept for the next process.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::transfer {

struct PipAnswer {
  std::string index;             // pip's default index; empty only with needs_prefix, if there is no pip
  std::filesystem::path prefix;  // the Python's sys.prefix; empty: there is no Python
};

// Runs pip (python3 -m pip, pip3, pip; the first that works) without its configuration. The answer is kept in
// options.answers_folder until the Python or its pip is another file. A `prefix` counts for an hour only,
// because a script may start another Python then; with `needs_prefix` an older answer is asked for again.
//
// Error: EH-N12 ("asked", "skipped", "problem") if no pip works. EH-P10. Any thread.
Result<PipAnswer> ask_pip(const TransferOptions& options, bool needs_prefix,
                          const std::optional<CancelToken>& cancel = {});

// Returns sys.prefix of the virtual environment that is active ($VIRTUAL_ENV), else of the first Python of
// PATH. Empty if there is no Python; nothing if only that Python knows.
std::optional<std::filesystem::path> python_prefix();

}  // namespace enginehost::transfer
