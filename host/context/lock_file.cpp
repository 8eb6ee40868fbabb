#include "host/context/lock_file.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/json_place.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"

namespace enginehost::open {
namespace {

constexpr std::uint64_t largest_lock = 8u << 20;
constexpr std::int64_t lock_format = 1;

// Reads the members of a lock, and keeps the first mistake.
class LockReader {
 public:
  LockReader(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  void refuse(const std::string& member, std::string_view problem, std::string_view nearest = {}) {
    if (!mistake) mistake = mistake_at(place_of_member(text_, member), problem);
    if (mistake->value("member").empty()) mistake->with("member", member.empty() ? "the lock" : member);
    if (!nearest.empty() && mistake->value("nearest").empty()) mistake->with("nearest", nearest);
  }
  Diagnosis mistake_at(TextPlace place, std::string_view problem) const {
    return std::move(diagnose("EH-S44")
                         .with("lock", file_)
                         .with("line", std::to_string(place.line))
                         .with("column", std::to_string(place.column))
                         .with("problem", problem));
  }

  // Members that are not known stay, unless one looks like a known one that is missing.
  void check_names(const Json& object, const std::string& place, const std::vector<std::string>& known) {
    std::vector<std::string> missing;
    std::ranges::copy_if(known, std::back_inserter(missing),
                         [&](const std::string& name) { return object.find(name) == nullptr; });
    for (const auto& [name, value] : object.as_object())
      if (std::ranges::find(known, name) == known.end())
        if (const auto meant = nearest(name, missing, 2))
          refuse(inside(place, name), "there is no such member", *meant);
  }
  const Json& member(const Json& object, const std::string& place, const std::string& name,
                     bool (Json::*is_kind)() const, std::string_view wanted, bool required = true) {
    static const Json none;
    const Json* const value = object.find(name);
    if (value == nullptr && !required) return none;
    if (value == nullptr) refuse(inside(place, name), "it is missing");
    if (value == nullptr || (value->*is_kind)()) return value != nullptr ? *value : none;
    refuse(inside(place, name),
           std::string("it is ") + value->type_name() + ", and " + std::string(wanted) + " is needed");
    return none;
  }
  std::string text(const Json& object, const std::string& place, const std::string& name,
                   bool required = true) {
    const std::string& value = member(object, place, name, &Json::is_string, "a text", required).as_string();
    if (required && value.empty()) refuse(inside(place, name), "it is empty");
    return value;
  }
  // Calls take(element, place) for each object of a list.
  template <class Take>
  void each(const Json& object, const std::string& place, const std::string& name, bool required,
            const Take& take) {
    std::size_t number = 0;
    for (const Json& element : member(object, place, name, &Json::is_array, "a list", required).as_array()) {
      const std::string at = inside(place, name) + "[" + std::to_string(number++) + "]";
      if (!element.is_object())
        refuse(at, std::string("it is ") + element.type_name() + ", and an object is needed");
      take(element, at);
    }
  }

  std::optional<Diagnosis> mistake;

 private:
  static std::string inside(const std::string& place, const std::string& name) {
    return place.empty() ? name : place + "." + name;
  }

  std::string_view text_;
  const std::string file_;
};

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

LockedComponent component_from(LockReader& reader, const Json& object, const std::string& place) {
  reader.check_names(object, place, known().of_component);
  LockedComponent component{reader.text(object, place, "component"), {}, {}};
  reader.each(object, place, "files", false, [&](const Json& archive, const std::string& at) {
    reader.check_names(archive, at, known().of_archive);
    LockedComponent::Archive read{reader.text(archive, at, "sha256"), {}};
    if (!reader.mistake && !is_sha256_hex(read.sha256))
      reader.refuse(at + ".sha256", "it is no SHA-256 of 64 digits from 0 to 9 and a to f");
    const Json& size = reader.member(archive, at, "size", &Json::is_integer, "a whole number", false);
    if (size.is_integer()) read.size = static_cast<std::uint64_t>(size.as_integer());
    component.archives.push_back(std::move(read));
  });
  component.version = reader.text(object, place, "version", component.archives.empty());
  component.cxx11_abi = reader.text(object, place, "cxx11_abi", false);
  return component;
}

LockedBuild entry_from(LockReader& reader, const Json& object, const std::string& place) {
  reader.check_names(object, place, known().of_entry);
  LockedBuild entry;
  entry.platform = reader.text(object, place, "platform");
  entry.engine = reader.text(object, place, "engine");
  entry.build = reader.text(object, place, "build");
  entry.version = reader.text(object, place, "version");
  entry.flavor = reader.text(object, place, "flavor");
  reader.each(object, place, "components", true, [&](const Json& component, const std::string& at) {
    entry.components.push_back(component_from(reader, component, at));
  });
  return entry;
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
  TRY_ASSIGN(const std::string text, read_file(file, largest_lock, "EH-P47"));
  LockFile lock;
  LockReader reader(text, path_text(file));
  auto document = parse_json(text, path_text(file));
  if (!document) {
    std::string_view problem = document.error().value("problem");
    // It counts columns in another way.
    if (const std::size_t end = problem.find(": ");
        problem.starts_with("parse error at ") && end != problem.npos)
      problem.remove_prefix(end + 2);
    return fail(reader.mistake_at(place_of_mistake(text, document.error()), problem));
  }
  lock.document = std::move(*document);
  const Json& whole = lock.document;
  if (!whole.is_object())
    reader.refuse("", std::string("it is ") + whole.type_name() + ", and an object is needed");
  reader.check_names(whole, "", known().of_lock);
  const Json& format = reader.member(whole, "", "format", &Json::is_integer, "a whole number");
  if (!reader.mistake && format.as_integer() > lock_format)
    return fail(diagnose("EH-S43")
                    .with("lock", path_text(file))
                    .with("found", format.dump())
                    .with("supported", std::to_string(lock_format)));
  if (!reader.mistake && format.as_integer() != lock_format) reader.refuse("format", "it is not 1");
  std::size_t number = 0;
  for (const Json& name : reader.member(whole, "", "critical", &Json::is_array, "a list", false).as_array()) {
    const std::string place = "critical[" + std::to_string(number++) + "]";
    if (!name.is_string())
      reader.refuse(place, std::string("it is ") + name.type_name() + ", and a text is needed");
    else if (!reader.mistake && !known().have(name.as_string()))
      return fail(diagnose("EH-S43").with("lock", path_text(file)).with("member", name.as_string()));
  }
  reader.each(whole, "", "engines", true, [&](const Json& entry, const std::string& place) {
    LockedBuild read = entry_from(reader, entry, place);
    for (std::size_t i = 0; i < lock.builds.size(); ++i)
      if (is_same_build(lock.builds[i], read))
        reader.refuse(place + ".build", "engines[" + std::to_string(i) + "] locks it already");
    lock.builds.push_back(std::move(read));
  });
  if (reader.mistake) return fail(std::move(*reader.mistake));
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
