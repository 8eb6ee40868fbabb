// The document that was compiled in, as a value that tests change.
#pragma once
#include <string>

#include "base/json.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

namespace enginehost::vendor {

inline Json own_document() {
  std::string text;
  for (const std::string_view line : built_in_lines()) text.append(line).append("\n");
  return parse_json(text, "vendor-facts.json").value();
}

// Replaces one member of one row; null removes it.
inline Json with_member(const Json& document, const std::string& list, std::size_t at,
                        const std::string& name, const Json& value) {
  Json rows = Json::array();
  for (const Json& row : document[list].as_array()) {
    Json changed = Json::object();
    for (const auto& [key, old] : row.as_object())
      if (rows.as_array().size() != at || key != name) changed.set(key, old);
    if (rows.as_array().size() == at && !value.is_null()) changed.set(name, value);
    rows.push(std::move(changed));
  }
  return Json(document).set(list, std::move(rows));
}

// Adds a row before the one at that place.
inline Json with_row(const Json& document, const std::string& list, std::size_t at, const Json& row) {
  Json rows = Json::array();
  for (std::size_t i = 0; i <= document[list].as_array().size(); ++i) {
    if (i == at) rows.push(row);
    if (i < document[list].as_array().size()) rows.push(document[list].as_array()[i]);
  }
  return Json(document).set(list, std::move(rows));
}

inline Json without_row(const Json& document, const std::string& list, std::size_t at) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < document[list].as_array().size(); ++i)
    if (i != at) rows.push(document[list].as_array()[i]);
  return Json(document).set(list, std::move(rows));
}

inline Json toolkit(const std::string& version, const std::string& linux_driver,
                    const std::string& windows_driver) {
  return Json::object()
      .set("version", version)
      .set("linux_driver", linux_driver)
      .set("windows_driver", windows_driver);
}

}  // namespace enginehost::vendor
