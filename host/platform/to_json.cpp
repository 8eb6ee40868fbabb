#include "host/platform/anonymous.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {
namespace {

Json json_of(const std::string& value) { return value; }
Json json_of(bool value) { return value; }
Json json_of(int value) { return value; }
Json json_of(std::uint64_t value) { return value; }
Json json_of(const Variables& value) {
  Json object = Json::object();
  for (const auto& [name, text] : value) object.set(name, text);
  return object;
}
template <class Value>
Json json_of(const Fact<Value>& fact);
template <class Element>
Json json_of(const std::vector<Element>& list);

template <class Value>
Json json_of(const Value& value) {
  Json object = Json::object();
  Value::for_each_member(value, [&](const char* name, const auto& member) {
    // An anonymous report has no UUIDs.
    if (Json json = json_of(member); name != std::string_view("uuid") || !json.as_string().empty())
      object.set(name, std::move(json));
  });
  return object;
}
template <class Element>
Json json_of(const std::vector<Element>& list) {
  Json array = Json::array();
  for (const Element& element : list) array.push(json_of(element));
  return array;
}
template <class Value>
Json json_of(const Fact<Value>& fact) {
  if (fact.is_known()) return Json::object().set("value", json_of(fact.value())).set("source", fact.source());
  if (fact.is_absent()) return Json::object().set("absent", true).set("source", fact.source());
  return Json::object().set("unknown", true).set("why", fact.why());
}

}  // namespace

Json to_json(const Platform& platform, bool for_others) {
  const Json document = json_of(platform);
  return for_others ? anonymous(document, this_user()) : document;
}

}  // namespace enginehost::platform
