#include "host/platform/root.hpp"

#include <algorithm>

#include "base/file_calls.hpp"
#include "base/files.hpp"

namespace enginehost::platform {
namespace {

constexpr std::uint64_t longest_file = 1u << 20;

bool ends_a_text(char c) { return c == '\n' || c == '\r' || c == '\0'; }

}  // namespace

bool Root::is_folder(const std::string& path) const {
  calls::Status status{};
  const auto file = file_of(path);
  return file && calls::stat(*file, &status) == 0 && S_ISDIR(status.st_mode);
}

std::optional<std::string> Root::read(const std::string& path) const {
  const auto file = file_of(path);
  if (!file) return std::nullopt;
  auto bytes = read_file(*file, longest_file);
  if (!bytes) return std::nullopt;
  while (!bytes->empty() && ends_a_text(bytes->back())) bytes->pop_back();
  return std::move(*bytes);
}

std::string Root::read_start(const std::string& path, std::size_t bytes) const {
  const auto file = file_of(path);
  const FileDescriptor opened(file ? calls::open(*file, O_RDONLY | O_CLOEXEC) : -1);
  if (!opened.valid()) return {};
  std::string text(bytes, '\0');
  const ssize_t got = calls::pread(opened.get(), text.data(), text.size(), 0);
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

std::vector<std::string> Root::list(const std::string& folder) const {
  std::vector<std::string> names;
  const auto file = file_of(folder);
  if (!file) return names;
  calls::for_each_name(*file, [&](int, const char* name) {
    if (std::string_view(name) != "." && std::string_view(name) != "..") names.emplace_back(name);
  });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace enginehost::platform
