#include "host/platform/anonymous.hpp"
#include "host/platform/fact_list.hpp"

namespace enginehost::platform {
namespace {

Json json_of(const std::string& value) { return value; }
Json json_of(const Distribution& value) {
  return Json::object().set("id", value.id).set("name", value.name).set("version", value.version);
}
Json json_of(const Libc& value) {
  return Json::object().set("name", value.name).set("version", value.version);
}
Json json_of(const Libstdcxx& value) {
  return Json::object().set("path", value.path).set("glibcxx", value.glibcxx).set("cxxabi", value.cxxabi);
}
Json json_of(const Cpu& value) {
  return Json::object()
      .set("model", value.model)
      .set("level", value.level)
      .set("features", Json::strings(value.features))
      .set("cores", value.cores);
}
Json json_of(const Memory& value) {
  return Json::object().set("total", value.total).set("available", value.available);
}
Json json_of(const Disk& value) {
  return Json::object()
      .set("folder", value.folder)
      .set("total", value.total)
      .set("free", value.free)
      .set("noexec", value.noexec);
}
Json json_of(const CudaDevice& value) {
  Json object = Json::object()
                    .set("index", value.index)
                    .set("name", value.name)
                    .set("compute_capability", value.compute_capability);
  if (!value.uuid.empty()) object.set("uuid", value.uuid);  // an anonymous report has none
  return object.set("memory", value.memory).set("visible", value.visible);
}
Json json_of(const Installed& value) {
  return Json::object().set("version", value.version).set("path", value.path).set("note", value.note);
}
Json json_of(const Rocm& value) {
  return Json::object().set("version", value.version).set("gfx", Json::strings(value.gfx));
}
Json json_of(const Metal& value) { return Json::object().set("device", value.device); }
Json json_of(const Conda& value) {
  return Json::object().set("prefix", value.prefix).set("name", value.name);
}
Json json_of(const Variables& value) {
  Json object = Json::object();
  for (const auto& [name, text] : value) object.set(name, text);
  return object;
}
template <class Element>
Json json_of(const std::vector<Element>& list) {
  Json array = Json::array();
  for (const Element& element : list) array.push(json_of(element));
  return array;
}

template <class Value>
Json json_of_fact(const Fact<Value>& fact) {
  if (fact.is_known()) return Json::object().set("value", json_of(fact.value())).set("source", fact.source());
  if (fact.is_absent()) return Json::object().set("absent", true).set("source", fact.source());
  return Json::object().set("unknown", true).set("why", fact.why());
}

}  // namespace

Json to_json(const Platform& platform, bool for_others) {
  Json document = Json::object();
  for_each_fact(
      platform, [&](const char* name, const auto& fact) { document.set(name, json_of_fact(fact)); },
      [&](const char* name, const Cuda& cuda) {
        Json part = Json::object();
        for_each_cuda_fact(
            cuda, [&](const char* member, const auto& fact) { part.set(member, json_of_fact(fact)); });
        document.set(name, std::move(part));
      });
  return for_others ? anonymous(document, this_user()) : document;
}

}  // namespace enginehost::platform
