// CUDA and cuDNN of a conda environment or of NVIDIA's wheels, without LD_LIBRARY_PATH.
#include <gmock/gmock.h>

#include "host/installations/in_place.hpp"
#include "host/installations/parts.hpp"
#include "host/resolve/plan.hpp"
#include "tests/installations/environments.hpp"
#include "tests/resolve/shipped.hpp"
#include "tests/support/stand_in.hpp"

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

// As in the view of a build for the processor: its files say that they are no libraries of CUDA's.
TEST_F(CudaOfAnEnvironment, DoesNotCountStandIns) {
  library("only/lib/libcudart.so.12", "int r(void) { return 100; }", test::stand_in_named("libcudart.so.12"));
  library("env/lib/libcudart.so.12", "int r(void) { return 100; }", test::stand_in_named("libcudart.so.12"));
  const auto only = identify(folder() / "only");
  EXPECT_TRUE(!only || only->cuda.empty());
  const auto installation = identify(folder() / "env");
  ASSERT_TRUE(installation);
  for (const CudaLibrary& one : installation->cuda) EXPECT_NE(one.soname, "libcudart.so.12");
  EXPECT_EQ(installation->cuda.size(), 3u);
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
  EXPECT_TRUE(builds.front()->in_place) << "which ranks it before the original";
}

TEST_F(CudaOfAnEnvironment, OfAnotherMajorVersionCompletesNothing) {
  library("other/lib/libcublas.so.11", "int b(void) { return 1; }", {"-Wl,-soname,libcublas.so.11"});
  make_conda_record("other", "cudatoolkit", "11.8.0");
  const auto installation = identify(folder() / "other");
  ASSERT_TRUE(installation);
  EXPECT_THAT(completed_builds(*installation, catalog()), IsEmpty());
}

// The names of these libraries are the same for several CUDA versions. Their device code names its compiler.
class LibrariesOfOneName : public test::Environments {
 protected:
  // A library with the compiler's mark for that CUDA version; without one if it is empty.
  void part(const std::string& file, const std::string& soname, const std::string& cuda) {
    const std::string mark = "Cuda compilation tools, release " + cuda + ", V" + cuda + ".99";
    library(file, cuda.empty() ? "int f(void) { return 1; }" : "const char mark[] = \"" + mark + "\";",
            {"-Wl,-soname," + soname});
  }
  void cudnn_9(const std::string& environment, const std::string& cuda) {
    make_conda_record(environment, "cudnn", "9.1.0");
    part(environment + "/lib/libcudnn.so.9", "libcudnn.so.9", "");
    part(environment + "/lib/libcudnn_ops.so.9", "libcudnn_ops.so.9", cuda);
  }
  // The ids of the shipped builds that the environment completes, without the environment's digest.
  std::vector<std::string> completed_by(const std::string& environment) {
    std::vector<std::string> ids;
    const auto installation = identify(folder() / environment);
    EXPECT_TRUE(installation);
    if (!installation) return ids;
    for (const auto& build : completed_builds(*installation, resolve::shipped()))
      ids.push_back(build->id.substr(0, build->id.rfind("-with-")));
    return ids;
  }
  std::string first_choice(const std::string& environment, const std::string& engine,
                           const std::string& version) {
    manifest::Catalog catalog = resolve::shipped();
    const auto installation = identify(folder() / environment);
    EXPECT_TRUE(installation);
    if (installation)
      for (auto& build : completed_builds(*installation, catalog)) catalog.builds.push_back(build);
    resolve::Request request;
    request.engine = engine;
    request.version = version;
    const resolve::Plan plan = resolve::decide(resolve::machine_called("linux-ubuntu2404-driver580-rtx4090"),
                                               catalog, {}, request, 1);
    EXPECT_EQ(plan.candidates.front().rank, 1);
    return plan.candidates.front().build->id;
  }
};

TEST_F(LibrariesOfOneName, CudnnOfCuda12CompletesNoBuildForCuda13) {
  cudnn_9("env", "12.4");
  const std::vector<std::string> completed = completed_by("env");
  EXPECT_THAT(completed, Contains("onnxruntime-1.24.4-cu128-linux-x86_64"));
  EXPECT_THAT(completed, Contains("pytorch-2.9.1-cu128-linux-x86_64"));
  for (const std::string& id : completed) EXPECT_EQ(id.find("-cu13"), std::string::npos) << id;
  EXPECT_EQ(first_choice("env", "onnxruntime", ""), "onnxruntime-1.31.1-cu130-linux-x86_64");
}

TEST_F(LibrariesOfOneName, CudnnOfCuda13CompletesThem) {
  cudnn_9("env", "13.0");
  EXPECT_THAT(completed_by("env"), Contains("onnxruntime-1.27.0-cu130-linux-x86_64"));
  EXPECT_THAT(completed_by("env"), testing::Not(Contains("onnxruntime-1.24.4-cu128-linux-x86_64")));
  EXPECT_EQ(first_choice("env", "onnxruntime", "").substr(0, 43),
            "onnxruntime-1.31.1-cu130-linux-x86_64-with-")
      << "before the one that is downloaded whole";
}

TEST_F(LibrariesOfOneName, ACurandDoesNotLiftAnOlderCudaAboveANewerOne) {
  for (const char* cuda : {"11.7", "12.4"}) {
    const std::string environment = std::string("cuda") + cuda;
    make_conda_record(environment, "libcurand", "10.2.10");
    part(environment + "/lib/libcurand.so.10", "libcurand.so.10", cuda);
    EXPECT_EQ(first_choice(environment, "pytorch", "2.0"), "pytorch-2.0.1-cu118-linux-x86_64") << cuda;
  }
  EXPECT_THAT(completed_by("cuda11.7"), Contains("pytorch-2.0.1-cu117-linux-x86_64"));
  EXPECT_THAT(completed_by("cuda12.4"), testing::Not(Contains("pytorch-2.0.1-cu117-linux-x86_64")));
}

// The device code of CUDA 11's libraries does not name its compiler.
TEST_F(LibrariesOfOneName, WithoutAMarkTheOtherNamesDecideIfTheyAgree) {
  const auto major_of_curand = [&](const std::string& environment) {
    const auto installation = identify(folder() / environment);
    if (!installation) return std::int64_t{-1};
    CudaMajors majors(installation->cuda);
    for (const CudaLibrary& one : installation->cuda)
      if (one.soname == "libcurand.so.10") return majors.of(one);
    return std::int64_t{-1};
  };
  make_conda_record("env", "libcurand", "10.2.10");
  part("env/lib/libcurand.so.10", "libcurand.so.10", "");
  EXPECT_EQ(major_of_curand("env"), 0);
  part("env/lib/libcudart.so.11.0", "libcudart.so.11.0", "");
  part("env/lib/libcublas.so.11", "libcublas.so.11", "");
  EXPECT_EQ(major_of_curand("env"), 11);
  part("env/lib/libnvJitLink.so.12", "libnvJitLink.so.12", "");
  EXPECT_EQ(major_of_curand("env"), 0) << "two versions are installed";
}

TEST(CudaMajorOfName, IsTheVersionWhereTheNameShowsIt) {
  for (const auto& [name, major] :
       std::initializer_list<std::pair<const char*, std::int64_t>>{{"libcudart.so.11.0", 11},
                                                                   {"libcudart-d0da41ae.so.11.0", 11},
                                                                   {"libcublas.so.12", 12},
                                                                   {"libcublasLt.so.13", 13},
                                                                   {"libnvrtc.so.11.2", 11},
                                                                   {"libnvrtc-builtins.so.12.4", 12},
                                                                   {"libnvJitLink.so.13", 13},
                                                                   {"libcufft.so.11", 12},
                                                                   {"libcufft.so.12", 13},
                                                                   {"libcufft.so.10", 0},
                                                                   {"libcurand.so.10", 0},
                                                                   {"libcudnn.so.9", 0},
                                                                   {"libcusparse.so.12", 0},
                                                                   {"libcusolver.so.11", 0},
                                                                   {"libnccl.so.2", 0},
                                                                   {"libcudart.so", 0}})
    EXPECT_EQ(cuda_major_of_name(name), major) << name;
}

}  // namespace
}  // namespace enginehost::installations
