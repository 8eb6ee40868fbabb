#include "host/commands/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

namespace enginehost::commands {
namespace {

std::FILE* kept = nullptr;

// Redirects standard output to standard error. If standard error is closed, printed text is lost, but the
// document stays alone.
bool lead_to_errors() {
  if (::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0) return true;
  const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing < 0) return false;
  const bool done = ::dup2(nothing, STDOUT_FILENO) >= 0;
  ::close(nothing);
  return done;
}

}  // namespace

void keep_output_for_documents() {
  if (kept != nullptr) return;
  std::fflush(stdout);
  const int copy = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (copy < 0) return;
  std::FILE* const stream = ::fdopen(copy, "w");
  if (stream == nullptr || !lead_to_errors()) {
    stream != nullptr ? static_cast<void>(std::fclose(stream)) : static_cast<void>(::close(copy));
    return;
  }
  kept = stream;
}

std::FILE* documents() { return kept != nullptr ? kept : stdout; }

OutputFile file_behind(std::FILE* stream) {
  OutputFile file;
  const int number = ::fileno(stream);
  struct stat status {};
  if (::fstat(number, &status) != 0 || !S_ISREG(status.st_mode)) return file;
  file.size = static_cast<std::uint64_t>(status.st_size);
  char name[PATH_MAX + 1] = {};
#ifdef F_GETPATH
  if (::fcntl(number, F_GETPATH, name) != 0) name[0] = '\0';
#else
  const std::string link = "/proc/self/fd/" + std::to_string(number);
  if (::readlink(link.c_str(), name, sizeof name - 1) < 0) name[0] = '\0';
#endif
  file.name = name;
  return file;
}

void leave_at_once(int status) {
  std::fflush(stdout);
  std::fflush(documents());
  ::_exit(status);
}

}  // namespace enginehost::commands
