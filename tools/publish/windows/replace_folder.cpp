#include "tools/publish/replace_folder.hpp"

#include <cerrno>

#include "base/file_calls.hpp"

namespace enginehost::publish {

// Only administrators can flush a whole volume.
bool write_out_below(const std::filesystem::path& folder) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    const int file = calls::open(at->path(), O_RDONLY | O_CLOEXEC);
    const bool written = file >= 0 && calls::fsync(file) == 0;
    const int why = errno;
    if (file >= 0) calls::close(file);
    errno = why;
    if (!written) return false;
  }
  if (error) errno = error.default_error_condition().value();
  return !error;
}

bool exchange_names(const std::filesystem::path&, const std::filesystem::path&) { return false; }

}  // namespace enginehost::publish
