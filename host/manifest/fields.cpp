#include "host/manifest/fields.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace enginehost::manifest {
namespace {

std::string in_quotes(std::string_view text) {
  // Keeps a hostile document from filling the screen.
  return "\"" + std::string(text.substr(0, 100)) + (text.size() > 100 ? "…\"" : "\"");
}

}  // namespace

void Reading::refuse(std::string_view member, std::string_view problem) {
  if (!mistake)
    mistake = diagnose(Code::member_wrong)
                  .with(Key::document, document)
                  .with(Key::member, member)
                  .with(Key::problem, problem);
}

Fields::Fields(Reading& reading, const Json& object, std::string place)
    : reading_(reading), object_(object), place_(std::move(place)), usable_(object.is_object()) {
  if (!usable_)
    reading_.refuse(place_.empty() ? "(document)" : place_,
                    std::string("expected an object, found ") + object.type_name());
}

std::string Fields::place_of(std::string_view name) const {
  return place_.empty() ? std::string(name) : place_ + "." + std::string(name);
}

const Json* Fields::find(std::string_view name, Need need) {
  known_.push_back(name);
  const Json* value = object_.find(name);
  if (value == nullptr && need == Need::required && usable_) reading_.refuse(place_of(name), "it is missing");
  return value != nullptr && value->is_null() && need == Need::nullable ? nullptr : value;
}

const Json* Fields::typed(std::string_view name, Need need, bool (Json::*is_type)() const,
                          std::string_view wanted) {
  const Json* value = find(name, need);
  if (value == nullptr || (value->*is_type)()) return value;
  reading_.refuse(place_of(name), "expected " + std::string(wanted) + ", found " + value->type_name());
  return nullptr;
}

const Json* Fields::array(std::string_view name, Need need) {
  return typed(name, need, &Json::is_array, "an array");
}
const Json* Fields::object(std::string_view name, Need need) {
  return typed(name, need, &Json::is_object, "an object");
}

void Fields::text(std::string_view name, Need need, Shape shape, std::string& target) {
  const Json* value = typed(name, need, &Json::is_string, "a string");
  if (value == nullptr) return;
  if (!shape(value->as_string()))
    return reading_.refuse(place_of(name),
                           in_quotes(value->as_string()) + " is not " + std::string(describe(shape)));
  target = value->as_string();
}

void Fields::texts(std::string_view name, Need need, Shape shape, std::vector<std::string>& target) {
  const Json* value = array(name, need);
  if (value == nullptr) return;
  if (!few(name, value->as_array().size())) return;
  target.reserve(value->as_array().size());
  for (const Json& element : value->as_array()) {
    if (element.is_string() && shape(element.as_string())) {
      target.push_back(element.as_string());
      continue;
    }
    const std::string place = place_of(name) + "[" + std::to_string(target.size()) + "]";
    if (!element.is_string())
      return reading_.refuse(place, std::string("expected a string, found ") + element.type_name());
    return reading_.refuse(place, in_quotes(element.as_string()) + " is not " + std::string(describe(shape)));
  }
}

bool Fields::few(std::string_view name, std::size_t count, std::size_t most) {
  if (count <= most) return true;
  reading_.refuse(place_of(name), "it has " + std::to_string(count) + " entries, and at most " +
                                      std::to_string(most) + " are read");
  return false;
}

void Fields::patterns(std::string_view name, std::vector<std::string>& target) {
  constexpr std::size_t most_characters = 4096;
  texts(name, Need::optional, is_view_path, target);
  std::size_t characters = 0;
  for (const std::string& pattern : target) characters += pattern.size();
  if (characters > most_characters)
    reading_.refuse(place_of(name), "its patterns have " + std::to_string(characters) +
                                        " characters together, and at most " +
                                        std::to_string(most_characters) + " are read");
}

void Fields::number(std::string_view name, Need need, std::int64_t least, std::int64_t most,
                    std::int64_t& target) {
  const Json* value = typed(name, need, &Json::is_integer, "an integer");
  if (value == nullptr) return;
  if (value->as_integer() < least || value->as_integer() > most)
    return reading_.refuse(place_of(name), value->dump() + " is not between " + std::to_string(least) +
                                               " and " + std::to_string(most));
  target = value->as_integer();
}

void Fields::size(std::string_view name, Need need, std::optional<std::uint64_t>& target,
                  std::int64_t least) {
  std::int64_t value = -1;
  number(name, need, least, std::int64_t{1} << 50, value);
  if (value >= 0) target = static_cast<std::uint64_t>(value);
}

void Fields::flag(std::string_view name, bool& target) {
  const Json* value = typed(name, Need::optional, &Json::is_bool, "true or false");
  if (value != nullptr) target = value->as_bool();
}

std::vector<std::string> Fields::unknown() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object_.as_object())
    if (std::find(known_.begin(), known_.end(), name) == known_.end()) names.push_back(name);
  return names;
}

namespace {
constexpr std::size_t most_warnings = 20;
}

std::vector<std::string> Fields::warn_of_unknown() {
  std::vector<std::string> names = unknown();
  for (const std::string& name : names) {
    // One document must not fill the screen, nor cost minutes of looking for similar names.
    if (reading_.warnings.size() > most_warnings) break;
    if (reading_.warnings.size() == most_warnings) {
      reading_.warnings.push_back(reading_.document + ": further unknown fields are not listed");
      break;
    }
    std::string warning = reading_.document + ": " + place_of(name) + " is not a known field";
    const std::vector<std::string> known(known_.begin(), known_.end());
    if (const auto meant = nearest(name, known)) warning += "; did you mean \"" + *meant + "\"?";
    reading_.warnings.push_back(std::move(warning));
  }
  return names;
}

Result<void> check_version(const Json& document, const std::string& name) {
  if (const Json& format = document["format"]; format.is_integer() && format.as_integer() != 1)
    return fail(diagnose(Code::format_too_new)
                    .with(Key::document, name)
                    .with(Key::found, format.dump())
                    .with(Key::supported, "1"));
  // Every field of manifests and indexes; "requires.cuda" counts by its last part.
  static const auto& known = *new std::set<std::string_view>{
      "$schema",    "accept",        "arch",         "archive",    "artifacts",     "blocked",
      "builds",     "capabilities",  "chunks",       "component",  "components",    "cpu",
      "created",    "critical",      "cuda",         "cxxabi",     "device_memory", "digest",
      "driver",     "engine",        "expires",      "file",       "flavor",        "format",
      "gfx",        "glibc",         "glibcxx",      "id",         "lazy",          "libc",
      "libraries",  "license",       "licenses",     "manifests",  "memory",        "metal",
      "name",       "not_built",     "oci",          "optional",   "options",       "os",
      "os_version", "package_index", "path",         "plugin",     "priority",      "probe_seconds",
      "project",    "ptx",           "public",       "reason",     "redistribute",  "requires",
      "revoked",    "roles",         "keys",         "thresholds", "root",          "index",
      "rocm",       "sass",          "search",       "select",     "serial",        "sha256",
      "size",       "sources",       "strip",        "text",       "toolkit",       "tree",
      "url",        "vcruntime",     "vendor_facts", "version",    "yanked"};
  for (const Json& field : document["critical"].as_array()) {
    const std::string_view text = field.as_string();
    if (!known.contains(text.substr(text.rfind('.') + 1)))
      return fail(diagnose(Code::critical_member_unknown).with(Key::document, name).with(Key::member, text));
  }
  return {};
}

Result<std::vector<std::string>> read_document(const Json& document, const std::string& name,
                                               const std::function<void(Reading&, Fields&)>& read) {
  TRY(check_version(document, name));
  Reading reading{name, {}, {}};
  Fields fields(reading, document, "");
  fields.find("$schema", Need::optional);
  std::int64_t format = 0;
  fields.number("format", Need::required, 1, 1, format);
  std::vector<std::string> critical;
  fields.texts("critical", Need::optional, is_text, critical);
  read(reading, fields);
  fields.warn_of_unknown();
  if (reading.mistake) return fail(std::move(*reading.mistake));
  return std::move(reading.warnings);
}

}  // namespace enginehost::manifest
