// EH-G: an NVIDIA build on machines without a driver, with a stub, an old driver, or hidden devices. A small
// library is the fake driver; the machine has no driver, or its own is not used.
#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/reference_plugin.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

// A build for CUDA 12.4 beside the good one.
class CudaRepository {
 public:
  CudaRepository() : repository(workplace.folder() / "repository") {
    TestBuild build = faulty_build({{plugin, reference_plugin()}});
    build.id = "reference-cu124";
    build.flavor = "cu124";
    build.requirements = Json::object().set("cuda", Json::object()
                                                        .set("toolkit", "12.4")
                                                        .set("sass", Json::strings({"8.0", "8.6", "9.0"}))
                                                        .set("ptx", Json::array()));
    repository.add(build);
    repository.add(good_build());
    repository.write();
  }

  // Puts the fake driver where the loader finds it first.
  RunOptions with_driver(const std::string& folder, std::vector<std::string> environment) const {
    const auto file = workplace.folder() / folder / "libcuda.so.1";
    write_text(file, read_text(ENGINEHOST_FAKE_CUDA));
    environment.push_back("LD_LIBRARY_PATH=" + file.parent_path().native());
    RunOptions options;
    options.environment = std::move(environment);
    return options;
  }

  // Expects an open with another build, and with --require the class.
  void expect(const std::string& code, const RunOptions& options,
              const std::vector<std::string>& named) const {
    const std::vector<std::string> common = {"reference", "--repository", repository.root().native(),
                                             "--json"};
    const Ended run = workplace.info(common, options);
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
    EXPECT_EQ(run.candidate("reference-cu124")["verdict"].as_string(), "rejected") << run.said();
    std::vector<std::string> required = common;
    required.insert(required.end(), {"--require", "cu124"});
    const Ended failed = workplace.info(required, options);
    EXPECT_EQ(failed.status, 3) << failed.said();
    const std::string text = failed.diagnosis().dump() + failed.candidate("reference-cu124").dump();
    EXPECT_THAT(text, HasSubstr(code));
    for (const std::string& name : named) EXPECT_THAT(text, HasSubstr(name));
  }

  Workplace workplace;
  TestRepository repository;
};

// Runs the command where /dev has little more than that device, which no driver serves.
std::vector<std::string> with_device(const std::string& device, const std::string& mode,
                                     const std::string& as_whom) {
  return {"unshare",
          "-m",
          "sh",
          "-c",
          "mount --make-rprivate / && mount -t tmpfs tmpfs /dev && mknod -m 666 /dev/null c 1 3 && "
          "mknod -m 666 /dev/urandom c 1 9 && mknod -m " +
              mode + " " + device + " c 240 0 && exec " + as_whom + " \"$@\"",
          "sh"};
}

TEST(GpuFaults, G08ADeviceOfAmdThatCannotBeOpenedIsAWarning) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  const TemporaryFolder folder;
  const std::filesystem::path runtime = folder / "libamdhip64.so.6", user = folder / "libuser.so";
  write_text(runtime, compile_library("int x;\n", {"-Wl,-soname,libamdhip64.so.6"}));
  write_text(user, compile_library("int y;\n", {"-Wl,--no-as-needed", runtime.native(),
                                                "-Wl,-rpath," + folder.path().native()}));
  std::filesystem::permissions(folder.path(),
                               std::filesystem::perms::others_read | std::filesystem::perms::others_exec,
                               std::filesystem::perm_options::add);
  const Workplace workplace;
  const auto inspected = [&](const std::string& mode, const std::string& as_whom) {
    RunOptions options;
    options.launcher = with_device("/dev/kfd", mode, as_whom);
    const Ended run = workplace.info({"--inspect", user.native(), "--json"}, options);
    return run.status == 126 || run.status == 127 ? std::string() : run.output + run.error;
  };
  EXPECT_THAT(inspected("666", ""),
              testing::AllOf(testing::HasSubstr("EH-G08"), testing::HasSubstr("although its mode allows it"),
                             testing::Not(testing::HasSubstr("nvidia"))));
  const std::string other = inspected("660", "setpriv --reuid 65534 --regid 65534 --clear-groups");
  if (other.empty()) GTEST_SKIP() << "the build is closed to others";
  EXPECT_THAT(other,
              testing::AllOf(testing::HasSubstr("EH-G08"), testing::HasSubstr("Permission denied"),
                             testing::HasSubstr("render"), testing::Not(testing::HasSubstr("nvidia"))));
}

bool has_driver() { return std::filesystem::exists("/proc/driver/nvidia/version"); }

TEST(GpuFaults, G01TriesNoCudaBuildWithoutADriver) {
  if (has_driver()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  const CudaRepository made;
  made.expect("EH-G01", {}, {});
}

TEST(GpuFaults, ReportsG01ForAPluginThatLinksTheDriver) {
  if (has_driver()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  expect_fault({faulty_build({{plugin, plugin_that_needs({"libcuda.so.1"})}}), "EH-G01", {"libcuda.so.1"}});
}

TEST(GpuFaults, ReportsG02ForAStubOfTheDriver) {
  if (has_driver()) GTEST_SKIP() << "this machine has an NVIDIA driver";
  const CudaRepository made;
  made.expect("EH-G02", made.with_driver("lib/stubs", {"FAKE_CU_INIT=34"}), {"stubs"});
}

TEST(GpuFaults, ReportsG03WithBothDriverVersions) {
  const CudaRepository made;
  made.expect("EH-G03", made.with_driver("driver", {"FAKE_CU_VERSION=11040"}), {"11.4", "12"});
}

// This CUDA build's plugin offers only the processor. The probe finds out that the requested device is
// missing.
TEST(GpuFaults, ReportsG16WhenABuildForGpusOffersNone) {
  const CudaRepository made;
  const RunOptions options =
      made.with_driver("driver", {"FAKE_CU_VERSION=12040", "FAKE_GPUS=NVIDIA A100;8.0;a0;40960"});
  const Ended run = made.workplace.info(
      {"reference", "--repository", made.repository.root().native(), "--device", "gpu", "--json"}, options);
  EXPECT_EQ(run.candidate("reference-cu124")["diagnosis"]["code"].as_string(), "EH-G16") << run.said();
  EXPECT_EQ(run.candidate("reference-good")["diagnosis"]["code"].as_string(), "EH-S09") << run.said();
  EXPECT_EQ(run.status, 6) << run.said();
}

// The CPU build opens, and every open warns: by the decision, and by the cached decision.
TEST(GpuFaults, S24WarnsAtEveryOpenOfAnUnusedCard) {
  const CudaRepository made;
  const RunOptions options =
      made.with_driver("driver", {"FAKE_CU_VERSION=11040", "FAKE_GPUS=NVIDIA A100;8.0;a0;40960"});
  const std::vector<std::string> common = {"reference", "--repository", made.repository.root().native(),
                                           "--json"};
  for (int opened = 0; opened < 4; ++opened) {
    const Ended run = made.workplace.info(common, options);
    EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
    int reported = 0;
    for (const Json& text_and_more : run.document["warnings"].as_array()) {
      const Json& warning = text_and_more["diagnosis"];
      if (warning["code"].as_string() != "EH-S24") continue;
      ++reported;
      EXPECT_THAT(warning["cause"].as_string(), HasSubstr("NVIDIA A100"));
      EXPECT_THAT(warning["cause"].as_string(), HasSubstr("reference-cu124"));
      EXPECT_THAT(warning["remedy"].dump(), HasSubstr("engine-info --code EH-G03"));
    }
    EXPECT_EQ(reported, 1) << run.said();
    if (opened == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  }
  std::vector<std::string> processor = common;
  processor.insert(processor.end(), {"--flavor", "cpu"});
  EXPECT_THAT(made.workplace.info(processor, options).document["warnings"].dump(),
              testing::Not(HasSubstr("EH-S24")));
}

TEST(GpuFaults, ReportsG07WithTheVariableThatHidesDevices) {
  const CudaRepository made;
  made.expect("EH-G07", made.with_driver("driver", {"FAKE_CU_VERSION=12040", "CUDA_VISIBLE_DEVICES=-1"}),
              {"CUDA_VISIBLE_DEVICES"});
}

}  // namespace
}  // namespace enginehost::test
