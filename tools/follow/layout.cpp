#include "tools/follow/layout.hpp"

#include <algorithm>
#include <set>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/acquire/description.hpp"
#include "tools/publish/names.hpp"
#include "tools/publish/partial_downloads.hpp"

namespace enginehost::follow {
namespace {

constexpr const char* change_layout =
    "compare the wheel with the layout of the plan, and change the layout if the release is right";

Diagnosis unknown_layout(const Wheel& wheel, const std::string& problem) {
  const PublishedFile& file = wheel.published;
  return not_as_planned(file.project, file.version, file.file, problem, change_layout);
}

std::string_view name_in(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view folder_in(std::string_view path) {
  return path.substr(0, path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/'));
}

// A pattern without "/" is compared with the file's name.
bool is_one_of(std::string_view path, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    return matches_pattern(pattern.find('/') == std::string::npos ? name_in(path) : path, pattern);
  });
}

// "libx.so", "libx.so.1.2", "x.dll", "libx.1.dylib"
bool is_library_name(std::string_view name) {
  if (name.ends_with(".dll") || name.ends_with(".dylib") || name.ends_with(".so")) return true;
  const std::size_t at = name.rfind(".so.");
  return at != std::string_view::npos &&
         name.substr(at + 4).find_first_not_of("0123456789.") == std::string_view::npos;
}

Result<void> check_libraries(const Wheel& wheel, const Layout& layout,
                             const std::vector<cache::TreeEntry>& files) {
  std::set<std::string_view> folders, taken;
  for (const cache::TreeEntry& file : files) {
    taken.insert(file.path);
    if (is_library_name(name_in(file.path))) folders.insert(folder_in(file.path));
  }
  for (const std::string& library : layout.libraries)
    if (std::ranges::none_of(files,
                             [&](const cache::TreeEntry& file) { return is_one_of(file.path, {library}); }))
      return fail(unknown_layout(wheel, library + " is not among the selected files"));
  for (const auto& [path, member] : wheel.members)
    if (is_library_name(name_in(path)) && folders.contains(folder_in(path)) && !taken.contains(path) &&
        !is_one_of(path, layout.ignored))
      return fail(unknown_layout(
          wheel, "the library " + path + " is new: the layout neither selects nor ignores it"));
  return {};
}

}  // namespace

std::string filled(std::string_view text, const Variables& variables) {
  const std::string& cuda = variables.cuda;
  const std::string major = cuda.substr(0, cuda.find('.'));
  const std::string minor = minor_release_of(variables.version);
  std::string digits;
  std::ranges::copy_if(cuda, std::back_inserter(digits), [](char c) { return c != '.'; });
  const std::pair<std::string_view, const std::string*> known[] = {{"{version}", &variables.version},
                                                                   {"{minor}", &minor},
                                                                   {"{cuda}", &cuda},
                                                                   {"{cuda_digits}", &digits},
                                                                   {"{cuda_major}", &major}};
  std::string result;
  while (!text.empty()) {
    const auto one =
        std::ranges::find_if(known, [&](const auto& each) { return text.starts_with(each.first); });
    if (one != std::end(known)) {
      result += *one->second;
      text.remove_prefix(one->first.size());
    } else {
      result += text.front();
      text.remove_prefix(1);
    }
  }
  return result;
}

Json filled_value(const Json& value, const Variables& variables) {
  if (value.is_string()) return filled(value.as_string(), variables);
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& one : value.as_array()) list.push(filled_value(one, variables));
    return list;
  }
  if (!value.is_object()) return value;
  Json object = Json::object();
  for (const auto& [name, member] : value.as_object()) object.set(name, filled_value(member, variables));
  return object;
}

Layout filled(const Layout& layout, const Variables& variables) {
  Layout result = layout;
  for (std::string* text :
       {&result.project, &result.wheel, &result.component, &result.license, &result.license_file})
    *text = filled(*text, variables);
  for (auto* list : {&result.select, &result.optional, &result.libraries, &result.ignored})
    for (std::string& text : *list) text = filled(text, variables);
  return result;
}

Result<manifest::Artifact> choose_files(const Wheel& wheel, const Layout& layout) {
  manifest::Artifact artifact;
  artifact.sha256 = wheel.published.sha256;
  artifact.size = wheel.size;
  artifact.archive = "zip";
  artifact.select = layout.select;
  manifest::Source source;
  source.kind = manifest::Source::Kind::package_index;
  source.project = wheel.published.project;
  source.file = wheel.published.file;
  artifact.sources.push_back(std::move(source));
  cache::TreeList list;
  for (const auto& one : wheel.members) {
    const std::string& path = one.first;
    const Member& member = one.second;
    if (!layout.select.empty() && std::ranges::none_of(layout.select, [&](const auto& pattern) {
          return matches_pattern(path, pattern);
        }))
      continue;
    if (member.link) return fail(unknown_layout(wheel, path + " is selected, and it is a link"));
    if (member.sha256.empty())
      return fail(
          unknown_layout(wheel, path + " is selected, and RECORD does not state its size and SHA-256"));
    using Kind = cache::TreeEntry::Kind;
    list.entries.push_back(
        {member.executable ? Kind::executable : Kind::file, member.size, path, member.sha256});
  }
  if (list.entries.empty())
    return fail(
        unknown_layout(wheel, "no file matches the layout's \"select\": " + join(layout.select, " ")));
  std::vector<std::string> paths;
  for (const cache::TreeEntry& entry : list.entries) paths.push_back(entry.path);
  if (!publish::names_fit(paths, 0))
    return fail(
        unknown_layout(wheel, std::to_string(paths.size()) +
                                  " files are selected: a manifest cannot name them, or not all of them"));
  TRY(check_libraries(wheel, layout, list.entries));
  artifact.tree = list.id();
  auto ranges = publish::ranges_to_fetch(wheel.directory(), artifact, list.entries);
  if (!ranges)
    return fail(
        unknown_layout(wheel, "its directory is wrong: " + std::string(ranges.error().value(Key::problem))));
  artifact.ranges = std::move(*ranges);
  artifact.files = std::move(list.entries);
  return artifact;
}

Result<void> check_license(WheelReader& reader, const Wheel& wheel, const Layout& layout,
                           const Json& licenses) {
  const Json* license = licenses.find(layout.license);
  if (license == nullptr)
    return fail(unknown_layout(wheel, "the plan has no license \"" + layout.license + "\""));
  const std::string& expected = (*license)["sha256"].as_string();
  if (expected.empty() || layout.license_file.empty()) return {};
  std::string actual, path;
  for (const auto& [one, member] : wheel.members) {
    if (!matches_pattern(one, layout.license_file)) continue;
    path = one;
    TRY_ASSIGN(const std::string text, reader.text_of(wheel, one));
    actual = sha256_hex(text);
    if (actual == expected) return {};
  }
  if (path.empty()) return fail(unknown_layout(wheel, "it has no license file " + layout.license_file));
  Diagnosis changed =
      not_as_planned(wheel.published.project, wheel.published.version, wheel.published.file,
                     "the text of its license is not the one that the plan names",
                     "read " + path +
                         " of the wheel; if it may be published under these terms, give the plan a license "
                         "with its SHA-256, and the layout that license");
  changed.with(Key::license, layout.license).with(Key::license_file, path);
  return fail(std::move(
      changed.with(Key::expected, expected, "plan").with(Key::actual, actual, wheel.published.file)));
}

Json component_of(const manifest::Artifact& artifact, const Layout& layout, const std::string& version) {
  const manifest::Source& source = artifact.sources.front();
  Json one = Json::object();
  one.set("sha256", artifact.sha256).set("size", *artifact.size).set("archive", artifact.archive);
  if (!artifact.select.empty()) one.set("select", Json::strings(artifact.select));
  one.set("sources",
          Json::array().push(Json::object().set(
              "package_index", Json::object().set("project", source.project).set("file", source.file))));
  one.set("tree", artifact.tree).set("files", acquire::named_files(artifact.files));
  if (!artifact.ranges.empty()) one.set("ranges", acquire::named_ranges(artifact.ranges));
  Json component = Json::object().set("version", version).set("license", layout.license);
  if (!layout.optional.empty()) component.set("optional", Json::strings(layout.optional));
  component.set("artifacts", Json::array().push(std::move(one)));
  return component;
}

}  // namespace enginehost::follow
