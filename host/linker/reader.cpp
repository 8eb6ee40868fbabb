
#include <cerrno>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "host/linker/linker.hpp"

namespace enginehost::linker {

Reader::Reader(std::filesystem::path root) : root_(std::move(root)) {
  if (root_ == "/") root_.clear();
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

std::filesystem::path Reader::on_disk(const std::string& path) const {
  if (root_.empty()) return path_of(path);
  // Links are followed by hand: an absolute one means the described machine's root, not this one's.
  constexpr int link_limit = 40;  // the kernel's own
  std::filesystem::path rest = path_of(path).lexically_normal().relative_path();
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
  if (known == files_.end())
    known =
        files_.emplace(path, std::make_unique<Result<binary::BinaryInfo>>(binary::read_binary(on_disk(path))))
            .first;
  return *known->second;
}

const Result<binary::BinaryInfo>* Reader::find(const Folder& folder, const std::string& name,
                                               const std::string& path) {
  if (const auto known = files_.find(path); known != files_.end()) {
    // A link that leads nowhere is known as an error; for a search it is no file.
    return *known->second || file_exists(path) ? known->second.get() : nullptr;
  }
  if (!root_.empty()) return file_exists(path) ? &read(path) : nullptr;
  std::unique_ptr<Result<binary::BinaryInfo>> info =
      folder.descriptor.valid() ? binary::read_binary_in(folder.descriptor.get(), name, path, &buffers_)
                                : binary::read_binary_in(AT_FDCWD, path, path, &buffers_);
  if (!info) return nullptr;
  // In a folder that may not be entered nobody knows whether there is such a file.
  if (!*info && !file_exists(path)) return nullptr;
  return files_.emplace(path, std::move(info)).first->second.get();
}

const Reader::Folder& Reader::folder(const std::string& path) {
  auto [known, added] = folders_.try_emplace(path);
  Folder& folder = known->second;
  if (!added) return folder;
  constexpr std::size_t most_open = 32;
  folder.path = path;
  if (root_.empty() && folders_open_ < most_open) {
    folder.descriptor = FileDescriptor(calls::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    folder.exists = folder.descriptor.valid();
    folders_open_ += folder.exists ? 1 : 0;
    if (folder.exists || errno == ENOENT || errno == ENOTDIR) return folder;
  }
  calls::Status status{};
  folder.exists = calls::stat(on_disk(path).c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  return folder;
}

bool Reader::file_exists(const std::string& path) {
  if (auto known = files_.find(path); known != files_.end() && *known->second) return true;
  return (root_.empty() ? calls::access(path, F_OK) : calls::access(on_disk(path), F_OK)) == 0;
}

}  // namespace enginehost::linker
