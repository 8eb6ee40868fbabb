// The driver query, with libraries that stand in for NVIDIA's.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>

#include "base/files.hpp"
#include "host/binary/binary.hpp"
#include "host/platform/detect.hpp"
#include "tests/platform/fixtures.hpp"
#include "tests/support/freezer.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::platform {
namespace {

using test::library_folder;

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* two_cards = "Big GPU;8.0;a0;40960|Small GPU;7.5;b1;16384";

class Driver : public ::testing::Test {
 protected:
  Driver() {
    machine.pci("0000:01:00.0", "0x10de", "0x20b2", "0x030200");
    machine.copy(library_folder + "libcuda.so.535.104.05", FAKE_CUDA)
        .link(library_folder + "libcuda.so.1", "libcuda.so.535.104.05");
    request.root = machine.path();
    request.helper = ENGINEHOST_PROBE;
  }
  void with_nvml() { machine.copy(library_folder + "libnvidia-ml.so.1", FAKE_NVML); }
  Cuda ask() { return detect(request).cuda; }
  // A program that replaces the driver query.
  void helper_is(const std::string& script) {
    machine.file("/helper", "#!/bin/sh\n" + script);
    ::chmod(machine.on_disk("/helper").c_str(), 0755);
    request.helper = machine.on_disk("/helper");
  }

  FakeRoot machine;
  DetectRequest request;
  Variable visible{"CUDA_VISIBLE_DEVICES", nullptr};
};

TEST_F(Driver, ReportsVersionAndDevices) {
  const Variable cards("FAKE_GPUS", two_cards);
  with_nvml();
  const Cuda cuda = ask();
  EXPECT_EQ(cuda.driver_cuda.value(), "12.2");
  EXPECT_THAT(cuda.driver_cuda.source(), HasSubstr("libcuda.so.535.104.05"));
  EXPECT_EQ(cuda.driver.value(), "535.104.05");
  EXPECT_EQ(cuda.driver.source(), "nvmlSystemGetDriverVersion");
  EXPECT_EQ(cuda.init.value(), "0");
  EXPECT_TRUE(cuda.visible_devices.is_absent());
  ASSERT_THAT(cuda.devices.value(), SizeIs(2));
  EXPECT_EQ(
      cuda.devices.value()[0],
      (CudaDevice{0, "Big GPU", "8.0", "GPU-a0010203-0405-0607-0809-0a0b0c0d0e0f", 40960ull << 20, true}));
  EXPECT_EQ(cuda.devices.value()[1].compute_capability, "7.5");
}

// The loader of this process uses the value that the variable had at the start.
TEST_F(Driver, IsQueriedWithTheLoaderVariablesOfTheStart) {
  helper_is("echo \"<$LD_LIBRARY_PATH>\" >" + machine.on_disk("/printed").string() + "\n");
  ask();
  const std::string at_start = read_file(machine.on_disk("/printed")).value_or("");
  EXPECT_TRUE(at_start.starts_with("<"));
  const Variable since("LD_LIBRARY_PATH", "/set/since");
  ask();
  EXPECT_EQ(read_file(machine.on_disk("/printed")).value_or(""), at_start);
}

TEST_F(Driver, WithoutNvmlTheDriversListCounts) {
  const Cuda cuda = ask();
  ASSERT_THAT(cuda.devices.value(), SizeIs(1));
  EXPECT_EQ(cuda.devices.source(), "cuDeviceGet");
}

TEST_F(Driver, HiddenDevicesAreListedAsHidden) {
  const Variable cards("FAKE_GPUS", two_cards), list("CUDA_VISIBLE_DEVICES", "1");
  with_nvml();
  const Cuda cuda = ask();
  EXPECT_EQ(cuda.visible_devices.value(), "1");
  ASSERT_THAT(cuda.devices.value(), SizeIs(2));
  for (const CudaDevice& device : cuda.devices.value())
    EXPECT_EQ(device.visible, device.name == "Small GPU") << device.name;
}

TEST_F(Driver, AUuidPrefixChoosesByUuid) {
  const Variable cards("FAKE_GPUS", two_cards), list("CUDA_VISIBLE_DEVICES", "GPU-a00");
  with_nvml();
  const Cuda cuda = ask();
  ASSERT_THAT(cuda.devices.value(), SizeIs(2));
  for (const CudaDevice& device : cuda.devices.value())
    EXPECT_EQ(device.visible, device.name == "Big GPU") << device.name;
}

TEST_F(Driver, AReorderedListKeepsBothVisible) {
  const Variable cards("FAKE_GPUS", two_cards), list("CUDA_VISIBLE_DEVICES", "1,0");
  with_nvml();
  const Cuda cuda = ask();
  ASSERT_THAT(cuda.devices.value(), SizeIs(2));
  EXPECT_TRUE(cuda.devices.value()[0].visible);
  EXPECT_TRUE(cuda.devices.value()[1].visible);
  EXPECT_THAT(cuda.devices.source(), HasSubstr("CUDA_VISIBLE_DEVICES=\"1,0\""));
}

TEST_F(Driver, EmptyListHidesAllDevicesButNotTheDriver) {
  const Variable cards("FAKE_GPUS", two_cards);
  with_nvml();
  for (const char* list : {"", "-1"}) {
    const Variable hidden("CUDA_VISIBLE_DEVICES", list);
    const Cuda cuda = ask();
    EXPECT_EQ(cuda.driver_cuda.value(), "12.2") << list;
    EXPECT_EQ(cuda.visible_devices.value(), list);
    EXPECT_EQ(cuda.init.value(), "100");
    ASSERT_THAT(cuda.devices.value(), SizeIs(2));
    for (const CudaDevice& device : cuda.devices.value()) EXPECT_FALSE(device.visible);
    EXPECT_THAT(cuda.devices.source(), HasSubstr("cuInit said 100 (no CUDA-capable device is detected)"));
  }
}

TEST_F(Driver, NoDeviceWithoutNvmlIsAbsentWithTheDriversMessage) {
  const Variable answer("FAKE_CU_INIT", "100");
  const Cuda cuda = ask();
  EXPECT_TRUE(cuda.devices.is_absent());
  EXPECT_EQ(cuda.devices.source(), "cuInit said 100 (no CUDA-capable device is detected)");
  EXPECT_EQ(cuda.driver_cuda.value(), "12.2");
}

TEST_F(Driver, OtherAnswersOfInitAreUnknownNotAbsent) {
  for (const auto& [code, words] : {std::pair{"802", "system not yet initialized"},
                                    {"803", "unsupported display driver"},
                                    {"804", "forward compatibility"},
                                    {"999", "unknown error"},
                                    {"35", "insufficient"}}) {
    const Variable answer("FAKE_CU_INIT", code);
    const Cuda cuda = ask();
    EXPECT_TRUE(cuda.devices.is_unknown()) << code;
    EXPECT_THAT(cuda.devices.why(), HasSubstr(std::string("cuInit said ") + code));
    EXPECT_THAT(cuda.devices.why(), HasSubstr(words));
    EXPECT_EQ(cuda.init.value(), code);
  }
}

TEST_F(Driver, StubAnswerMarksTheLibrary) {
  const Variable answer("FAKE_CU_INIT", "34");
  const Cuda cuda = ask();
  EXPECT_EQ(cuda.library.value().note, "stub");
  EXPECT_TRUE(cuda.devices.is_unknown());
}

TEST_F(Driver, TheToolkitsRealStubIsAStub) {
  const std::string stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  const auto info = binary::read_binary(stub);
  if (!info || info->machine != test::architecture)
    GTEST_SKIP() << "no CUDA toolkit for this architecture here: " << stub;
  std::filesystem::remove(machine.on_disk(library_folder + "libcuda.so.535.104.05"));
  machine.copy(library_folder + "libcuda.so.535.104.05", stub);
  const Cuda cuda = ask();
  EXPECT_EQ(cuda.library.value().note, "stub");
  EXPECT_EQ(cuda.init.value(), "34");
  EXPECT_TRUE(cuda.driver_cuda.is_absent());
  EXPECT_THAT(cuda.driver_cuda.source(), HasSubstr("stub"));
}

TEST_F(Driver, ThatHangsIsUnknownWithinItsDeadline) {
  const Variable hang("FAKE_CU_HANG", "1");
  request.driver_deadline = milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  const Cuda cuda = ask();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(4));
  EXPECT_TRUE(cuda.devices.is_unknown());
  EXPECT_EQ(cuda.devices.why(), "the driver did not answer in 300 ms");
  EXPECT_TRUE(cuda.init.is_unknown());
  EXPECT_EQ(cuda.driver_cuda.value(), "12.2") << "read before the call that hung";
  EXPECT_EQ(cuda.hardware.value(), "10de:20b2");
}

TEST_F(Driver, Case23FactsBeforeADriverHangOrCrashAreKept) {
  const Variable cards("FAKE_GPUS", two_cards);
  with_nvml();
  request.driver_deadline = milliseconds(300);
  for (const auto& [variable, why] :
       {std::pair{"FAKE_CU_HANG", "the driver did not answer in 300 ms"},
        {"FAKE_CU_CRASH", "the driver's library crashed the probe (SIGSEGV)"}}) {
    const Variable set(variable, "1");
    const Cuda cuda = ask();
    EXPECT_TRUE(cuda.devices.is_unknown()) << "never: no GPU";
    EXPECT_EQ(cuda.devices.why(), std::string(why) + "; NVML lists Small GPU (7.5), Big GPU (8.0)");
    EXPECT_EQ(cuda.init.why(), why);
    EXPECT_EQ(cuda.driver.value(), "535.104.05");
    EXPECT_EQ(cuda.driver.source(), "nvmlSystemGetDriverVersion");
    EXPECT_EQ(cuda.driver_cuda.value(), "12.2");
  }
}

TEST_F(Driver, Case23AQueryThatSurvivesSigkillBlocksNobody) {
  const test::Freezer freezer;
  if (!freezer.works())
    GTEST_SKIP() << "there is no freezer of control groups here, or it is not ours to use";
  helper_is(freezer.line());
  request.driver_deadline = milliseconds(300);
  const auto begin = std::chrono::steady_clock::now();
  const Cuda cuda = ask();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
  EXPECT_TRUE(cuda.devices.is_unknown()) << "never: no GPU";
  EXPECT_EQ(cuda.devices.why(), "the driver did not answer in 300 ms and its process cannot be ended");
}

TEST_F(Driver, AnAnswerThatStopsAtTheDevicesIsIncomplete) {
  helper_is(
      "n=$3; printf '{\"nonce\":\"%s\",\"cuda\":{\"library\":{\"path\":\"/x\"},\"init\":{\"code\":0}}}\\n"
      "{\"nonce\":\"%s\",\"cuda\":{\"devices\":[{\"name\":\"One\"}]}}\\n{\"nonce' $n $n >&3; exit 9\n");
  const Cuda cuda = ask();
  EXPECT_EQ(cuda.devices.why(), "the probe ended with status 9");
  EXPECT_EQ(cuda.init.value(), "0");
  EXPECT_EQ(cuda.driver_cuda.why(), "the probe ended with status 9");
}

TEST_F(Driver, ThatCrashesDoesNotEndTheHost) {
  const Variable crash("FAKE_CU_CRASH", "1");
  const Cuda cuda = ask();
  EXPECT_EQ(cuda.devices.why(), "the driver's library crashed the probe (SIGSEGV)");
}

TEST_F(Driver, OutputOfALibraryIsNoAnswer) {
  const Variable chatter("FAKE_CU_CHATTER", "1");
  const Cuda cuda = ask();
  ASSERT_THAT(cuda.devices.value(), SizeIs(1));
  EXPECT_EQ(cuda.devices.value()[0].name, "Fake GPU");
}

TEST_F(Driver, AnAnswerWithAnotherNonceIsIgnored) {
  helper_is(
      "printf '{\"format\":1,\"nonce\":\"guess\",\"cuda\":{\"init\":{\"code\":0},\"devices\":[]}}' >&3\n");
  EXPECT_EQ(ask().devices.why(), "the probe ended without an answer");
}

TEST_F(Driver, TheErrorOutputOfAFailedQueryIsReported) {
  helper_is("echo 'cannot do that' >&2; exit 7\n");
  EXPECT_EQ(ask().devices.why(), "the probe ended with status 7: cannot do that");
}

TEST_F(Driver, AMissingQueryProgramIsReported) {
  request.helper = "/nonexistent/enginehost-probe";
  EXPECT_THAT(ask().devices.why(), HasSubstr("cannot be started"));
  request.helper.clear();
  EXPECT_EQ(ask().devices.why(), "there is no probe to query the driver");
}

TEST_F(Driver, TheLauncherPrecedesTheQueryProgram) {
  request.helper_launcher = {"/usr/bin/env", "FAKE_CU_VERSION=13000"};
  EXPECT_EQ(ask().driver_cuda.value(), "13.0");
}

TEST_F(Driver, NvmlMismatchLeavesTheDriversOwnList) {
  with_nvml();
  const Variable mismatch("FAKE_NVML_INIT", "18");
  const Cuda cuda = ask();
  EXPECT_THAT(cuda.devices.value(), SizeIs(1));
  EXPECT_TRUE(cuda.driver.is_absent());
}

TEST_F(Driver, NoLibraryMeansNoChildProcess) {
  std::filesystem::remove(machine.on_disk(library_folder + "libcuda.so.1"));
  helper_is("touch " + machine.on_disk("/was-started").native() + "\n");
  const Cuda cuda = ask();
  EXPECT_FALSE(std::filesystem::exists(machine.on_disk("/was-started")));
  EXPECT_TRUE(cuda.driver_cuda.is_absent());
  EXPECT_TRUE(cuda.devices.is_unknown()) << "the card is on the bus";
  std::filesystem::remove_all(machine.on_disk("/sys/bus/pci/devices/0000:01:00.0"));
  EXPECT_TRUE(ask().devices.is_absent());
}

TEST_F(Driver, TheQueryIsStartedOnceAndOnlyForALibrary) {
  helper_is("echo x >> " + machine.on_disk("/starts").native() + "\n");
  ask();
  std::ifstream starts(machine.on_disk("/starts"));
  const std::string text{std::istreambuf_iterator<char>(starts), {}};
  EXPECT_EQ(text, "x\n");
}

}  // namespace
}  // namespace enginehost::platform
