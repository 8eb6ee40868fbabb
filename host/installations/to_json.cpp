#include "base/paths.hpp"
#include "host/installations/installation.hpp"

namespace enginehost::installations {

Json to_json(const Installation& installation) {
  Json engines = Json::array(), cuda = Json::array();
  for (const Runtime& runtime : installation.runtimes) {
    Json found = Json::array();
    for (const Evidence& one : runtime.found)
      found.push(Json::object().set("what", one.what).set("value", one.value).set("source", one.source));
    Json engine = Json::object();
    engine.set("engine", runtime.engine)
        .set("version", runtime.version)
        .set("flavor", runtime.flavor)
        .set("os", runtime.os)
        .set("arch", runtime.arch)
        .set("cxx11_abi", runtime.cxx11_abi)
        .set("libraries", Json::strings(runtime.libraries))
        .set("found", std::move(found));
    if (runtime.problem) engine.set("code", runtime.problem->code);
    engines.push(std::move(engine));
  }
  for (const CudaLibrary& library : installation.cuda)
    cuda.push(Json::object().set("soname", library.soname).set("path", library.path));
  return std::move(Json::object()
                       .set("path", path_text(installation.path))
                       .set("layout", name_of(installation.layout))
                       .set("engines", std::move(engines))
                       .set("cuda", std::move(cuda)));
}

}  // namespace enginehost::installations
