// The key of a machine changes with everything that decides, and with nothing that changes by itself.
#include "host/platform/machine_key.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "host/binary/binary.hpp"
#include "tests/platform/fixtures.hpp"

namespace enginehost::platform {
namespace {

class MachineKey : public testing::Test {
 protected:
  MachineKey() {
    root_.file("/etc/os-release", "ID=debian\n")
        .file("/etc/ld.so.cache", "")
        .folder("/usr/lib")
        .folder("/dev");
    request_.root = root_.path();
    request_.cache_folder = root_.path();
  }
  std::string key(Reach reach = Reach::decisive) const { return machine_key(request_, reach); }
  void expect_changed_by(const char* what, const std::function<void()>& change) {
    const std::string before = key();
    EXPECT_EQ(before, key()) << what;
    change();
    EXPECT_NE(before, key()) << what;
  }

  FakeRoot root_;
  DetectRequest request_;
};

TEST_F(MachineKey, ChangesWithTheDriverItsDevicesAndItsLibraries) {
  expect_changed_by("driver", [&] { root_.file("/proc/driver/nvidia/version", "NVRM version: 535.1\n"); });
  expect_changed_by("its version",
                    [&] { root_.file("/proc/driver/nvidia/version", "NVRM version: 580.2\n"); });
  expect_changed_by("a card", [&] { root_.folder("/proc/driver/nvidia/gpus/0000:01:00.0"); });
  expect_changed_by("a device file", [&] { root_.file("/dev/nvidiactl", ""); });
  expect_changed_by("a library in a folder", [&] { root_.file("/usr/lib/libcuda.so.1", ""); });
  expect_changed_by("AMD's list", [&] { root_.file("/sys/class/kfd/kfd/topology/generation_id", "2\n"); });
  expect_changed_by("WSL's library", [&] { root_.file("/usr/lib/wsl/lib/libcuda.so.1", ""); });
}

// Where the kernel lists modules, one lookup shows that NVIDIA's is absent.
TEST_F(MachineKey, ChangesWithTheModuleOfTheDriver) {
  root_.folder("/sys/module");
  expect_changed_by("module", [&] { root_.folder("/sys/module/nvidia"); });
  expect_changed_by("its version", [&] { root_.file("/sys/module/nvidia/version", "535.1\n"); });
  expect_changed_by("what it says",
                    [&] { root_.file("/proc/driver/nvidia/version", "NVRM version: 535.1\n"); });
}

TEST_F(MachineKey, ChangesWithTheFirstAmdDevice) {
  expect_changed_by("device", [&] { root_.file("/dev/kfd", ""); });
}

TEST_F(MachineKey, NamesTheLibrariesOfTheProcessByTheirBuildIds) {
  const std::string words = machine_key_text(Reach::decisive);
  const auto files = files_in_machine_key_text(words);
  for (const char* name : {"/libc.so.6", "/libstdc++.so.6"}) {
    const auto file = std::find_if(files.begin(), files.end(),
                                   [&](const std::string& path) { return path.ends_with(name); });
    ASSERT_NE(file, files.end()) << name;
    const auto read = binary::read_binary(*file);
    ASSERT_TRUE(read);
    EXPECT_NE(words.find("loaded=" + *file + "\nas=" + read->build_id + "\n"), std::string::npos) << words;
    const auto looks = machine_inputs(request_, Reach::decisive);
    EXPECT_EQ(std::find(looks.begin(), looks.end(), MachineInput{MachineInput::What::stamp, *file}),
              looks.end());
  }
}

TEST_F(MachineKey, ChangesWithTheLoadersCacheAndTheSystem) {
  expect_changed_by("ldconfig", [&] { root_.file("/etc/ld.so.cache", "glibc-ld.so.cache1.1"); });
  expect_changed_by("an upgrade", [&] { root_.file("/etc/os-release", "ID=debian\nVERSION_ID=13\n"); });
  expect_changed_by("another boot", [&] { root_.file("/proc/sys/kernel/random/boot_id", "b\n"); });
}

TEST_F(MachineKey, ChangesWithTheVariablesOfLoadersAndRuntimesOnly) {
  const std::string before = key();
  {
    const Variable visible("CUDA_VISIBLE_DEVICES", "1");
    EXPECT_NE(before, key());
  }
  {
    const Variable preload("LD_PRELOAD_OF_A_TEST", "x");
    EXPECT_NE(before, key());
  }
  const Variable other("SOMETHING_ELSE", "1");
  EXPECT_EQ(before, key());
}

TEST_F(MachineKey, ChangesWithTheQueryProgramAndItsLauncher) {
  expect_changed_by("a helper", [&] { request_.helper = root_.on_disk("/helper"); });
  expect_changed_by("that is there", [&] { root_.file("/helper", "1"); });
  expect_changed_by("and is updated", [&] { root_.file("/helper", "22"); });
  expect_changed_by("a launcher", [&] { request_.helper_launcher = {"nice"}; });
  expect_changed_by("another cache", [&] { request_.cache_folder = "/dev/shm"; });
}

TEST(MachineInputs, AreTheFilesBesideTheKeyText) {
  DetectRequest request;
  request.helper = "/bin/sh";
  request.cache_folder = "/tmp";
  const auto looks = machine_inputs(request, Reach::decisive);
  const auto asks = [&](MachineInput::What what, const char* path) {
    return std::find(looks.begin(), looks.end(), MachineInput{what, path}) != looks.end();
  };
  EXPECT_TRUE(asks(MachineInput::What::stamp, "/bin/sh"));
  EXPECT_TRUE(asks(MachineInput::What::stamp, "/etc/ld.so.cache"));
  EXPECT_TRUE(asks(MachineInput::What::presence, "/dev/nvidiactl"));
  EXPECT_TRUE(asks(MachineInput::What::boot, "/proc/sys/kernel/random/boot_id"));
  EXPECT_TRUE(asks(MachineInput::What::noexec, "/tmp"));
  const std::string words = machine_key_text(Reach::decisive);
  EXPECT_EQ(words, machine_key_text(Reach::decisive));
  EXPECT_EQ(words.find("ld.so.cache"), std::string::npos);
  const Variable visible("CUDA_VISIBLE_DEVICES", "1");
  EXPECT_NE(words, machine_key_text(Reach::decisive));
}

// The result of the program below.
TEST(ProgramThatPrintsItsKey, DISABLED_PrintsItsKeyText) {
  std::ofstream(std::getenv("ENGINEHOST_TEST_TEXT")) << machine_key_text(Reach::decisive);
}

// The loader uses the value that the variable had at the start of the program, whatever happens to it later.
TEST_F(MachineKey, HoldsTheLoadersFoldersAsTheyWereAtTheStart) {
  root_.folder("/one").folder("/two");
  const auto loaders_folders = [&](const std::string& library_path) {
    ChildRequest child;
    child.argv = {executable_path(), "--gtest_filter=ProgramThatPrintsItsKey.*",
                  "--gtest_also_run_disabled_tests"};
    child.environment = {"ENGINEHOST_TEST_TEXT=" + root_.on_disk("/words").string()};
    if (!library_path.empty()) child.environment.push_back("LD_LIBRARY_PATH=" + library_path);
    const auto ended = run_child(child);
    EXPECT_TRUE(ended && ended->succeeded());
    const std::string words = read_file(root_.on_disk("/words")).value_or("");
    const std::size_t line = words.find("\nthe loader's folders=");
    EXPECT_NE(line, std::string::npos);
    return line != std::string::npos ? words.substr(line, words.find('\n', line + 1) - line) : "";
  };
  const std::string one = root_.on_disk("/one").string(), two = root_.on_disk("/two").string();
  const std::string none = loaders_folders("");
  EXPECT_NE(loaders_folders(one), none);
  EXPECT_NE(loaders_folders(one).find(one), std::string::npos);
  EXPECT_NE(loaders_folders(one + ":" + two), loaders_folders(two + ":" + one));
  EXPECT_EQ(loaders_folders(""), none);
  const Variable later("LD_LIBRARY_PATH", one.c_str());
  EXPECT_EQ(machine_key_text(Reach::decisive).find("the loader's folders=" + one), std::string::npos);
}

TEST_F(MachineKey, OfEverythingAlsoHoldsReportedFacts) {
  const std::string decisive = key(), everything = key(Reach::everything);
  EXPECT_NE(decisive, everything);
  root_.folder("/usr/local/cuda-12.9").file("/.dockerenv", "");
  EXPECT_EQ(decisive, key());
  EXPECT_NE(everything, key(Reach::everything));
}

TEST(Lifetime, IsShortWhenADriverDidNotGiveAllItsAnswers) {
  DetectRequest request;
  Platform platform = detect(request);
  platform.cuda = Cuda();
  platform.cuda.driver = Fact<std::string>::absent("nowhere");
  platform.cuda.library = Fact<Installed>::absent("nowhere");
  EXPECT_EQ(lifetime_seconds(platform), 24 * 60 * 60);
  platform.cuda.library = Fact<Installed>::known({"580.1", "/usr/lib/libcuda.so.1", ""}, "cache");
  platform.cuda.devices = Fact<std::vector<CudaDevice>>::unknown("the driver did not answer in 15 s");
  platform.cuda.driver_cuda = Fact<std::string>::unknown("the driver did not answer in 15 s");
  EXPECT_EQ(lifetime_seconds(platform), 10 * 60);
  platform.cuda.devices = Fact<std::vector<CudaDevice>>::known({}, "driver");
  platform.cuda.driver_cuda = Fact<std::string>::known("13.0", "driver");
  EXPECT_EQ(lifetime_seconds(platform), 24 * 60 * 60);
}

class Remembered : public testing::Test {
 protected:
  Remembered() {
    root_.folder("/state");
    request_.cache_folder = root_.path();
    platform_ = detect(request_);
    remember(platform_, "key", file_, now_);
  }
  FakeRoot root_;
  DetectRequest request_;
  Platform platform_;
  const std::filesystem::path file_ = root_.on_disk("/state/platform.json");
  static constexpr std::int64_t now_ = 1'790'000'000;
};

TEST_F(Remembered, FactsComeBackExceptVolatileOnes) {
  auto recalled = recall(request_, "key", file_, now_ + 60);
  ASSERT_TRUE(recalled);
  EXPECT_TRUE(recalled->memory.is_known());
  EXPECT_TRUE(recalled->disk.is_known());
  recalled->memory = platform_.memory;
  recalled->disk = platform_.disk;
  EXPECT_EQ(*recalled, platform_);
}

TEST_F(Remembered, FactsServeForTheirKeyAndTimeOnly) {
  EXPECT_FALSE(recall(request_, "another key", file_, now_ + 60));
  EXPECT_FALSE(recall(request_, "key", file_, now_ + 25 * 60 * 60));
  EXPECT_FALSE(recall(request_, "key", file_, now_ - 60));
  EXPECT_FALSE(recall(request_, "key", root_.on_disk("/state/none.json"), now_ + 60));
}

TEST_F(Remembered, OnlySlowAnswersServeAReport) {
  using namespace std::chrono_literals;
  EXPECT_FALSE(recall(request_, "key", file_, now_ + 60, 1s)) << "how long it took is not known";
  remember(platform_, "key", file_, now_, 999ms);
  EXPECT_FALSE(recall(request_, "key", file_, now_ + 60, 1s));
  remember(platform_, "key", file_, now_, 1s);
  EXPECT_TRUE(recall(request_, "key", file_, now_ + 60, 1s));
  EXPECT_FALSE(recall(request_, "another key", file_, now_ + 60, 1s));
  platform_.cuda.driver = Fact<std::string>::known("580.1", "here");
  platform_.cuda.devices = Fact<std::vector<CudaDevice>>::unknown("the driver did not answer");
  remember(platform_, "key", file_, now_, 20s);
  EXPECT_TRUE(recall(request_, "key", file_, now_ + 60, 1s)) << "a driver that hangs is asked once";
  EXPECT_TRUE(recall(request_, "key", file_, now_ + 60));
  EXPECT_FALSE(recall(request_, "key", file_, now_ + 601, 1s)) << "and again after ten minutes";
}

TEST_F(Remembered, FactsEndWhenAReadFileChanged) {
  root_.file("/libcuda.so.1", "a");
  platform_.cuda.library = Fact<Installed>::known({"1", root_.on_disk("/libcuda.so.1").native(), ""}, "here");
  remember(platform_, "key", file_, now_);
  ASSERT_TRUE(recall(request_, "key", file_, now_ + 60));
  root_.file("/libcuda.so.1", "another");
  EXPECT_FALSE(recall(request_, "key", file_, now_ + 60));
}

TEST_F(Remembered, FactsOfAnOlderProgramThatLackOneAreIgnored) {
  const Json whole = *parse_json(*read_file(file_), "platform.json");
  Json::Object older;
  for (const auto& [name, fact] : whole["platform"].as_object())
    if (name != "wsl") older.emplace_back(name, fact);
  ASSERT_TRUE(write_file(file_, Json(whole).set("platform", older).dump(), false));
  EXPECT_FALSE(recall(request_, "key", file_, now_ + 60));
}

TEST_F(Remembered, ADamagedFileIsIgnored) {
  root_.file("/state/platform.json", "{\"format\":1,\"key\":\"key\",");
  EXPECT_FALSE(recall(request_, "key", file_, now_ + 60));
}

}  // namespace
}  // namespace enginehost::platform
