#include "host/platform/root.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/files.hpp"

namespace enginehost::platform {
namespace {

constexpr std::uint64_t longest_file = 1u << 20;
constexpr int most_links = 40;  // the kernel's limit for ELOOP

}  // namespace

Root::Root(std::filesystem::path root) : prefix_(root == "/" ? "" : root.lexically_normal().native()) {
  while (!prefix_.empty() && prefix_.back() == '/') prefix_.pop_back();
}

std::filesystem::path Root::on_disk(const std::string& path) const { return prefix_ + path; }

std::string Root::text_on_disk(const std::string& path) const { return prefix_ + path; }

bool Root::exists(const std::string& path) const {
  if (is_this_machine()) return ::access(path.c_str(), F_OK) == 0;
  return resolve(path).has_value();
}

bool Root::is_folder(const std::string& path) const {
  struct stat status {};
  const auto real = is_this_machine() ? path : resolve(path).value_or("");
  return !real.empty() && ::stat(on_disk(real).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::optional<std::string> Root::read(const std::string& path) const {
  const auto real = is_this_machine() ? path : resolve(path);
  if (!real) return std::nullopt;
  auto bytes = read_file(on_disk(*real), longest_file);
  if (!bytes) return std::nullopt;
  while (!bytes->empty() && (bytes->back() == '\n' || bytes->back() == '\0')) bytes->pop_back();
  return std::move(*bytes);
}

std::string Root::read_start(const std::string& path, std::size_t bytes) const {
  const auto real = is_this_machine() ? path : resolve(path);
  if (!real) return {};
  const FileDescriptor opened(::open((prefix_ + *real).c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened.valid()) return {};
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(opened.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::vector<std::string> Root::list(const std::string& folder) const {
  std::vector<std::string> names;
  const auto real = is_this_machine() ? folder : resolve(folder);
  if (!real) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(on_disk(*real).c_str()), &::closedir);
  if (opened == nullptr) return names;
  while (const dirent* entry = ::readdir(opened.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> Root::resolve(const std::string& path) const {
  if (is_this_machine()) {
    // Checks for existence first: realpath examines every path element, and most of the paths do not exist.
    if (!exists(path)) return std::nullopt;
    char real[PATH_MAX];
    if (::realpath(path.c_str(), real) == nullptr) return std::nullopt;
    return std::string(real);
  }
  // Resolves element by element, because the kernel would follow an absolute link out of the root.
  std::filesystem::path done = "/", rest = std::filesystem::path(path).relative_path();
  for (int links = 0; !rest.empty();) {
    const std::filesystem::path element = *rest.begin();
    rest = rest.lexically_relative(element);
    if (rest == ".") rest.clear();
    if (element.empty() || element == ".") continue;
    if (element == "..") {
      done = done.parent_path();
      continue;
    }
    const std::filesystem::path next = done / element;
    struct stat status {};
    if (::lstat(on_disk(next.native()).c_str(), &status) != 0) return std::nullopt;
    if (!S_ISLNK(status.st_mode)) {
      done = next;
      continue;
    }
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(on_disk(next.native()), error);
    if (error || ++links > most_links) return std::nullopt;
    if (target.is_absolute()) done = "/";
    rest = target.relative_path() / rest;
  }
  return done.native();
}

}  // namespace enginehost::platform
