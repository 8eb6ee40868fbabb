// pip on this machine: where it reads its configuration, what that says, and what only pip and Python
// themselves know.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::transfer {

// The format of pip's configuration files, as Python's configparser reads it (RawConfigParser with its
// defaults).

struct IniEntry {
  std::string section, name, value;  // the name in lower case; lines of a value are joined by '\n'
};

// Returns the entries of all sections in their order. Each section begins with the entries of [DEFAULT].
// Error: EH-N17 ("problem") where Python refuses the file too: a line that is none, a name or a section given
// twice, text that is not UTF-8.
Result<std::vector<IniEntry>> read_ini(std::string_view text);

// pip on this system: its commands and the places of its configuration files.

// Each a command and its first arguments, the most likely first.
const std::vector<std::vector<std::string>>& pip_commands();

// The files that pip reads for every Python, in its order: a later one wins. Most do not exist. Relative
// folders in variables are left out, because nothing is read from the current folder.
struct PipFiles {
  std::vector<std::filesystem::path> global, user;
};
PipFiles pip_files();

inline constexpr const char* pip_file_name =
    std::filesystem::path::preferred_separator == '\\' ? "pip.ini" : "pip.conf";
// PIP_CONFIG_FILE with this value: pip reads no file at all.
inline constexpr const char* null_device =
    std::filesystem::path::preferred_separator == '\\' ? "nul" : "/dev/null";

// Returns the user's home folder; empty if there is none.
std::filesystem::path home_folder();

// Returns the Python's sys.prefix, in which pip looks for a file of its own. Returns nothing if the program's
// place does not show it: a script that starts one of several Pythons (pyenv), a launcher, or PYTHONHOME is
// set.
std::optional<std::filesystem::path> prefix_of(const std::filesystem::path& python);

// pip's configuration, read as pip reads it: its files, then the variables PIP_….

struct PipSettings {
  std::string index_url;     // empty: pip's default
  std::string index_set_by;  // the file or the variable
  std::vector<std::string> extra_index_urls, find_links, trusted_hosts;
  bool no_index = false;
  std::string cert, client_cert;  // absolute paths, or empty
  std::string proxy, proxy_set_by;
  std::string keyring_provider;      // empty: pip's default
  std::vector<std::string> skipped;  // "FILE: why it was not read"
};

// Reads what `pip install` and `pip download` would obey: [global], then [download], then [install], each
// after all files, then the variables. `site` is the folder of the Python (sys.prefix); empty: it has no
// file. A file that another user could have written is skipped, because it decides which server gets the
// user's credentials.
//
// Error: EH-N17 ("set_by", "problem"; "key", "value" of one setting) for a file or a value that pip refuses
// too, and for a relative path of a certificate.
Result<PipSettings> read_pip_settings(const std::filesystem::path& site);

// Splits at white space, as pip splits lists.
std::vector<std::string> words_of(std::string_view text);

// Facts that only Python and pip themselves know, asked once and kept for the next process.

struct PipAnswer {
  std::string index;             // pip's default index; empty only with needs_prefix, if no pip works
  std::filesystem::path prefix;  // the Python's sys.prefix; empty: there is no Python
  std::optional<Diagnosis> failure = {};  // of a pip that is there and gave no index
};

// Runs pip (python3 -m pip, pip3, pip; the first that works) without its configuration. The answer is kept in
// options.answers_folder until the Python or its pip is another file. A `prefix` counts for an hour only,
// because a script may start another Python then; with `needs_prefix` an older answer is asked for again.
//
// Errors: EH-N12 ("asked", "skipped", "problem") if there is no pip. EH-N18 ("program", "said", "skipped" and
// one of "deadline", "exit_code", "signal", "status_lost", "os_said", "problem") if the first one that is
// there fails, and no other answers. EH-P51 and EH-F24 if this machine cannot start it now. EH-P10. Any
// thread.
Result<PipAnswer> ask_pip(const TransferOptions& options, bool needs_prefix,
                          const std::optional<CancelToken>& cancel = {});

// Returns sys.prefix of the virtual environment that is active ($VIRTUAL_ENV), else of the first Python of
// PATH. Empty if there is no Python; nothing if only that Python knows.
std::optional<std::filesystem::path> python_prefix();

}  // namespace enginehost::transfer
