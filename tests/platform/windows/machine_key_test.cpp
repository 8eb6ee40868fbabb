// The key of a Windows machine changes with everything that decides, and the detected facts are remembered
// under it.
#include "host/platform/machine_key.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "tests/platform/variable.hpp"
#include "tests/platform/windows/fake_windows.hpp"
#include "tests/platform/windows/own_registry.hpp"

namespace enginehost::platform {
namespace {

class WindowsKey : public testing::Test {
 protected:
  WindowsKey() {
    request_.root = machine_.path();
    request_.cache_folder = machine_.path();
  }
  std::string key(Reach reach = Reach::decisive) const { return machine_key(request_, reach); }
  void expect_changed_by(const char* what, const std::function<void()>& change) {
    const std::string before = key();
    EXPECT_EQ(before, key()) << what;
    change();
    EXPECT_NE(before, key()) << what;
  }
  FakeWindows machine_;
  DetectRequest request_;
};

TEST_F(WindowsKey, ChangesWithDriverAndRuntimeLibraries) {
  expect_changed_by("a driver", [&] { machine_.dll(system_folder() + "\\nvcuda.dll", "driver"); });
  expect_changed_by("a runtime",
                    [&] { machine_.dll(system_folder() + "\\vcruntime140.dll", "runtime_2019"); });
  expect_changed_by("a newer one", [&] {
    std::filesystem::remove(machine_.root().on_disk(system_folder() + "\\vcruntime140.dll"));
    machine_.file(system_folder() + "\\vcruntime140.dll", "of another size");
  });
}

TEST_F(WindowsKey, ChangesWithTheRegistrysMachineUpdatesAndDevices) {
  OwnRegistry registry;
  request_.root = "/";
  const std::string version = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
  expect_changed_by("another machine",
                    [&] { registry.text("SOFTWARE\\Microsoft\\Cryptography", "MachineGuid", "a-b-c"); });
  expect_changed_by("a month's updates", [&] { registry.number(version, "UBR", 3007); });
  expect_changed_by("a card", [&] {
    registry.text("SYSTEM\\CurrentControlSet\\Services\\nvlddmkm\\Enum", "0", "PCI\\VEN_10DE&DEV_2503\\0");
  });
}

TEST_F(WindowsKey, ChangesWithTheVariablesOfLoadersAndRuntimesOnly) {
  const std::string before = key(), everything = key(Reach::everything);
  {
    const Variable visible("CUDA_VISIBLE_DEVICES", "1");
    EXPECT_NE(before, key());
  }
  {
    const Variable path("PATH", "C:\\somewhere else");
    EXPECT_EQ(before, key());
    EXPECT_NE(everything, key(Reach::everything)) << "toolkits are listed";
  }
  const Variable other("SOMETHING_ELSE", "1");
  EXPECT_EQ(before, key());
}

TEST_F(WindowsKey, ChangesWithTheQueryProgramAndItsLauncher) {
  expect_changed_by("a helper", [&] { request_.helper = machine_.path() / "helper.exe"; });
  expect_changed_by("that is there", [&] { test::write_text(request_.helper, "1"); });
  expect_changed_by("and is updated", [&] { test::write_text(request_.helper, "22"); });
  expect_changed_by("a launcher", [&] { request_.helper_launcher = {"cmd", "/c"}; });
  expect_changed_by("another cache", [&] { request_.cache_folder = machine_.path() / "other"; });
}

TEST_F(WindowsKey, FactsAreRememberedUnderItAndLiveADayWithoutADriver) {
  request_.root = "/";
  constexpr std::int64_t now = 1'790'000'000, day = 24 * 60 * 60;
  const std::filesystem::path file = machine_.path() / "platform.json";
  const Platform platform = detect(request_);
  remember(platform, "key", file, now);
  auto recalled = recall(request_, "key", file, now + 60);
  ASSERT_TRUE(recalled);
  recalled->memory = platform.memory;
  recalled->disk = platform.disk;
  EXPECT_EQ(*recalled, platform);
  EXPECT_FALSE(recall(request_, "another key", file, now + 60));
  const bool driver = !platform.cuda.library.is_absent() || platform.cuda.driver.is_known();
  EXPECT_EQ(lifetime_seconds(platform), driver ? 10 * 60 : day) << "nobody asked the driver";
}

}  // namespace
}  // namespace enginehost::platform
