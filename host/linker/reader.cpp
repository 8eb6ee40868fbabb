#include <algorithm>
#include <cerrno>
#include <system_error>
#include <vector>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/linker/linker.hpp"

namespace enginehost::linker {
namespace {

// Returns true for errors that a loader does not treat as a missing file, although file_exists() is false.
bool is_more_than_missing(const Diagnosis& why) {
  return why.value(Key::problem) == "link loop" || why.code == Code::path_unusable_for_loader;
}

}  // namespace

Reader::Reader(std::filesystem::path root, std::string machine, const DescribedFiles* described)
    : root_(std::move(root)), machine_(std::move(machine)), described_(described) {
  if (root_ == "/") root_.clear();
}

std::filesystem::path Reader::on_disk(const std::string& path) const {
  if (root_.empty()) return path_of(path);
  // Resolves component by component, because the kernel would follow an absolute link out of the root. ".."
  // leaves the target of a link, as in the kernel, and stays at the root (as in chroot).
  constexpr int link_limit = 40;            // the kernel's own
  std::vector<std::filesystem::path> rest;  // the next one at the end
  const auto follow = [&](const std::filesystem::path& relative) {
    const std::vector<std::filesystem::path> parts(relative.begin(), relative.end());
    rest.insert(rest.end(), parts.rbegin(), parts.rend());
  };
  follow(path_of(path).relative_path());
  std::filesystem::path done;
  for (int links = 0; !rest.empty();) {
    const std::filesystem::path component = std::move(rest.back());
    rest.pop_back();
    if (component.empty() || component == ".") continue;
    std::error_code ignored;
    // Only a folder has a parent; the kernel refuses other paths.
    if (component == ".." && std::filesystem::is_directory(root_ / done, ignored)) {
      done = done.parent_path();
      continue;
    }
    const std::filesystem::path target = std::filesystem::read_symlink(root_ / done / component, ignored);
    if (ignored || ++links > link_limit) {
      done /= component;
      continue;
    }
    if (target.is_absolute()) done.clear();
    follow(target.relative_path());
  }
  return root_ / done;
}

const Result<binary::BinaryInfo>& Reader::read(const std::string& path) {
  if (const auto known = files_.find(path); known != files_.end()) return *known->second;
  const auto read = [&]() -> Result<binary::BinaryInfo> {
    if (described_ == nullptr) return binary::read_binary(on_disk(path), machine_);
    if (const binary::BinaryInfo* info = described_->find(path)) return *info;
    return fail(diagnose(Code::file_not_readable).with(Key::file, path));
  };
  return *files_.emplace(path, std::make_unique<Result<binary::BinaryInfo>>(read())).first->second;
}

const Result<binary::BinaryInfo>* Reader::find(const Folder& folder, const std::string& name,
                                               const std::string& path) {
  if (const auto known = files_.find(path); known != files_.end()) {
    // A dangling link is known as an error; a search treats it as missing.
    return *known->second || is_more_than_missing(known->second->error()) || file_exists(path)
               ? known->second.get()
               : nullptr;
  }
  if (described_ != nullptr) return file_exists(path) ? &read(path) : nullptr;
  if (!root_.empty()) {
    const bool there = file_exists(path) || errno == ELOOP || errno == ENAMETOOLONG;
    return there ? &read(path) : nullptr;
  }
  std::unique_ptr<Result<binary::BinaryInfo>> info =
      folder.descriptor.valid() ? binary::read_binary_in(folder.descriptor.get(), name, path)
                                : binary::read_binary_in(AT_FDCWD, path, path);
  if (!info) return nullptr;
  // In an inaccessible folder it is unknown whether the file exists.
  if (!*info && !is_more_than_missing((*info).error()) && !file_exists(path)) return nullptr;
  return files_.emplace(path, std::move(info)).first->second.get();
}

const Reader::Folder& Reader::folder(const std::string& path) {
  auto [known, added] = folders_.try_emplace(path);
  Folder& folder = known->second;
  if (!added) return folder;
  constexpr std::size_t most_open = 32;
  folder.path = path;
  if (described_ != nullptr) {
    folder.exists = described_->is_folder(path);
    return folder;
  }
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
  if (described_ != nullptr) return described_->find(path) != nullptr;
  if (auto known = files_.find(path); known != files_.end() && *known->second) return true;
  return (root_.empty() ? calls::access(path, F_OK) : calls::access(on_disk(path), F_OK)) == 0;
}

bool Reader::is_file(const std::string& path) const {
  if (described_ != nullptr) return described_->find(path) != nullptr;
  std::error_code error;
  return std::filesystem::is_regular_file(on_disk(path), error);
}

std::vector<std::string> Reader::names_in(const std::string& folder) const {
  if (described_ != nullptr) return described_->names_in(folder);
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(on_disk(folder), error), end; !error && at != end;
       at.increment(error))
    names.push_back(path_text(at->path().filename()));
  std::sort(names.begin(), names.end());
  return names;
}

std::string Reader::find_ignoring_case(const std::string& folder, std::string_view name) {
  const auto [known, added] = names_ignoring_case_.try_emplace(folder);
  if (added)
    for (std::string& one : names_in(folder)) known->second.emplace(to_lower(one), std::move(one));
  const auto found = known->second.find(to_lower(name));
  return found != known->second.end() ? path_text(path_of(folder) / path_of(found->second)) : std::string();
}

}  // namespace enginehost::linker
