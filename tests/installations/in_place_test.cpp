#include "host/installations/in_place.hpp"

#include <gmock/gmock.h>

#include "tests/installations/environments.hpp"

namespace enginehost::installations {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class InPlaceBuilds : public test::Environments {
 protected:
  // A catalog with one plugin of that engine.
  static manifest::Catalog catalog(const std::string& engine, const std::string& version,
                                   const std::string& flavor, const std::vector<std::string>& needs = {},
                                   const std::string& abi = {}, bool compiled = true,
                                   const std::vector<std::string>& capabilities = {}) {
    Json adapter = Json::object().set("needs", Json::strings(needs));
    if (!abi.empty()) adapter.set("cxx11_abi", abi);
    Json artifacts = Json::array();
    if (compiled)
      artifacts.push(Json::object()
                         .set("sha256", std::string(64, 'a'))
                         .set("archive", "none")
                         .set("path", "libengine_x.so")
                         .set("sources", Json::array().push(Json::object().set("file", "x"))));
    const Json document =
        Json::object()
            .set("format", 1)
            .set("engine", engine)
            .set("serial", 1)
            .set(
                "components",
                Json::object().set(
                    "the-plugin",
                    Json::object().set("adapter", std::move(adapter)).set("artifacts", std::move(artifacts))))
            .set("builds",
                 Json::array().push(
                     Json::object()
                         .set("id", "a-build")
                         .set("version", version)
                         .set("flavor", flavor)
                         .set("os", "linux")
                         .set("arch", "x86_64")
                         .set("plugin",
                              Json::object().set("component", "the-plugin").set("path", "libengine_x.so"))
                         .set("capabilities", Json::strings(capabilities))
                         .set("components", Json::array())));
    manifest::Catalog result;
    auto manifest = manifest::read_manifest(document, "/repository", "test");
    EXPECT_TRUE(manifest) << (manifest ? "" : std::string(manifest.error().value(Key::problem)));
    if (manifest) manifest::merge(result, std::move(*manifest));
    return result;
  }

  std::shared_ptr<const manifest::Build> build_of(const std::string& path, const manifest::Catalog& known) {
    const auto installation = identify(folder() / path);
    EXPECT_TRUE(installation);
    if (!installation) return nullptr;
    kept_ = manifests_of(*installation, known);
    EXPECT_EQ(kept_.size(), 1u);
    return kept_.empty() ? nullptr : kept_.front()->builds.front();
  }

  void SetUp() override {
    Environments::SetUp();
    make_torch("site/torch/lib");
    make_package("site", "torch", "2.0.1");
  }

 private:
  std::vector<std::shared_ptr<const manifest::Manifest>> kept_;
};

TEST_F(InPlaceBuilds, TakeThePluginOfTheSameMinorVersionAndAbi) {
  const auto build =
      build_of("site", catalog("pytorch", "2.0.0", "cpu", {"libtorch_cpu.so", "libc10.so"}, "1"));
  ASSERT_TRUE(build);
  EXPECT_FALSE(build->in_place->problem);
  EXPECT_EQ(build->plugin_component, "the-plugin");
  EXPECT_EQ(build->version, "2.0.1");
  EXPECT_EQ(build->in_place->root, at("site"));
  ASSERT_EQ(build->all_components().size(), 1u);
  EXPECT_NE(build->artifacts_digest(), "");
  EXPECT_THAT(build->id, HasSubstr("pytorch-2.0.1-cpu-linux-x86_64-at-"));
}

struct Unfit {
  const char *name, *version;
  std::vector<std::string> needs;
  const char* abi;
  bool compiled;
};
class UnfitPlugins : public InPlaceBuilds, public testing::WithParamInterface<Unfit> {};

TEST_P(UnfitPlugins, AreReportedWithWhatWasFound) {
  const Unfit& plugin = GetParam();
  const auto build =
      build_of("site", catalog("pytorch", plugin.version, "cpu", plugin.needs, plugin.abi, plugin.compiled));
  ASSERT_TRUE(build);
  ASSERT_TRUE(build->in_place->problem);
  EXPECT_EQ(build->in_place->problem->code, "EH-S32");
  EXPECT_THAT(std::string(build->in_place->problem->value(Key::installed)),
              HasSubstr("pytorch 2.0.1 cpu, C++11 ABI 1"));
  ASSERT_EQ(build->in_place->problem->values(Key::plugin).size(), 1u);
}
INSTANTIATE_TEST_SUITE_P(
    Each, UnfitPlugins,
    testing::Values(Unfit{"AnotherMinorVersion", "1.13.1", {}, "1", true},
                    Unfit{"AnotherAbi", "2.0.1", {}, "0", true},
                    Unfit{"OtherLibraryNames", "2.0.1", {"libtorch_cpu.so.2.0"}, "1", true},
                    Unfit{"NotCompiled", "2.0.1", {}, "1", false}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(InPlaceBuilds, WithACInterfaceTakeAPluginOfAnyMinorVersion) {
  library("ort/onnxruntime/capi/libonnxruntime.so.1.19.2", "int ort(void) { return 1; }");
  make_package("ort", "onnxruntime", "1.19.2");
  const auto build = build_of("ort", catalog("onnxruntime", "1.22.0", "cpu"));
  ASSERT_TRUE(build);
  EXPECT_FALSE(build->in_place->problem);
  EXPECT_THAT(build->search, ElementsAre(at("ort/onnxruntime/capi/libonnxruntime.so.1.19.2")));
}

TEST_F(InPlaceBuilds, AreOfAReleaseThatThePluginServes) {
  const auto problem_with = [&](const std::string& range) {
    const auto build =
        build_of("site", catalog("pytorch", "2.0.0", "cpu", {}, "1", true, {"versions." + range}));
    return build && build->in_place->problem ? std::string(build->in_place->problem->value(Key::plugin))
                                             : "none";
  };
  EXPECT_EQ(problem_with(">=2.0,<2.1"), "none");
  EXPECT_EQ(problem_with("not a range"), "none") << "what cannot be read forbids nothing";
  EXPECT_THAT(problem_with("<2.0.1"), HasSubstr("for releases <2.0.1"));
  EXPECT_THAT(problem_with(">=2.0.2,<3"), HasSubstr("for releases >=2.0.2,<3"));
}

TEST_F(InPlaceBuilds, ForCudaNeedAPluginThatOpensCuda) {
  library("ort/onnxruntime/capi/libcublas.so.12", "int b(void) { return 1; }",
          {"-Wl,-soname,libcublas.so.12"});
  library("ort/onnxruntime/capi/libonnxruntime.so.1.22.0", "int ort(void) { return 1; }");
  library("ort/onnxruntime/capi/libonnxruntime_providers_cuda.so", "int cuda(void) { return 1; }",
          {"-Wl,--no-as-needed", at("ort/onnxruntime/capi/libcublas.so.12")});
  make_package("ort", "onnxruntime-gpu", "1.22.0");
  auto build = build_of("ort", catalog("onnxruntime", "1.22.0", "cpu"));
  ASSERT_TRUE(build);
  EXPECT_EQ(build->flavor, "cu120");
  ASSERT_TRUE(build->in_place->problem);
  EXPECT_EQ(build->in_place->problem->code, "EH-S32");
  build = build_of("ort", catalog("onnxruntime", "1.22.0", "cu126"));
  EXPECT_FALSE(build->in_place->problem);
}

TEST_F(InPlaceBuilds, ChangeTheirDigestWithTheirFiles) {
  const auto known = catalog("pytorch", "2.0.1", "cpu");
  const std::string before = build_of("site", known)->artifacts_digest();
  EXPECT_EQ(build_of("site", known)->artifacts_digest(), before);
  make_torch("site/torch/lib", false);
  EXPECT_NE(build_of("site", known)->artifacts_digest(), before);
}

}  // namespace
}  // namespace enginehost::installations
