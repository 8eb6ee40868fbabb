#include "host/linker/foreign_reader.hpp"

#include <system_error>

#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::linker {

const Result<binary::BinaryInfo>& ForeignReader::read(const std::filesystem::path& file) {
  auto known = files_.find(path_text(file));
  if (known == files_.end())
    known = files_.emplace(path_text(file), binary::read_binary(file, machine_)).first;
  return known->second;
}

const ForeignReader::Folder& ForeignReader::folder(const std::filesystem::path& path) {
  auto [known, added] = folders_.try_emplace(path_text(path));
  if (!added) return known->second;
  std::error_code error;
  std::filesystem::directory_iterator at(path, error), end;
  known->second.exists = !error;
  for (; !error && at != end; at.increment(error)) {
    std::string name = path_text(at->path().filename());
    known->second.names.emplace(to_lower(name), std::move(name));
  }
  return known->second;
}

std::filesystem::path ForeignReader::find_ignoring_case(const std::filesystem::path& path,
                                                        std::string_view name) {
  const Listing& names = folder(path).names;
  const auto found = names.find(to_lower(name));
  return found != names.end() ? path / path_of(found->second) : std::filesystem::path();
}

bool ForeignReader::folder_exists(const std::filesystem::path& path) { return folder(path).exists; }

}  // namespace enginehost::linker
