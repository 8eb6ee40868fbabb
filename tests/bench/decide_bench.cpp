// A decision among the 500 builds of a manifest.
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json.hpp"
#include "host/explain/explain.hpp"
#include "host/manifest/catalog.hpp"
#include "host/platform/detect.hpp"
#include "host/resolve/describe.hpp"
#include "tests/bench/compare.hpp"

namespace enginehost::bench {
namespace {

Json requirements_of(const std::string& flavor, const std::string& os) {
  Json requires_ = Json::object();
  if (os == "linux") requires_.set("glibc", ">=2.27").set("glibcxx", ">=3.4.22");
  if (flavor.starts_with("cu"))
    requires_.set("cuda", Json::object()
                              .set("toolkit", flavor.substr(2, 2) + "." + flavor.substr(4))
                              .set("sass", Json::strings({"7.0", "7.5", "8.0", "8.6", "8.9", "9.0"}))
                              .set("ptx", Json::strings({"9.0"})));
  if (flavor == "rocm62")
    requires_.set("rocm", Json::object().set("version", "6.2").set("gfx", Json::strings({"gfx1100"})));
  return requires_;
}

Json component(int number, const std::string& name) {
  const std::string digits = std::to_string(1000000 + number);
  std::string sha256;
  while (sha256.size() < 64) sha256 += digits;
  sha256.resize(64);
  const Json source = Json::object().set("url", "https://mirror.example/engines/" + name + ".tar.zst");
  return Json::object()
      .set("version", "1." + std::to_string(number))
      .set("artifacts", Json::array().push(Json::object()
                                               .set("sha256", sha256)
                                               .set("size", 100000000 + number)
                                               .set("archive", "tar.zst")
                                               .set("select", Json::strings({"lib/*.so*"}))
                                               .set("sources", Json::array().push(source))));
}

// All builds are of one engine, so that each is a candidate.
Json manifest_of(int count) {
  const std::vector<std::pair<std::string, std::string>> systems = {
      {"linux", "x86_64"}, {"linux", "aarch64"}, {"windows", "x86_64"}, {"macos", "arm64"}};
  const std::vector<std::string> flavors = {"cpu", "cu118", "cu126", "cu130", "rocm62"};
  Json components = Json::object(), builds = Json::array();
  for (int number = 0; number < count; ++number) {
    const auto& [os, arch] = systems[static_cast<std::size_t>(number) % systems.size()];
    const std::string& flavor = flavors[static_cast<std::size_t>(number / 4) % flavors.size()];
    const std::string version = "1." + std::to_string(number / 20) + ".0";
    const std::string id = "many-" + version + "-" + flavor + "-" + os + "-" + arch;
    components.set("plugin-" + id, component(2 * number, "plugin-" + id));
    components.set("runtime-" + id, component(2 * number + 1, "runtime-" + id));
    builds.push(
        Json::object()
            .set("id", id)
            .set("version", version)
            .set("flavor", flavor)
            .set("os", os)
            .set("arch", arch)
            .set("requires", requirements_of(flavor, os))
            .set("plugin", Json::object().set("component", "plugin-" + id).set("path", "libengine_many.so"))
            .set("components", Json::strings({"runtime-" + id}))
            .set("search", Json::strings({"lib"}))
            .set("capabilities", Json::strings({"format.onnx"})));
  }
  return Json::object()
      .set("format", 1)
      .set("engine", "many")
      .set("serial", 1)
      .set("components", std::move(components))
      .set("builds", std::move(builds));
}

struct OpenContext {
  std::string text;
  platform::Platform platform;
  manifest::Catalog catalog;
  resolve::Request request;
  history::History history;
};

bool read(const std::string& text, manifest::Catalog& catalog) {
  auto document = parse_json(text, "many.json");
  if (!document) return false;
  auto manifest = manifest::read_manifest(*document, "/nowhere", "many.json");
  if (!manifest) return false;
  manifest::merge(catalog, std::move(*manifest));
  return true;
}

bool decide(const OpenContext& context, const manifest::Catalog& catalog) {
  const resolve::Plan plan =
      resolve::decide(context.platform, catalog, context.history, context.request, 1'800'000'000);
  return !plan.diagnosis && plan.candidates.size() == catalog.builds.size();
}

std::shared_ptr<OpenContext> world_of(int count) {
  auto context = std::make_shared<OpenContext>();
  context->text = manifest_of(count).dump(1);
  context->platform = platform::detect({});
  context->request.engine = "many";
  return read(context->text, context->catalog) ? context : nullptr;
}

}  // namespace

void add_decide_benchmarks(const Effort& effort) {
  const int count = effort.quick ? 20 : 500;
  add_comparison(effort, "decide/cold", 25, [=] {
    auto context = world_of(count);
    if (!context) return skipped("the manifest could not be read");
    Comparison comparison;
    comparison.sides = {{"read_and_decide", timed([=] {
                           manifest::Catalog catalog;
                           return read(context->text, catalog) && decide(*context, catalog);
                         })},
                        {"parse", timed([=] { return !nlohmann::json::parse(context->text).empty(); })}};
    return comparison;
  });
  add_comparison(effort, "decide/again", 25, [=] {
    auto context = world_of(count);
    if (!context) return skipped("the manifest could not be read");
    Comparison comparison;
    const auto plan = std::make_shared<resolve::Plan>(resolve::decide(
        context->platform, context->catalog, context->history, context->request, 1'800'000'000));
    comparison.sides = {
        {"decide", timed([=] { return decide(*context, context->catalog); })},
        {"explain_all", timed([=] { return !resolve::describe_plan(*plan, explain::one_line).empty(); })}};
    return comparison;
  });
}

}  // namespace enginehost::bench
