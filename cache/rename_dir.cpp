#include "cache/store_parts.hpp"

#include <cerrno>
#include <system_error>
#include <vector>

#include "base/file_calls.hpp"

namespace enginehost::cache::inside {
namespace {

namespace fs = std::filesystem;

int move_entries(const fs::path& from, const fs::path& to) {
  if (calls::mkdir(to.c_str(), 0755) != 0) return errno;
  std::vector<fs::path> entries;
  std::error_code error;
  for (auto it = fs::directory_iterator(from, error); !error && it != fs::end(it); it.increment(error))
    entries.push_back(it->path());
  if (error) return error.value();
  for (const fs::path& entry : entries)
    if (const int why = move_away(entry, to / entry.filename()); why != 0) return why;
  return calls::rmdir(from.c_str()) == 0 ? 0 : errno;
}

}  // namespace

int move_away(const fs::path& from, const fs::path& to) {
  if (calls::rename(from.c_str(), to.c_str()) == 0) return 0;
  const int why = errno;
  std::error_code error;
  return why == EXDEV && fs::is_directory(fs::symlink_status(from, error)) ? move_entries(from, to) : why;
}

}  // namespace enginehost::cache::inside
