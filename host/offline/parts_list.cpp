#include "host/offline/parts_list.hpp"

#include <algorithm>
#include <system_error>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

Diagnosis not_a_list(const fs::path& list, std::string_view problem) {
  return std::move(diagnose("EH-F40")
                       .with("file", path_text(list))
                       .with("problem", problem)
                       .with("entry", "list of parts"));
}

}  // namespace

Result<std::vector<ListedPart>> listed_parts(const fs::path& list) {
  TRY_ASSIGN(const std::string text, read_file(list, 1u << 20, "EH-P47"));
  const auto document = parse_json(text, path_text(list));
  if (!document) return fail(not_a_list(list, "it is not a JSON document"));
  if ((*document)["kind"].as_string() != "enginehost-bundle-parts")
    return fail(not_a_list(list, "it is no list of parts"));
  if (const std::int64_t format = (*document)["format"].as_integer(); format != 1)
    return fail(diagnose("EH-M04")
                    .with("document", path_text(list))
                    .with("found", std::to_string(format))
                    .with("supported", "1"));
  std::vector<ListedPart> parts;
  for (const Json& entry : (*document)["parts"].as_array()) {
    const std::string& name = entry["name"].as_string();
    const std::int64_t size = entry["size"].as_integer(-1);
    const bool plain = !name.empty() && !path_of(name).has_parent_path() && name.front() != '.';
    if (!plain || size < 0 || !is_sha256_hex(entry["sha256"].as_string()))
      return fail(not_a_list(list, "a part's name, size or digest cannot be one"));
    parts.push_back(
        {list.parent_path() / path_of(name), static_cast<std::uint64_t>(size), entry["sha256"].as_string()});
  }
  if (parts.empty()) return fail(not_a_list(list, "it lists no part"));
  return parts;
}

fs::path parts_list_of(const fs::path& file) {
  fs::path list = file;
  list += ".parts";
  return list;
}

std::vector<fs::path> parts_beside(const fs::path& file) {
  std::vector<fs::path> found;
  const auto parts = listed_parts(parts_list_of(file));
  if (!parts) return found;
  const std::string begin = path_text(file.filename()) + ".";
  for (const ListedPart& part : *parts) {
    const std::string name = path_text(part.file.filename());
    const bool numbered = name.starts_with(begin) && name.size() > begin.size() &&
                          name.find_first_not_of("0123456789", begin.size()) == std::string::npos;
    std::error_code error;
    if (numbered && fs::symlink_status(part.file, error).type() == fs::file_type::regular &&
        fs::file_size(part.file, error) == part.size)
      found.push_back(part.file);
  }
  return found;
}

}  // namespace enginehost::offline
