#include <limits>

#include "host/platform/fact_list.hpp"

namespace enginehost::platform {
namespace {

// Reads members of one value and remembers the first mistake, so that each member takes callers one line.
class PlatformReader {
 public:
  explicit PlatformReader(std::string_view name) : name_(name) {}
  bool failed() const { return failed_; }
  Diagnosis diagnosis() const {
    return diagnose("EH-M02").with("document", name_).with("member", member_).with("problem", problem_);
  }

  void refuse(const std::string& member, std::string problem) {
    if (failed_) return;
    failed_ = true;
    member_ = member;
    problem_ = std::move(problem);
  }

  // Missing members keep their default, because an older program's report may lack them.
  void read(const Json& object, const std::string& at, const char* member, std::string& into) {
    if (const Json* found = expect(object, at, member, &Json::is_string, "a text")) into = found->as_string();
  }
  void read(const Json& object, const std::string& at, const char* member, bool& into) {
    if (const Json* found = expect(object, at, member, &Json::is_bool, "true or false"))
      into = found->as_bool();
  }
  template <class Integer>
  void read(const Json& object, const std::string& at, const char* member, Integer& into) {
    const Json* found = expect(object, at, member, &Json::is_integer, "a whole number");
    if (found == nullptr) return;
    const std::int64_t number = found->as_integer();
    if (number < 0 || static_cast<std::uint64_t>(number) > std::numeric_limits<Integer>::max())
      return refuse(at + "." + member, std::to_string(number) + " is out of range");
    into = static_cast<Integer>(number);
  }
  void read(const Json& object, const std::string& at, const char* member, std::vector<std::string>& into) {
    const Json* found = expect(object, at, member, &Json::is_array, "a list");
    if (found == nullptr) return;
    for (const Json& element : found->as_array()) {
      if (!element.is_string()) return refuse(at + "." + member, wrong_type("a text", element));
      into.push_back(element.as_string());
    }
  }

  static std::string wrong_type(const char* wanted, const Json& found) {
    return std::string("expected ") + wanted + ", found " + found.type_name();
  }

 private:
  const Json* expect(const Json& object, const std::string& at, const char* member, bool (Json::*is)() const,
                     const char* wanted) {
    const Json* found = object.find(member);
    if (found == nullptr || (found->*is)()) return found;
    refuse(at + "." + member, wrong_type(wanted, *found));
    return nullptr;
  }

  std::string name_, member_, problem_;
  bool failed_ = false;
};

template <class Value>
bool is_object(PlatformReader& reader, const Json& json, const std::string& at, const Value&) {
  if (!json.is_object()) reader.refuse(at, PlatformReader::wrong_type("an object", json));
  return json.is_object();
}

void read_value(PlatformReader& reader, const Json& json, const std::string& at, std::string& value) {
  if (!json.is_string()) return reader.refuse(at, PlatformReader::wrong_type("a text", json));
  value = json.as_string();
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Distribution& value) {
  reader.read(json, at, "id", value.id);
  reader.read(json, at, "name", value.name);
  reader.read(json, at, "version", value.version);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Libc& value) {
  reader.read(json, at, "name", value.name);
  reader.read(json, at, "version", value.version);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Libstdcxx& value) {
  reader.read(json, at, "path", value.path);
  reader.read(json, at, "glibcxx", value.glibcxx);
  reader.read(json, at, "cxxabi", value.cxxabi);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Cpu& value) {
  reader.read(json, at, "model", value.model);
  reader.read(json, at, "level", value.level);
  reader.read(json, at, "features", value.features);
  reader.read(json, at, "cores", value.cores);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Memory& value) {
  reader.read(json, at, "total", value.total);
  reader.read(json, at, "available", value.available);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Disk& value) {
  reader.read(json, at, "folder", value.folder);
  reader.read(json, at, "total", value.total);
  reader.read(json, at, "free", value.free);
  reader.read(json, at, "noexec", value.noexec);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, CudaDevice& value) {
  reader.read(json, at, "index", value.index);
  reader.read(json, at, "name", value.name);
  reader.read(json, at, "compute_capability", value.compute_capability);
  reader.read(json, at, "uuid", value.uuid);
  reader.read(json, at, "memory", value.memory);
  reader.read(json, at, "visible", value.visible);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Installed& value) {
  reader.read(json, at, "version", value.version);
  reader.read(json, at, "path", value.path);
  reader.read(json, at, "note", value.note);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Rocm& value) {
  reader.read(json, at, "version", value.version);
  reader.read(json, at, "gfx", value.gfx);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Metal& value) {
  reader.read(json, at, "device", value.device);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Conda& value) {
  reader.read(json, at, "prefix", value.prefix);
  reader.read(json, at, "name", value.name);
}
void read_members(PlatformReader& reader, const Json& json, const std::string& at, Variables& value) {
  for (const auto& [name, text] : json.as_object()) {
    if (!text.is_string()) return reader.refuse(at + "." + name, PlatformReader::wrong_type("a text", text));
    value.emplace_back(name, text.as_string());
  }
}
template <class Value>
void read_value(PlatformReader& reader, const Json& json, const std::string& at, Value& value) {
  if (is_object(reader, json, at, value)) read_members(reader, json, at, value);
}
template <class Element>
void read_value(PlatformReader& reader, const Json& json, const std::string& at,
                std::vector<Element>& value) {
  if (!json.is_array()) return reader.refuse(at, PlatformReader::wrong_type("a list", json));
  for (std::size_t i = 0; i < json.as_array().size(); ++i)
    read_value(reader, json.as_array()[i], at + "[" + std::to_string(i) + "]", value.emplace_back());
}
// Without this overload, name and text pairs would be read as a plain list.
void read_value(PlatformReader& reader, const Json& json, const std::string& at, Variables& value) {
  if (is_object(reader, json, at, value)) read_members(reader, json, at, value);
}

template <class Value>
void read_fact(PlatformReader& reader, const Json& parent, const std::string& at, const char* name,
               Fact<Value>& fact) {
  const std::string path = at + "." + name;
  const Json* json = parent.find(name);
  if (json == nullptr || json->is_null()) {
    fact = Fact<Value>::unknown("not in the file");
    return;
  }
  if (!json->is_object()) return reader.refuse(path, PlatformReader::wrong_type("a fact", *json));
  std::string source, why;
  reader.read(*json, path, "source", source);
  reader.read(*json, path, "why", why);
  if (const Json* held = json->find("value")) {
    Value value{};
    read_value(reader, *held, path + ".value", value);
    fact = Fact<Value>::known(std::move(value), std::move(source));
  } else if ((*json)["absent"].as_bool()) {
    fact = Fact<Value>::absent(std::move(source));
  } else if ((*json)["unknown"].as_bool()) {
    fact = Fact<Value>::unknown(std::move(why));
  } else {
    reader.refuse(path, "a fact has \"value\", \"absent\": true or \"unknown\": true");
  }
}

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
  if (!body->is_object()) reader.refuse("platform", PlatformReader::wrong_type("an object", *body));
  // Without this check, any JSON object would be accepted as a machine without known facts.
  if (body->find("os") == nullptr && body->find("cuda") == nullptr && body->find("arch") == nullptr)
    reader.refuse("platform", "none of os, arch and cuda is there: this is no report of a machine");

  Platform platform;
  for_each_fact(
      platform, [&](const char* member, auto& fact) { read_fact(reader, *body, "platform", member, fact); },
      [&](const char* member, Cuda& cuda) {
        const Json& part = (*body)[member];
        if (!part.is_null() && !part.is_object())
          return reader.refuse("platform.cuda", PlatformReader::wrong_type("an object", part));
        for_each_cuda_fact(cuda, [&](const char* inner, auto& fact) {
          read_fact(reader, part, "platform.cuda", inner, fact);
        });
      });
  if (reader.failed()) return fail(reader.diagnosis());
  return platform;
}

}  // namespace enginehost::platform
