#include "host/linker/foreign_reader.hpp"

#include <algorithm>
#include <system_error>

#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::linker {

const Result<binary::BinaryInfo>& ForeignReader::read(const std::filesystem::path& file) {
  auto known = files_.find(path_text(file));
  if (known == files_.end() && described_ != nullptr) {
    Result<binary::BinaryInfo> read = fail(diagnose("EH-F01").with("file", path_text(file)));
    if (const binary::BinaryInfo* info = described_->find(path_text(file))) read = *info;
    known = files_.emplace(path_text(file), std::move(read)).first;
  }
  if (known == files_.end())
    known = files_.emplace(path_text(file), binary::read_binary(file, machine_)).first;
  return known->second;
}

const ForeignReader::Folder& ForeignReader::folder(const std::filesystem::path& path) {
  auto [known, added] = folders_.try_emplace(path_text(path));
  if (!added) return known->second;
  std::error_code ignored;
  known->second.exists = described_ != nullptr ? described_->is_folder(path_text(path))
                                               : std::filesystem::is_directory(path, ignored);
  for (std::string& name : names_in(path)) known->second.names.emplace(to_lower(name), std::move(name));
  return known->second;
}

std::filesystem::path ForeignReader::find_ignoring_case(const std::filesystem::path& path,
                                                        std::string_view name) {
  const Listing& names = folder(path).names;
  const auto found = names.find(to_lower(name));
  return found != names.end() ? path / path_of(found->second) : std::filesystem::path();
}

bool ForeignReader::folder_exists(const std::filesystem::path& path) { return folder(path).exists; }

bool ForeignReader::file_exists(const std::filesystem::path& file) const {
  if (described_ != nullptr) return described_->find(path_text(file)) != nullptr;
  std::error_code ignored;
  return std::filesystem::exists(file, ignored);
}

std::vector<std::string> ForeignReader::names_in(const std::filesystem::path& folder) const {
  if (described_ != nullptr) return described_->names_in(path_text(folder));
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(path_text(at->path().filename()));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace enginehost::linker
