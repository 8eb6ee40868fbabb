#include "host/commands/stdout_writer.hpp"

#include <cerrno>

#include "base/text.hpp"
#include "host/commands/output.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

int first_error = 0;  // errno

}  // namespace

void write_out(std::FILE* stream, std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stream) != text.size() && first_error == 0)
    first_error = errno;
}

void flush_out(std::FILE* stream) {
  errno = 0;
  if (std::fflush(stream) != 0 && first_error == 0) first_error = errno;
}

int finish_stdout(int status) {
  std::FILE* const stream = documents();
  flush_out(stream);
  if (first_error == 0 && std::ferror(stream) == 0) return status;
  Diagnosis diagnosis = first_error != 0 ? diagnose_errno("EH-P50", first_error) : diagnose("EH-P50");
  const OutputFile file = file_behind(stream);
  if (first_error == EBADF) diagnosis.with("closed", "yes");
  if (!file.name.empty()) diagnosis.with("file", file.name);
  if (file.size) diagnosis.with("size", std::to_string(*file.size));
  std::fprintf(stderr, "%s\n", explain::describe(diagnosis).c_str());
  return status == 0 ? static_cast<int>(explain::exit_status(diagnosis)) : status;
}

}  // namespace enginehost::commands
