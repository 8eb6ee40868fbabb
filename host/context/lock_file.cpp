#include "host/context/lock_file.hpp"

#include <algorithm>
#include <utility>

#include "base/files.hpp"
#include "base/json_members.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"

namespace enginehost::open {
namespace {

constexpr std::uint64_t largest_lock = 8u << 20;
constexpr int lock_format = 1;

// The members that this version knows, by their object.
struct Names {
  std::vector<std::string> of_lock{"format", "critical", "engines"};
  std::vector<std::string> of_entry{"platform", "engine", "build", "version", "flavor", "components"};
  std::vector<std::string> of_component{"component", "files", "version", "cxx11_abi"};
  std::vector<std::string> of_archive{"sha256", "size"};

  bool have(const std::string& name) const {
    for (const auto* const names : {&of_lock, &of_entry, &of_component, &of_archive})
      if (std::ranges::find(*names, name) != names->end()) return true;
    return false;
  }
};
const Names& known() {
  static const auto& names = *new Names;
  return names;
}

// A newer EngineHost may have written members that this version does not know.
JsonMembers members_of(JsonText& text, const Json& object, const std::string& place,
                       const std::vector<std::string>& known) {
  return {text, object, place, known, UnknownMembers::kept};
}

LockedComponent component_from(JsonText& text, const Json& object, const std::string& place) {
  JsonMembers members = members_of(text, object, place, known().of_component);
  LockedComponent component;
  members.text("component", component.name);
  members.each("files", false, [&](const Json& archive, const std::string& at) {
    JsonMembers file = members_of(text, archive, at, known().of_archive);
    LockedComponent::Archive read;
    file.text("sha256", read.sha256);
    if (!is_sha256_hex(read.sha256))
      text.refuse(file.place_of("sha256"), "it is no SHA-256 of 64 digits from 0 to 9 and a to f");
    if (const Json* const size = file.whole_number("size", false))
      read.size = static_cast<std::uint64_t>(std::max<std::int64_t>(size->as_integer(), 0));
    component.archives.push_back(std::move(read));
  });
  members.text("version", component.version, component.archives.empty());
  members.text("cxx11_abi", component.cxx11_abi, false);
  return component;
}

LockedBuild entry_from(JsonText& text, const Json& object, const std::string& place) {
  JsonMembers members = members_of(text, object, place, known().of_entry);
  LockedBuild entry;
  members.text("platform", entry.platform);
  members.text("engine", entry.engine);
  members.text("build", entry.build);
  members.text("version", entry.version);
  members.text("flavor", entry.flavor);
  members.each("components", true, [&](const Json& component, const std::string& at) {
    entry.components.push_back(component_from(text, component, at));
  });
  return entry;
}

// Returns EH-S43 for a lock that this version must not read. Asked before anything is called a mistake.
std::optional<Diagnosis> of_newer_version(const Json& lock, const std::string& file) {
  const Json& format = lock["format"];
  if (format.is_integer() && format.as_integer() > lock_format)
    return std::move(diagnose(Code::lock_format_too_new)
                         .with(Key::lock, file)
                         .with(Key::found, format.dump())
                         .with(Key::supported, std::to_string(lock_format)));
  for (const Json& name : lock["critical"].as_array())
    if (name.is_string() && !known().have(name.as_string()))
      return std::move(
          diagnose(Code::lock_format_too_new).with(Key::lock, file).with(Key::member, name.as_string()));
  return std::nullopt;
}

bool is_same_build(const LockedBuild& left, const LockedBuild& right) {
  return left.platform == right.platform && left.engine == right.engine && left.build == right.build;
}

Json document_of(const LockedComponent& component) {
  Json document = Json::object().set("component", component.name);
  if (component.archives.empty()) {
    document.set("version", component.version);
    if (!component.cxx11_abi.empty()) document.set("cxx11_abi", component.cxx11_abi);
    return document;
  }
  Json files = Json::array();
  for (const LockedComponent::Archive& archive : component.archives) {
    Json file = Json::object().set("sha256", archive.sha256);
    if (archive.size) file.set("size", *archive.size);
    files.push(std::move(file));
  }
  return std::move(document.set("files", std::move(files)));
}

// Sets the known members, so that others of the same build stay.
void set_entry(Json& entry, const LockedBuild& build) {
  Json components = Json::array();
  for (const LockedComponent& component : build.components) components.push(document_of(component));
  entry.set("platform", build.platform)
      .set("engine", build.engine)
      .set("build", build.build)
      .set("version", build.version)
      .set("flavor", build.flavor)
      .set("components", std::move(components));
}

}  // namespace

Result<LockFile> read_lock(const std::filesystem::path& file) {
  JsonText text{path_text(file), {}, Code::lock_mistake, "the lock", {}};
  TRY_ASSIGN(text.text, read_file(file, largest_lock, Code::given_file_not_readable));
  auto document = parse_json(text.text, text.file);
  if (!document) return fail(text.unreadable(document.error()));
  LockFile lock;
  lock.document = std::move(*document);
  if (auto newer = of_newer_version(lock.document, text.file)) return fail(std::move(*newer));
  JsonMembers members = members_of(text, lock.document, "", known().of_lock);
  std::vector<std::string> critical;
  members.texts("critical", critical);
  const Json* const format = members.whole_number("format", true);
  if (format != nullptr && format->as_integer() != lock_format) text.refuse("format", "it is not 1");
  members.each("engines", true, [&](const Json& entry, const std::string& place) {
    LockedBuild read = entry_from(text, entry, place);
    for (std::size_t i = 0; i < lock.builds.size(); ++i)
      if (is_same_build(lock.builds[i], read))
        text.refuse(place + ".build", "engines[" + std::to_string(i) + "] locks it already");
    lock.builds.push_back(std::move(read));
  });
  if (text.mistake) return fail(std::move(*text.mistake));
  return lock;
}

std::vector<LockedBuild> replace_entries(LockFile& lock, const std::vector<LockedBuild>& builds) {
  std::vector<LockedBuild> gone, missing = builds;
  Json entries = Json::array();
  for (std::size_t i = 0; i < lock.builds.size(); ++i) {
    const LockedBuild& old = lock.builds[i];
    Json entry = lock.document["engines"].as_array()[i];
    const auto same =
        std::ranges::find_if(builds, [&](const LockedBuild& one) { return is_same_build(one, old); });
    const bool is_named = std::ranges::any_of(builds, [&](const LockedBuild& one) {
      return one.platform == old.platform && one.engine == old.engine;
    });
    if (same == builds.end() && is_named) {
      gone.push_back(old);
      continue;
    }
    if (same != builds.end()) {
      set_entry(entry, *same);
      std::erase_if(missing, [&](const LockedBuild& one) { return is_same_build(one, old); });
    }
    entries.push(std::move(entry));
  }
  for (const LockedBuild& build : missing) {
    Json entry = Json::object();
    set_entry(entry, build);
    entries.push(std::move(entry));
  }
  if (lock.document.find("format") == nullptr) lock.document.set("format", lock_format);
  lock.document.set("engines", std::move(entries));
  return gone;
}

}  // namespace enginehost::open
