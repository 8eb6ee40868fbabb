#include "tools/publish/listing.hpp"

#include <algorithm>
#include <system_error>

#include "base/paths.hpp"

namespace enginehost::publish {
namespace {

namespace fs = std::filesystem;

Diagnosis unreadable(const fs::path& path, const std::error_code& error) {
  Diagnosis diagnosis =
      diagnose_errno(Code::repository_change_refused, error.default_error_condition().value());
  const std::string problem = "it cannot be looked at: " + std::string(diagnosis.value(Key::os_said));
  return diagnosis.with(Key::folder, path_text(path))
      .with(Key::problem, problem)
      .with(Key::remedy, "let this user read it, and see whether its disk is whole");
}

bool is_absent(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

template <class Iterator, class Take>
Result<void> for_each_in(const fs::path& folder, Take take) {
  std::error_code error;
  Iterator at(folder, error);
  if (is_absent(error)) return {};
  fs::path about = folder;
  for (const Iterator end; !error && at != end; at.increment(error)) {
    about = at->path();
    take(*at, error);
    if (error) break;
  }
  // A folder below is opened by the step after it, which then failed.
  std::error_code ignored;
  if (error) return fail(unreadable(fs::is_directory(about, ignored) ? about : folder, error));
  return {};
}

}  // namespace

Result<fs::file_type> type_of(const fs::path& path) {
  std::error_code error;
  const fs::file_type type = fs::status(path, error).type();
  if (type == fs::file_type::none) return fail(unreadable(path, error));
  return type;
}

Result<bool> is_there(const fs::path& path) {
  return type_of(path).map([](fs::file_type type) { return type != fs::file_type::not_found; });
}

Result<std::vector<fs::path>> children_of(const fs::path& folder) {
  std::vector<fs::path> children;
  TRY(for_each_in<fs::directory_iterator>(
      folder, [&](const fs::directory_entry& entry, std::error_code&) { children.push_back(entry.path()); }));
  std::sort(children.begin(), children.end());
  return children;
}

Result<std::vector<fs::path>> entries_below(const fs::path& folder) {
  std::vector<fs::path> entries;
  TRY(for_each_in<fs::recursive_directory_iterator>(
      folder, [&](const fs::directory_entry& entry, std::error_code& error) {
        if (entry.is_symlink(error) || !entry.is_directory(error))
          entries.push_back(entry.path().lexically_relative(folder));
      }));
  return entries;
}

}  // namespace enginehost::publish
