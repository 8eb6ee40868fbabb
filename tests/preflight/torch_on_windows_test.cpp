// PyTorch 2.0.1 for CUDA 11.8 on Windows, checked from its list of files, because its 2.6 GB are not on the
// package index. The CPU files and the imports of each of their DLLs are those of the wheel of the same
// release without CUDA (manifests/facts). The list of the CUDA files is that of the libtorch packages of
// 2.0.1 for CUDA 11.7, with the two names that contain CUDA's minor version changed. The imports of their
// DLLs are those of the Linux build of 2.0.1, under the Windows names of the same libraries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "host/preflight/foreign.hpp"
#include "tests/preflight/helpers.hpp"
#include "tests/preflight/windows_library.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* build_id = "pytorch-2.0.1-cu118-windows-x86_64";
constexpr const char* component_id = "torch-2.0.1-cu118-windows-x86_64";
constexpr const char* wheel_without_cuda = "7c84e44d9002182edd859f3400deaa7410f5ec948a519cc7ef512c2f9b34d2c4";

struct Library {
  const char* name;
  std::vector<std::string> needs;
};

std::vector<Library> part_for_cuda() {
  std::vector<Library> all = {
      {"c10_cuda.dll", {"c10.dll", "cudart64_110.dll"}},
      {"caffe2_nvrtc.dll", {"nvcuda.dll", "nvrtc64_112_0.dll"}},
      // On Linux a library of its own needs cuSOLVER; the list for Windows has none.
      {"torch_cuda.dll",
       {"c10.dll", "c10_cuda.dll", "torch_cpu.dll", "cudart64_110.dll", "cublas64_11.dll",
        "cublasLt64_11.dll", "cudnn64_8.dll", "cufft64_10.dll", "curand64_10.dll", "cusolver64_11.dll",
        "cusparse64_11.dll", "nvToolsExt64_1.dll"}},
      {"nvfuser_codegen.dll",
       {"torch_cuda.dll", "torch_cpu.dll", "c10_cuda.dll", "c10.dll", "cudart64_110.dll", "nvrtc64_112_0.dll",
        "nvToolsExt64_1.dll"}}};
  for (Library& library : all)
    for (const char* runtime : {"MSVCP140.dll", "VCRUNTIME140.dll", "VCRUNTIME140_1.dll"})
      library.needs.emplace_back(runtime);
  all.push_back({"cublas64_11.dll", {"cublasLt64_11.dll"}});
  for (const char* name : {"cublasLt64_11.dll",       "cudart64_110.dll",
                           "cudnn64_8.dll",           "cudnn_adv_infer64_8.dll",
                           "cudnn_adv_train64_8.dll", "cudnn_cnn_infer64_8.dll",
                           "cudnn_cnn_train64_8.dll", "cudnn_ops_infer64_8.dll",
                           "cudnn_ops_train64_8.dll", "cufft64_10.dll",
                           "cufftw64_10.dll",         "cupti64_2022.3.0.dll",
                           "curand64_10.dll",         "cusolver64_11.dll",
                           "cusolverMg64_11.dll",     "cusparse64_11.dll",
                           "nvToolsExt64_1.dll",      "nvrtc-builtins64_118.dll",
                           "nvrtc64_112_0.dll",       "zlibwapi.dll"})
    all.push_back({name, {}});
  for (Library& library : all) library.needs.emplace_back("KERNEL32.dll");
  return all;
}

Json document(const std::string& file) {
  const auto text = read_file(std::filesystem::path(test::source_path()) / file, 8u << 20);
  const auto json = text ? parse_json(*text, file) : Json();
  EXPECT_TRUE(text && json) << file;
  return json ? *json : Json();
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> all;
  for (const Json& one : list.as_array()) all.push_back(one.as_string());
  return all;
}

class TorchOnWindows : public ::testing::Test {
 protected:
  void SetUp() override {
    const Json facts = document(std::string("manifests/facts/") + wheel_without_cuda + ".json");
    for (const Json& library : facts["libraries"].as_array())
      workshop_.file(library["path"].as_string(), windows_library(texts(library["needed"])));
    for (const Library& library : part_for_cuda())
      workshop_.file(at(library.name), windows_library(library.needs));
    // The requirements of the shipped manifest.
    const Json manifest = document("manifests/templates/pytorch.json");
    const Json component = manifest["components"][component_id];
    for (const Json& build : manifest["builds"].as_array())
      if (build["id"].as_string() == build_id) build_ = build;
    ASSERT_FALSE(build_.is_null());
    spec_.view = workshop_.folder();
    spec_.plugin = workshop_.path(at("torch_cuda.dll"));
    spec_.optional = texts(component["optional"]);
    spec_.lazy = texts(build_["lazy"]);
    for (const std::string& folder : texts(build_["search"])) spec_.search.push_back(workshop_.path(folder));
    spec_.platform = &machine_;
    machine_.os = platform::Fact<std::string>::known("windows", "test");
    machine_.arch = platform::Fact<std::string>::known("x86_64", "test");
    machine_.vcruntime = platform::Fact<std::string>::known("14.40.33810", "test");
    machine_.cuda.driver = platform::Fact<std::string>::known("522.06", "test");
  }
  static std::string at(const std::string& name) { return "torch/lib/" + name; }
  std::filesystem::path path(const std::string& name) const { return workshop_.path(at(name)); }

  faults::Workshop workshop_;
  platform::Platform machine_;
  ForeignSpec spec_;
  Json build_;
};

TEST_F(TorchOnWindows, OnlyMicrosoftsRuntimeAndTheDriverAreNotInTheBuild) {
  machine_.vcruntime = platform::Fact<std::string>::absent("System32");
  machine_.cuda.driver = platform::Fact<std::string>::absent("nvcuda.dll");
  const Report report = check_foreign(spec_);
  EXPECT_EQ(report.verdict, Verdict::fails);
  EXPECT_THAT(report.missing, IsEmpty());
  ASSERT_EQ(first_code(report), "EH-W01");
  const Diagnosis& first = report.diagnoses.front();
  EXPECT_THAT(first.values(Key::library),
              UnorderedElementsAre("MSVCP140.dll", "VCRUNTIME140.dll", "VCRUNTIME140_1.dll"));
  EXPECT_THAT(explain::describe(first), HasSubstr("Visual C++ Redistributable"));
  // The driver's library is needed by files that are opened while a program runs.
  std::vector<std::string> others;
  for (const Diagnosis& diagnosis : report.diagnoses)
    for (const std::string& library : diagnosis.values(Key::library)) others.push_back(library);
  EXPECT_THAT(others, Contains("nvcuda.dll"));
}

TEST_F(TorchOnWindows, TheManifestRequiresMicrosoftsRuntimeBeforeTheDownload) {
  EXPECT_EQ(build_["requires"]["vcruntime"].as_string(), ">=14.0");
}

TEST_F(TorchOnWindows, WithBothItLoadsAndOnlyThePythonBindingIsLeftOut) {
  const Report report = check_foreign(spec_);
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.diagnoses, IsEmpty());
  EXPECT_THAT(report.left_out, ElementsAre(path("torch_python.dll")));
  ASSERT_THAT(report.warnings, SizeIs(1));
  EXPECT_EQ(report.warnings[0].value(Key::library), "python310.dll");
}

TEST_F(TorchOnWindows, NvfuserWhoseLibraryIsGoneIsLeftOutWithOneWarning) {
  workshop_.remove(path("nvrtc64_112_0.dll"));
  const Report report = check_foreign(spec_);
  EXPECT_EQ(report.verdict,
            Verdict::unsure);  // another library needs it too, when a program compiles kernels
  EXPECT_THAT(report.left_out, UnorderedElementsAre(path("nvfuser_codegen.dll"), path("torch_python.dll")));
  ASSERT_THAT(report.warnings, SizeIs(2));
  EXPECT_EQ(report.warnings[0].code, "EH-W01");
  EXPECT_EQ(report.warnings[0].value(Key::library), "nvrtc64_112_0.dll");
  EXPECT_EQ(report.warnings[0].value(Key::needed_by), path("nvfuser_codegen.dll").native());
}

TEST_F(TorchOnWindows, WithoutTheCUDARuntimeNothingLoadsAndTheNeederIsNamed) {
  workshop_.remove(path("cudart64_110.dll"));
  const Report report = check_foreign(spec_);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-W01");
  EXPECT_EQ(report.diagnoses.front().value(Key::library), "cudart64_110.dll");
  EXPECT_THAT(report.diagnoses.front().values(Key::needed_by), IsSupersetOf({path("c10_cuda.dll").native()}));
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("CUDA runtime 11"));
}

// "Could not locate zlibwapi.dll", printed at the first convolution.
TEST_F(TorchOnWindows, MissingLibrariesOpenedByNameAreReportedBefore) {
  for (const char* name : {"zlibwapi.dll", "cudnn_cnn_infer64_8.dll"}) {
    std::filesystem::rename(path(name), workshop_.path(name));
    const Report report = check_foreign(spec_);
    EXPECT_EQ(report.verdict, Verdict::fails) << name;
    ASSERT_EQ(first_code(report), "EH-R15") << name;
    EXPECT_EQ(report.diagnoses.front().value(Key::library), name);
    std::filesystem::rename(workshop_.path(name), path(name));
  }
}

}  // namespace
}  // namespace enginehost::preflight
