// EH-G: failures of a running engine that uses CUDA. The engine is a small plugin over NVIDIA's own runtime
// library (from an installed toolkit) or over the driver alone. The driver is a fake.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

// tests/faults/plugin.c with statements that run when its engine is created.
std::string plugin_that(const std::string& at_create, const std::vector<std::string>& more) {
  const TemporaryFolder folder;
  const std::string source = source_path("/tests/faults/plugin.c");
  std::vector<std::string> argv = {"cc",
                                   "-shared",
                                   "-fPIC",
                                   "-O1",
                                   "-w",
                                   "-I" + source_path("/plugin-api/include"),
                                   "-DAT_CREATE=" + at_create,
                                   source,
                                   "-o",
                                   (folder / "made.so").native()};
  argv.insert(argv.end(), more.begin(), more.end());
  run_tool(std::move(argv));
  return read_text(folder / "made.so");
}

class CudaRuntime : public testing::Test {
 protected:
  CudaRuntime() { write_text(driver(), read_text(ENGINEHOST_FAKE_CUDA)); }
  fs::path driver() const { return folder_ / "driver" / "libcuda.so.1"; }

  // A build whose engine asks NVIDIA's runtime for devices and reports the answer, as engines do.
  TestBuild over_the_runtime() const {
#ifdef ENGINEHOST_CUDA_RUNTIME
    const fs::path runtime = ENGINEHOST_CUDA_RUNTIME;
    const std::string soname = "libcudart.so.13";
    write_text(folder_ / soname, read_text(runtime));
    const std::string create =
        "extern int cudaGetDeviceCount(int*);extern int cudaDriverGetVersion(int*);"
        "extern const char*cudaGetErrorString(int);"
        "int devices=0,found=0;char text[32];cudaDriverGetVersion(&found);"
        "int code=cudaGetDeviceCount(&devices);"
        "if(code!=0){snprintf(text,sizeof text,\"%d.%d\",found/1000,found%1000/10);"
        "call->detail(call,\"found\",text);"
        "return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",code,cudaGetErrorString(code));}";
    TestBuild build =
        faulty_build({{"libengine_reference.so",
                       plugin_that(create, {(folder_ / soname).native(), "-Wl,-rpath,$ORIGIN/lib"})},
                      { "lib/" + soname,
                        read_text(runtime) }});
    build.search = {"lib"};
    return build;
#else
    return {};
#endif
  }
  static bool has_runtime() {
#ifdef ENGINEHOST_CUDA_RUNTIME
    // The SONAME of CUDA 13; another major version would need another name here.
    return fs::path(ENGINEHOST_CUDA_RUNTIME).filename().native().starts_with("libcudart.so.13");
#else
    return false;
#endif
  }
  // A build whose engine loads code for the GPU through the driver alone.
  TestBuild over_the_driver() const {
    const std::string create =
        "extern int cuInit(unsigned);extern int cuModuleLoadData(void**,const void*);"
        "void*module=0;int code=cuInit(0);if(code==0)code=cuModuleLoadData(&module,\"\");"
        "if(code!=0)return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",code,\"loading the kernels failed\");";
    return faulty_build({{"libengine_reference.so", plugin_that(create, {driver().native()})}});
  }
  RunOptions with(std::vector<std::string> environment) const {
    environment.push_back("LD_LIBRARY_PATH=" + driver().parent_path().native());
    RunOptions options;
    options.environment = std::move(environment);
    return options;
  }
  // Expects `code` from the real runtime over a driver whose cuInit returns `init`.
  void expect_answer(const std::string& init, const std::string& code) const {
    if (!has_runtime()) GTEST_SKIP() << "no CUDA 13 toolkit here: its runtime library is left out";
    expect_fault({over_the_runtime(), code, {}, with({"FAKE_CU_VERSION=13000", "FAKE_CU_INIT=" + init})});
  }
  // Expects that a build which is installed opens meanwhile, and that none is fetched for it: the next one
  // would meet the same driver.
  void expect_for_the_moment(const std::string& init, const std::string& code) const {
    if (!has_runtime()) GTEST_SKIP() << "no CUDA 13 toolkit here: its runtime library is left out";
    TestRepository repository(folder_ / "repository");
    repository.add(over_the_runtime());
    repository.add(good_build());
    repository.write();
    const RunOptions options = with({"FAKE_CU_VERSION=13000", "FAKE_CU_INIT=" + init});
    const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                                "--json"};
    const Workplace workplace;
    const Ended alone = workplace.info(arguments, options);
    EXPECT_EQ(alone.status, 6) << alone.said();
    EXPECT_EQ(alone.code(), code) << alone.said();
    std::vector<std::string> other = arguments;
    other.insert(other.end(), {"--require", "cpu"});
    ASSERT_EQ(workplace.info(other, options).status, 0);
    const Ended beside = workplace.info(arguments, options);
    EXPECT_EQ(beside.outcome()["build"].as_string(), "reference-good") << beside.said();
    EXPECT_TRUE(beside.outcome()["fallback"].as_bool());
    EXPECT_EQ(beside.candidate(over_the_runtime().id)["diagnosis"]["code"].as_string(), code);
  }
  TemporaryFolder folder_;
};

TEST_F(CudaRuntime, ReportsG03ForTheRealRuntimeOverAnOldDriver) {
  if (!has_runtime()) GTEST_SKIP() << "no CUDA 13 toolkit here: its runtime library is left out";
  expect_fault({over_the_runtime(), "EH-G03", {"11.8"}, with({"FAKE_CU_VERSION=11080"})});
}

TEST_F(CudaRuntime, ReportsG01ForTheRealRuntimeWithoutADriver) {
  if (!has_runtime()) GTEST_SKIP() << "no CUDA 13 toolkit here: its runtime library is left out";
  if (fs::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "this machine has an NVIDIA driver";
  expect_fault({over_the_runtime(), "EH-G01", {}});
}

// The runtime returns the same number; the machine shows that there is no driver.
TEST_F(CudaRuntime, ReportsG01WhereAnEngineBlamesAnOldDriver) {
  if (fs::exists("/proc/driver/nvidia/version")) GTEST_SKIP() << "this machine has an NVIDIA driver";
  const std::string create =
      "return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",35,\"CUDA driver version is insufficient for CUDA "
      "runtime version\");";
  TestBuild build = faulty_build({{"libengine_reference.so", plugin_that(create, {})}});
  expect_fault({build, "EH-G01", {"libcuda.so.1", "cpu build"}});
}

TEST_F(CudaRuntime, ReportsG03WithTheDriverVersion) {
  const std::string create =
      "return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",35,\"CUDA driver version is insufficient for CUDA "
      "runtime version\");";
  TestBuild build = faulty_build({{"libengine_reference.so", plugin_that(create, {})}});
  expect_fault({build, "EH-G03", {"CUDA 11.4", "driver_cuda"}, with({"FAKE_CU_VERSION=11040"})});
}

TEST_F(CudaRuntime, ReportsG07WithTheVariableThatHidesTheDevices) {
  const std::string create =
      "return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",100,\"no CUDA-capable device is detected\");";
  TestBuild build = faulty_build({{"libengine_reference.so", plugin_that(create, {})}});
  for (const char* hiding : {"", "-1"})
    expect_fault(
        {build,
         "EH-G07",
         {"visible_devices", "leaves no GPU visible"},
         with({"FAKE_CU_VERSION=12080", "FAKE_CU_INIT=100", std::string("CUDA_VISIBLE_DEVICES=") + hiding})});
}

TEST_F(CudaRuntime, ReportsG02ForAStubThatAnswers) { expect_answer("34", "EH-G02"); }

TEST_F(CudaRuntime, ReportsG07ForADriverWithoutDevices) { expect_answer("100", "EH-G07"); }

TEST_F(CudaRuntime, ReportsG09ForDifferentVersionsOfModuleAndLibrary) { expect_answer("803", "EH-G09"); }

TEST_F(CudaRuntime, ReportsG10ForForwardCompatibilityOnTheWrongGpu) { expect_answer("804", "EH-G10"); }

TEST_F(CudaRuntime, ReportsG11AsTransientForAFabricThatIsNotReady) { expect_for_the_moment("802", "EH-G11"); }

TEST_F(CudaRuntime, ReportsG12AsTransientForADeviceInUse) { expect_for_the_moment("46", "EH-G12"); }

TEST_F(CudaRuntime, ReportsG12AsTransientForAFullDevice) { expect_for_the_moment("2", "EH-G12"); }

TEST_F(CudaRuntime, ReportsG13ForAnUnknownError) { expect_answer("999", "EH-G13"); }

// The driver query succeeds, and the engine meets the error that a forked process gets.
TEST_F(CudaRuntime, ReportsG14ForADriverUsedAfterFork) {
  const std::string create =
      "return call->fail(call,ENGINE_UNAVAILABLE,\"cuda\",3,\"initialization error\");";
  TestBuild build = faulty_build({{"libengine_reference.so", plugin_that(create, {})}});
  expect_fault({build, "EH-G14", {}, with({"FAKE_CU_VERSION=13000", "FAKE_CU_INIT=0"})});
}

// The driver query is a new program: no fork precedes it.
TEST_F(CudaRuntime, ReportsG13ForADriverThatNeverInitializes) { expect_answer("3", "EH-G13"); }

TEST_F(CudaRuntime, ReportsG05Case20ForNoKernelImage) {
  expect_fault({over_the_driver(), "EH-G05", {"loading the kernels failed"}, with({"FAKE_CU_MODULE=209"})});
}

TEST_F(CudaRuntime, ReportsG06ForPtxThatTheDriverCannotCompile) {
  expect_fault({over_the_driver(), "EH-G06", {}, with({"FAKE_CU_MODULE=222"})});
}

TEST_F(CudaRuntime, ReportsG13Case22WhenInitializationSucceedsAndUseFails) {
  expect_fault({over_the_driver(), "EH-G13", {}, with({"FAKE_CU_INIT=0", "FAKE_CU_MODULE=999"})});
}

TEST_F(CudaRuntime, ReportsG04ForAFunctionThatTheDriverLacks) {
  write_text(folder_ / "newer" / "libcuda.so.1",
             compile_library("int cuInventedLater(void) { return 0; }\n", {"-Wl,-soname,libcuda.so.1"}));
  const std::string user = compile_library(
      "int cuInventedLater(void);\nint use(void);\nint use(void) { return cuInventedLater(); }\n",
      {"-Wl,-soname,libuser.so", (folder_ / "newer" / "libcuda.so.1").native()});
  expect_fault({with_library("libuser.so", user), "EH-G04", {"cuInventedLater", "libuser.so"}, with({})});
}

TEST_F(CudaRuntime, ReportsG16ForACudaBuildThatOffersNoGpu) {
  TestRepository repository(folder_ / "repository");
  TestBuild build = faulty_build({{"libengine_reference.so", reference_plugin()}});
  build.flavor = "cu124";
  build.requirements = Json::object().set(
      "cuda",
      Json::object().set("toolkit", "12.4").set("sass", Json::strings({"8.6"})).set("ptx", Json::array()));
  repository.add(build);
  repository.write();
  const Ended run = Workplace().info(
      {"reference", "--device", "cuda:0", "--repository", repository.root().native(), "--json"},
      with({"FAKE_CU_VERSION=12040"}));
  EXPECT_EQ(run.outcome()["state"].as_string(), "failed") << run.said();
  EXPECT_EQ(run.code(), "EH-G16") << run.said();
  EXPECT_THAT(run.diagnosis().dump(), testing::HasSubstr("cpu:0"));
}

}  // namespace
}  // namespace enginehost::test
