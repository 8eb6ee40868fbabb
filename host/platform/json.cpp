#include "host/platform/platform.hpp"

#include <concepts>
#include <limits>

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
  for_each_member(value, [&](const char* name, const auto& member) {
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

namespace {

// Reads values and remembers the first mistake. `at`: the place of the value, "platform.cpu.value".
class PlatformReader {
 public:
  explicit PlatformReader(std::string_view name) : name_(name) {}
  bool failed() const { return failed_; }
  Diagnosis diagnosis() const {
    return diagnose(Code::member_wrong)
        .with(Key::document, name_)
        .with(Key::member, member_)
        .with(Key::problem, problem_);
  }

  void refuse(const std::string& member, std::string problem) {
    if (failed_) return;
    failed_ = true;
    member_ = member;
    problem_ = std::move(problem);
  }
  bool expect(bool is_right, const char* wanted, const Json& json, const std::string& at) {
    if (!is_right) refuse(at, std::string("expected ") + wanted + ", found " + json.type_name());
    return is_right;
  }

  void read(const Json& json, const std::string& at, std::string& value) {
    if (expect(json.is_string(), "a text", json, at)) value = json.as_string();
  }
  void read(const Json& json, const std::string& at, bool& value) {
    if (expect(json.is_bool(), "true or false", json, at)) value = json.as_bool();
  }
  template <std::integral Integer>
  void read(const Json& json, const std::string& at, Integer& value) {
    if (!expect(json.is_integer(), "a whole number", json, at)) return;
    const std::int64_t number = json.as_integer();
    if (number < 0 || static_cast<std::uint64_t>(number) > std::numeric_limits<Integer>::max())
      return refuse(at, std::to_string(number) + " is out of range");
    value = static_cast<Integer>(number);
  }
  void read(const Json& json, const std::string& at, Variables& value) {
    if (!expect(json.is_object(), "an object", json, at)) return;
    for (const auto& [name, text] : json.as_object())
      read(text, at + "." + name, value.emplace_back(name, std::string()).second);
  }
  template <class Element>
  void read(const Json& json, const std::string& at, std::vector<Element>& value) {
    if (!expect(json.is_array(), "a list", json, at)) return;
    for (std::size_t i = 0; i < json.as_array().size(); ++i)
      read(json.as_array()[i], at + "[" + std::to_string(i) + "]", value.emplace_back());
  }
  // Missing members keep their default, because an older program's report may lack them.
  template <class Value>
  void read(const Json& json, const std::string& at, Value& value) {
    if (!expect(json.is_object(), "an object", json, at)) return;
    for_each_member(value, [&](const char* name, auto& member) {
      if (const Json* found = json.find(name)) read(*found, at + "." + name, member);
    });
  }
  template <class Value>
  void read(const Json& json, const std::string& at, Fact<Value>& fact) {
    if (json.is_null()) {
      fact = Fact<Value>::unknown("not in the file");
      return;
    }
    if (!expect(json.is_object(), "a fact", json, at)) return;
    std::string source, why;
    if (const Json* found = json.find("source")) read(*found, at + ".source", source);
    if (const Json* found = json.find("why")) read(*found, at + ".why", why);
    if (const Json* held = json.find("value")) {
      Value value{};
      read(*held, at + ".value", value);
      fact = Fact<Value>::known(std::move(value), std::move(source));
    } else if (json["absent"].as_bool()) {
      fact = Fact<Value>::absent(std::move(source));
    } else if (json["unknown"].as_bool()) {
      fact = Fact<Value>::unknown(std::move(why));
    } else {
      refuse(at, "a fact has \"value\", \"absent\": true or \"unknown\": true");
    }
  }
  void read(const Json& json, const std::string& at, Cuda& cuda) {
    if (json.is_null() || expect(json.is_object(), "an object", json, at)) read_facts(json, at, cuda);
  }
  // Facts that are missing or null become unknown.
  template <class Facts>
  void read_facts(const Json& json, const std::string& at, Facts& facts) {
    for_each_member(facts, [&](const char* name, auto& fact) { read(json[name], at + "." + name, fact); });
  }

 private:
  std::string name_, member_, problem_;
  bool failed_ = false;
};

}  // namespace

Result<Platform> platform_from_json(const Json& document, std::string_view name) {
  PlatformReader reader(name);
  const Json* body = &document;
  if (const Json* inner = document.find("platform")) {
    body = inner;
    const Json* format = document.find("format");
    if (format != nullptr && format->as_integer() != 1)
      reader.refuse("format", "this program reads format 1, not " + format->dump());
  }
  reader.expect(body->is_object(), "an object", *body, "platform");
  // Without this check, any JSON object would be accepted as a machine without known facts.
  if (body->find("os") == nullptr && body->find("cuda") == nullptr && body->find("arch") == nullptr)
    reader.refuse("platform", "none of os, arch and cuda is there: this is no report of a machine");

  Platform platform;
  reader.read_facts(*body, "platform", platform);
  if (reader.failed()) return fail(reader.diagnosis());
  return platform;
}

}  // namespace enginehost::platform
