#include "host/offline/parts.hpp"

#include <charconv>
#include <map>
#include <system_error>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"

namespace enginehost::offline {
namespace {

namespace fs = std::filesystem;

Diagnosis not_a_list(const fs::path& list, std::string_view problem) {
  return std::move(diagnose(Code::bundle_damaged)
                       .with(Key::file, path_text(list))
                       .with(Key::problem, problem)
                       .with(Key::entry, "list of parts"));
}

// Returns 2 for ".002"; 0 for endings that are not a part's.
unsigned number_of(std::string_view ending) {
  unsigned number = 0;
  if (ending.size() < 4 || ending.front() != '.') return 0;
  const auto [end, error] = std::from_chars(ending.data() + 1, ending.data() + ending.size(), number);
  return error == std::errc() && end == ending.data() + ending.size() ? number : 0;
}

std::map<unsigned, std::string> parts_of(const fs::path& bundle) {
  std::map<unsigned, std::string> parts;
  const std::string name = path_text(bundle.filename());
  std::error_code error;
  const fs::path folder = bundle.has_parent_path() ? bundle.parent_path() : fs::path(".");
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const std::string entry = path_text(at->path().filename());
    if (!entry.starts_with(name)) continue;
    if (const unsigned number = number_of(std::string_view(entry).substr(name.size())))
      parts.emplace(number, entry);
  }
  return parts;
}

// Returns "x.001 to x.004, without x.003" for 1, 2 and 4.
std::string range_text(const fs::path& bundle, const std::map<unsigned, std::string>& parts) {
  std::string text = parts.begin()->second;
  if (parts.size() > 1) text += " to " + parts.rbegin()->second;
  std::string gaps;
  int named = 0;
  for (unsigned number = 1; number < parts.rbegin()->first && named < 5; ++number) {
    if (parts.contains(number)) continue;
    const std::string digits = std::to_string(number);
    gaps += (gaps.empty() ? ", without " : ", ") + path_text(bundle.filename()) + "." +
            std::string(digits.size() < 3 ? 3 - digits.size() : 0, '0') + digits;
    ++named;
  }
  return text + gaps + (named == 5 ? ", …" : "");
}

}  // namespace

Result<std::vector<ListedPart>> listed_parts(const fs::path& list) {
  TRY_ASSIGN(const std::string text, read_file(list, 1u << 20, Code::given_file_not_readable));
  const auto document = parse_json(text, path_text(list));
  if (!document) return fail(not_a_list(list, "it is not a JSON document"));
  if ((*document)["kind"].as_string() != "enginehost-bundle-parts")
    return fail(not_a_list(list, "it is no list of parts"));
  if (const std::int64_t format = (*document)["format"].as_integer(); format != 1)
    return fail(diagnose(Code::format_too_new)
                    .with(Key::document, path_text(list))
                    .with(Key::found, std::to_string(format))
                    .with(Key::supported, "1"));
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

fs::path list_of_part(const fs::path& file) {
  if (number_of(path_text(file.extension())) == 0) return {};
  fs::path bundle = file;
  const fs::path list = parts_list_of(bundle.replace_extension());
  std::error_code error;
  return fs::exists(list, error) ? list : fs::path();
}

std::optional<Diagnosis> parts_without_list(const fs::path& file, bool damaged) {
  std::error_code error;
  fs::path bundle = file;
  if (number_of(path_text(file.extension())) != 0)
    bundle.replace_extension();
  else if (fs::exists(file, error))
    return {};
  const fs::path list = parts_list_of(bundle);
  if (fs::exists(list, error)) return {};
  const auto parts = parts_of(bundle);
  const bool named_one = bundle != file;
  if (parts.empty() || (named_one && !fs::exists(file, error))) return {};
  if (named_one && parts.size() == 1 && !damaged) return {};
  return diagnose(Code::bundle_part_missing)
      .with(Key::part, path_text(list))
      .with(Key::parts_found, range_text(bundle, parts), path_text(list.parent_path()))
      .with(Key::bundle, path_text(bundle));
}

}  // namespace enginehost::offline
