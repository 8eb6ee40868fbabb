#include "host/load/wire.hpp"

#include "base/paths.hpp"

namespace enginehost::load {

Json diagnosis_to_wire(const Diagnosis& diagnosis) {
  Json evidence = Json::array();
  for (const Evidence& fact : diagnosis.evidence)
    evidence.push(Json::array().push(fact.name()).push(fact.value).push(fact.source));
  return Json::object().set("code", diagnosis.code_text()).set("evidence", std::move(evidence));
}

Diagnosis diagnosis_from_wire(const Json& wire) {
  Diagnosis diagnosis = diagnosis_named(wire["code"].as_string());
  for (const Json& fact : wire["evidence"].as_array())
    if (const auto& parts = fact.as_array(); parts.size() == 3)
      diagnosis.with_named(parts[0].as_string(), parts[1].as_string(), parts[2].as_string());
  return diagnosis;
}

Json pairs_to_wire(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Json list = Json::array();
  for (const auto& [key, value] : pairs) list.push(Json::array().push(key).push(value));
  return list;
}

std::vector<std::pair<std::string, std::string>> pairs_from_wire(const Json& wire) {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (const Json& pair : wire.as_array())
    if (pair.as_array().size() == 2)
      pairs.emplace_back(pair.as_array()[0].as_string(), pair.as_array()[1].as_string());
  return pairs;
}

Json to_json(const Device& device) {
  return Json::object()
      .set("device", device.text())
      .set("name", device.name)
      .set("architecture", device.architecture)
      .set("driver", device.driver)
      .set("uuid", device.uuid)
      .set("memory", device.memory_total)
      .set("memory_free", device.memory_free);
}

Json devices_to_wire(const std::vector<Device>& devices) {
  Json list = Json::array();
  for (const Device& device : devices)
    list.push(
        to_json(device).set("type", device.id.type).set("index", device.id.index).set("kind", device.kind));
  return list;
}

std::vector<Device> devices_from_wire(const Json& wire) {
  std::vector<Device> devices;
  for (const Json& one : wire.as_array()) {
    Device device;
    device.id.type = static_cast<std::int32_t>(one["type"].as_integer());
    device.id.index = static_cast<std::int32_t>(one["index"].as_integer());
    device.kind = one["kind"].as_string();
    device.name = one["name"].as_string();
    device.architecture = one["architecture"].as_string();
    device.driver = one["driver"].as_string();
    device.uuid = one["uuid"].as_string();
    device.memory_total = static_cast<std::uint64_t>(one["memory"].as_integer());
    device.memory_free = static_cast<std::uint64_t>(one["memory_free"].as_integer());
    devices.push_back(std::move(device));
  }
  return devices;
}

Json libraries_to_wire(const std::vector<Library>& libraries) {
  Json list = Json::array();
  for (const Library& library : libraries)
    list.push(
        Json::object().set("soname", library.soname).set("path", library.path).set("origin", library.origin));
  return list;
}

std::vector<Library> libraries_from_wire(const Json& wire) {
  std::vector<Library> libraries;
  for (const Json& one : wire.as_array())
    libraries.push_back({one["soname"].as_string(), one["path"].as_string(), one["origin"].as_string()});
  return libraries;
}

void add_load_request(Json& request, const LoadRequest& load) {
  Json preload = Json::array();
  for (const std::filesystem::path& file : load.preload) preload.push(path_text(file));
  request.set("plugin", path_text(load.plugin))
      .set("view", path_text(load.view))
      .set("root", path_text(load.root))
      .set("preload", std::move(preload));
}

LoadRequest load_request_from_json(const Json& request) {
  LoadRequest load;
  load.plugin = path_of(request["plugin"].as_string());
  load.view = path_of(request["view"].as_string());
  load.root = path_of(request["root"].as_string());
  for (const Json& file : request["preload"].as_array()) load.preload.push_back(path_of(file.as_string()));
  return load;
}

}  // namespace enginehost::load
