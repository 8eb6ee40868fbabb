#include "host/platform/root.hpp"

#include "base/paths.hpp"
#include "base/windows/file_calls.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"

namespace enginehost::platform {
namespace {

// Returns the path in the file system's spelling, links followed; empty when it cannot be opened.
std::string final_path(const std::filesystem::path& file) {
  const windows::Handle opened(::CreateFileW(calls::Name(file).for_call().c_str(), 0,
                                             FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                             OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, nullptr));
  if (!opened.valid()) return {};
  return windows::final_path(opened.get());
}

bool is_drive_path(const std::string& path) {
  return path.size() >= 2 && path[1] == ':' && (path.size() == 2 || path[2] == '\\' || path[2] == '/');
}

}  // namespace

Root::Root(std::filesystem::path root) {
  if (root.empty() || root == "/" || root == "\\") return;
  prefix_ = path_text(root.lexically_normal());
  while (!prefix_.empty() && prefix_.back() == '\\') prefix_.pop_back();
}

std::filesystem::path Root::on_disk(const std::string& path) const {
  if (prefix_.empty()) return path_of(path);
  if (!is_drive_path(path)) return path_of(prefix_ + "\\" + path);
  return path_of(prefix_ + "\\" + path[0] + path.substr(2));
}

std::optional<std::filesystem::path> Root::file_of(const std::string& path) const { return on_disk(path); }

bool Root::exists(const std::string& path) const { return calls::access(on_disk(path), F_OK) == 0; }

std::optional<std::string> Root::resolve(const std::string& path) const {
  if (!exists(path)) return std::nullopt;
  const std::string real = final_path(on_disk(path));
  if (real.empty()) return path;
  if (prefix_.empty()) return real;
  // Converts to the machine's own path; a link out of the root leads nowhere.
  const std::string top = final_path(path_of(prefix_)) + "\\";
  if (!real.starts_with(top)) return std::nullopt;
  std::string inside = real.substr(top.size());
  if (inside.size() >= 2 && inside[1] == '\\') inside.insert(1, ":");
  return inside;
}

}  // namespace enginehost::platform
