// The table of valid and invalid documents, and changes to JSON values.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::manifest {

inline const Json& documents() {
  static const Json table = [] {
    const auto text = read_file(test::source_path("/tests/manifest/documents.json"));
    return text ? parse_json(*text, "documents.json").value_or(Json()) : Json();
  }();
  return table;
}

// The value with the member at a JSON pointer set, or removed when there is no value.
inline Json changed(const Json& value, std::string_view pointer, const Json* with) {
  if (pointer.empty()) return *with;
  const std::size_t end = pointer.find('/', 1);
  std::string name(pointer.substr(1, end == std::string_view::npos ? end : end - 1));
  if (const std::size_t slash = name.find("~1"); slash != std::string::npos) name.replace(slash, 2, "/");
  const std::string_view rest = end == std::string_view::npos ? "" : pointer.substr(end);
  if (value.is_array()) {
    Json::Array elements = value.as_array();
    const auto index = static_cast<std::size_t>(parse_integer(name).value_or(0));
    if (index >= elements.size()) elements.resize(index + 1);
    elements[index] = changed(elements[index], rest, with);
    return elements;
  }
  Json::Object members;
  bool found = false;
  for (const auto& [key, member] : value.as_object()) {
    found = found || key == name;
    if (key != name)
      members.emplace_back(key, member);
    else if (!rest.empty() || with != nullptr)
      members.emplace_back(key, changed(member, rest, with));
  }
  if (!found && with != nullptr) members.emplace_back(name, changed(Json(), rest, with));
  return members;
}

inline Json changed(const Json& value, std::string_view pointer, const Json& with) {
  return changed(value, pointer, &with);
}

struct DocumentCase {
  std::string base;
  Json description;
  friend void PrintTo(const DocumentCase& one, std::ostream* out) {
    *out << one.description["name"].as_string();
  }
};

inline std::vector<DocumentCase> cases_of(const std::string& base) {
  std::vector<DocumentCase> cases;
  for (const Json& one : documents()[base + "_cases"].as_array()) cases.push_back({base, one});
  return cases;
}

}  // namespace enginehost::manifest
