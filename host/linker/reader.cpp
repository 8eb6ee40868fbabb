#include <sys/stat.h>
#include <unistd.h>

#include <system_error>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

Reader::Reader(std::filesystem::path root) : root_(std::move(root)) {
  if (root_ == "/") root_.clear();
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

std::filesystem::path Reader::on_disk(const std::string& path) const {
  if (root_.empty()) return path;
  // Links are followed by hand: an absolute one means the described machine's root, not this one's.
  constexpr int link_limit = 40;  // the kernel's own
  std::filesystem::path rest = std::filesystem::path(path).lexically_normal().relative_path();
  std::filesystem::path done;
  for (int links = 0; !rest.empty();) {
    const std::filesystem::path component = *rest.begin();
    rest = rest.lexically_relative(component);
    if (rest == ".") rest.clear();
    std::error_code ignored;
    const std::filesystem::path target = std::filesystem::read_symlink(root_ / done / component, ignored);
    if (ignored || ++links > link_limit) {
      done /= component;
      continue;
    }
    const std::filesystem::path whole =
        target.is_absolute() ? target.relative_path() / rest : done / target / rest;
    // ".." at the top stays at the top, as in chroot.
    rest = (std::filesystem::path("/") / whole).lexically_normal().relative_path();
    done.clear();
  }
  return root_ / done;
}

const Result<binary::BinaryInfo>& Reader::read(const std::string& path) {
  auto known = files_.find(path);
  if (known == files_.end()) known = files_.emplace(path, binary::read_binary(on_disk(path))).first;
  return known->second;
}

bool Reader::folder_exists(const std::string& path) {
  auto [known, added] = folders_.emplace(path, true);
  if (added) {
    struct stat status {};
    known->second = ::stat(on_disk(path).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  }
  return known->second;
}

bool Reader::file_exists(const std::string& path) {
  if (auto known = files_.find(path); known != files_.end() && known->second) return true;
  return ::access(root_.empty() ? path.c_str() : on_disk(path).c_str(), F_OK) == 0;
}

}  // namespace enginehost::linker
