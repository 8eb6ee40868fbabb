// CUDA and cuDNN of a conda environment or of NVIDIA's wheels, without LD_LIBRARY_PATH.
#include <gmock/gmock.h>

#include "host/installations/cuda_parts.hpp"
#include "tests/installations/environments.hpp"

namespace enginehost::installations {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;

class CudaOfAnEnvironment : public test::Environments {
 protected:
  void SetUp() override {
    Environments::SetUp();
    make_conda_record("env", "cuda-cudart", "12.4.127");
    library("env/lib/libcublasLt.so.12", "int lt(void) { return 1; }", {"-Wl,-soname,libcublasLt.so.12"});
    library("env/lib/libcublas.so.12", "int b(void) { return 1; }",
            {"-Wl,-soname,libcublas.so.12", "-Wl,--no-as-needed", at("env/lib/libcublasLt.so.12")});
    library("env/lib/libcudnn.so.9.1.0", "int dnn(void) { return 1; }", {"-Wl,-soname,libcudnn.so.9"});
    std::filesystem::create_symlink("libcudnn.so.9.1.0", folder() / "env/lib/libcudnn.so.9");
    library("env/lib/libunrelated.so.1", "int u(void) { return 1; }");
  }

  static manifest::Catalog catalog() {
    const char* document = R"({"format":1,"engine":"onnxruntime","serial":1,
      "components":{"p":{"artifacts":[]}},
      "builds":[{"id":"ort-cu128","version":"1.23.2","flavor":"cu128","os":"linux","arch":"x86_64",
        "requires":{"libraries":["libcublas.so.12","libcudnn.so.9","libcufft.so.11"]},"search":["onnxruntime/capi"],
        "plugin":{"component":"p","path":"libengine_x.so"},"components":[]},
       {"id":"ort-cpu","version":"1.23.2","flavor":"cpu","os":"linux","arch":"x86_64",
        "plugin":{"component":"p","path":"libengine_x.so"},"components":[]}]})";
    auto manifest = manifest::read_manifest(*parse_json(document, "test"), "/repository", "test");
    EXPECT_TRUE(manifest);
    manifest::Catalog result;
    if (manifest) manifest::merge(result, std::move(*manifest));
    return result;
  }
};

TEST_F(CudaOfAnEnvironment, IsListedByItsSonames) {
  const auto installation = identify(folder() / "env");
  ASSERT_TRUE(installation);
  EXPECT_THAT(installation->runtimes, IsEmpty());
  EXPECT_THAT(installation->cuda, ElementsAre(Field(&CudaLibrary::soname, "libcublas.so.12"),
                                              Field(&CudaLibrary::soname, "libcublasLt.so.12"),
                                              Field(&CudaLibrary::soname, "libcudnn.so.9")));
  EXPECT_EQ(installation->cuda.back().path, at("env/lib/libcudnn.so.9"));
}

// The parts of cuDNN 8 and 9, which its libcudnn opens by name.
TEST(CudaStem, IsThatOfEveryPartOfCudnnAndOfNoRenamedOne) {
  for (const std::string stem :
       {"libcudnn", "libcudnn_ops", "libcudnn_engines_precompiled", "libcudnn_engines_runtime_compiled",
        "libcudnn_engines_tensor_ir", "libcudnn_heuristic", "libcudnn_ops_infer", "libcublasLt"}) {
    const std::string name = stem + ".so.9";
    EXPECT_EQ(cuda_stem(name), stem);
  }
  for (const char* other : {"libcudnn_ops-1a2b3c4d.so.9", "libcudnn-1a2b3c4d.so.9", "libcudnn_ops.a",
                            "libcudnnx.so.9", "libcudart-d0da41ae.so.11.0"})
    EXPECT_EQ(cuda_stem(other), "") << other;
}

TEST_F(CudaOfAnEnvironment, OfNvidiasWheelsIsListedToo) {
  library("site/nvidia/cuda_runtime/lib/libcudart.so.12", "int r(void) { return 1; }",
          {"-Wl,-soname,libcudart.so.12"});
  const auto installation = identify(folder() / "site");
  ASSERT_TRUE(installation);
  EXPECT_THAT(installation->cuda, ElementsAre(Field(&CudaLibrary::soname, "libcudart.so.12")));
}

TEST_F(CudaOfAnEnvironment, CompletesBuildsThatNeedItFromTheSystem) {
  const auto installation = identify(folder() / "env");
  ASSERT_TRUE(installation);
  const manifest::Catalog known = catalog();
  const auto builds = completed_builds(*installation, known);
  ASSERT_EQ(builds.size(), 1u);
  const manifest::Build& build = *builds.front();
  EXPECT_EQ(build.id.substr(0, 15), "ort-cu128-with-");
  // Libraries that it does not hold are still needed from the system.
  EXPECT_THAT(build.requires_.libraries, ElementsAre("libcufft.so.11"));
  EXPECT_EQ(build.search.front(), "onnxruntime/capi");
  for (const char* name : {"libcublas.so.12", "libcublasLt.so.12", "libcudnn.so.9"})
    EXPECT_THAT(build.search, Contains(at(std::string("env/lib/") + name)));
  EXPECT_EQ(build.in_place->root, "") << "the plugin's folder stays the view";
  EXPECT_EQ(build.all_components().size(), 1u);
}

// Two of NVIDIA's components; the environment holds all of the first, and one of the two libraries of the
// second.
manifest::Catalog with_components() {
  const std::string digest(64, 'a');
  const auto component = [&](const std::vector<std::string>& select) {
    Json artifact = Json::object();
    artifact.set("sha256", digest).set("archive", "zip").set("select", Json::strings(select));
    artifact.set("sources", Json::array().push(Json::object().set("file", "x")));
    return Json::object().set("artifacts", Json::array().push(std::move(artifact)));
  };
  Json build = Json::object();
  build.set("id", "cuda-cu12")
      .set("version", "1.0")
      .set("flavor", "cu128")
      .set("os", "linux")
      .set("arch", "x86_64");
  build.set("plugin", Json::object().set("component", "p").set("path", "libengine_cuda.so"));
  build.set("components", Json::strings({"blas", "dnn", "rtc"}))
      .set("search", Json::strings({"nvidia/cublas/lib"}));
  const Json document =
      Json::object()
          .set("format", 1)
          .set("engine", "cuda")
          .set("serial", 1)
          .set("components",
               Json::object()
                   .set("p", component({"libengine_cuda.so"}))
                   .set("blas", component({"nvidia/cublas/lib/libcublas.so.12",
                                           "nvidia/cublas/lib/libcublasLt.so.12", "x.dist-info/License.txt"}))
                   .set("dnn", component({"nvidia/cudnn/lib/libcudnn*.so.9"}))
                   .set("rtc",
                        component({"nvidia/cublas/lib/libcublas.so.12", "nvidia/x/lib/libnvrtc.so.12"})))
          .set("builds", Json::array().push(std::move(build)));
  auto manifest = manifest::read_manifest(document, "/repository", "test");
  EXPECT_TRUE(manifest);
  manifest::Catalog result;
  if (manifest) manifest::merge(result, std::move(*manifest));
  return result;
}

TEST_F(CudaOfAnEnvironment, StandsInForComponentsThatItHoldsWhole) {
  const auto installation = identify(folder() / "env");
  ASSERT_TRUE(installation);
  const auto builds = completed_builds(*installation, with_components());
  ASSERT_EQ(builds.size(), 1u);
  EXPECT_THAT(builds.front()->components, ElementsAre("rtc"));
  EXPECT_THAT(builds.front()->search, Contains(at("env/lib/libcudnn.so.9")));
  EXPECT_GT(builds.front()->priority, 0);
}

TEST_F(CudaOfAnEnvironment, OfAnotherMajorVersionCompletesNothing) {
  library("other/lib/libcublas.so.11", "int b(void) { return 1; }", {"-Wl,-soname,libcublas.so.11"});
  make_conda_record("other", "cudatoolkit", "11.8.0");
  const auto installation = identify(folder() / "other");
  ASSERT_TRUE(installation);
  EXPECT_THAT(completed_builds(*installation, catalog()), IsEmpty());
}

}  // namespace
}  // namespace enginehost::installations
