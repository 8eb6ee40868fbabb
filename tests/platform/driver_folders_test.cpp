// The driver's library in the folders where systems and clouds keep it, and files that the loader would not
// take.
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "host/platform/driver_state.hpp"
#include "host/platform/parts.hpp"
#include "tests/platform/fixtures.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::platform {
namespace {

using test::library_folder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Fact<std::string> kernel_580 = Fact<std::string>::known("580.65.06", "/proc/driver/nvidia/version");

enum class State { usable, empty, other_class, dangling, text };
constexpr State states[] = {State::usable, State::empty, State::other_class, State::dangling, State::text};

// The sentence about the file.
const char* reason_of(State state) {
  switch (state) {
    case State::empty:
      return "is empty (0 bytes)";
    case State::other_class:
      return "is no library for this process: 32-bit";
    case State::dangling:
      return "is a link to a file that does not exist";
    case State::text:
      return "is no library";
    case State::usable:
      break;
  }
  return "";
}

void put(FakeRoot& machine, const std::string& folder, State state,
         const std::string& version = "580.65.06") {
  const std::string file = folder + "/libcuda.so." + version, link = folder + "/libcuda.so.1";
  if (state == State::usable) machine.copy(file, FAKE_CUDA);
  if (state == State::empty) machine.file(file, "");
  if (state == State::text) machine.file(file, "version https://git-lfs.github.com/spec/v1\noid sha256:0\n");
  if (state == State::other_class) {
    std::string foreign(64, '\0');
    foreign.replace(0, 7, "\177ELF\001\001\001");
    foreign[16] = 3;
    foreign[18] = 3;  // i386
    foreign[20] = 1;
    machine.file(file, foreign);
  }
  machine.link(link, "libcuda.so." + version);
}

Fact<Installed> library_of(const FakeRoot& machine, const Fact<std::string>& driver = kernel_580) {
  const LibrarySearch libraries(machine.root());
  return driver_library(machine.root(), libraries, driver);
}

std::string triplet_folder() {
  std::string folder = library_folder;
  while (folder.back() == '/') folder.pop_back();
  return folder.starts_with("/usr") ? folder : "/usr" + folder;
}

class DriverFolder : public ::testing::TestWithParam<std::string> {
 protected:
  std::string folder() const {
    std::string text = GetParam();
    if (const std::size_t at = text.find("TRIPLET"); at != std::string::npos)
      text.replace(at, 7, triplet_folder());
    return text;
  }
};

TEST_P(DriverFolder, AUsableLibraryIsNamedAndAnyOtherIsNot) {
  for (const State state : states) {
    FakeRoot machine;
    put(machine, folder(), state);
    const Fact<Installed> fact = library_of(machine);
    if (state == State::usable) {
      ASSERT_TRUE(fact.is_known()) << folder() << ": " << fact.source();
      EXPECT_EQ(fact.value(),
                (Installed{"580.65.06", folder() + "/libcuda.so.1", std::string(not_searched_note)}));
      EXPECT_EQ(fact.source(), folder());
    } else {
      ASSERT_TRUE(fact.is_absent()) << fact.value().path;
      EXPECT_THAT(fact.source(), HasSubstr(folder() + "/libcuda.so.1 " + reason_of(state)));
      EXPECT_THAT(fact.source(), Not(HasSubstr("libraries are missing")));
    }
  }
}

TEST_P(DriverFolder, WhatTheLoaderFindsComesFirst) {
  for (const State state : states) {
    FakeRoot machine;
    put(machine, folder(), State::usable);
    put(machine, triplet_folder(), state);
    const Fact<Installed> fact = library_of(machine);
    ASSERT_TRUE(fact.is_known()) << fact.source();
    const std::string found = std::filesystem::path(fact.value().path).parent_path();
    if (state == State::usable) {
      EXPECT_NE(found, folder());
      // Only WSL has that folder, and there a Linux package hides the library of Windows.
      EXPECT_EQ(fact.value().note,
                folder() == wsl_folder ? "hides /usr/lib/wsl/lib/libcuda.so.1, the driver of Windows" : "");
    } else if (state == State::empty) {  // the loader fails there
      EXPECT_NE(found, folder());
      EXPECT_EQ(fact.value().note, empty_note);
    } else {
      EXPECT_EQ(found, folder());
    }
  }
}

TEST_P(DriverFolder, NvmlIsFoundThereToo) {
  FakeRoot machine;
  machine.copy(folder() + "/libnvidia-ml.so.1", FAKE_NVML);
  const LibrarySearch libraries(machine.root());
  EXPECT_EQ(find_nvml(machine.root(), libraries), folder() + "/libnvidia-ml.so.1");
}

INSTANTIATE_TEST_SUITE_P(Known, DriverFolder,
                         ::testing::Values("/usr/lib/wsl/lib", "/run/opengl-driver/lib",
                                           "/usr/local/nvidia/lib64", "/var/lib/nvidia/lib64",
                                           "/usr/lib64-nvidia", "/.singularity.d/libs",
                                           "TRIPLET/nvidia/current", "TRIPLET/GL/nvidia-580-65-06/lib",
                                           "/var/lib/snapd/lib/gl"));

TEST(DriverFolders, TheOneOfTheKernelsVersionIsTaken) {
  FakeRoot machine;
  const std::string extensions = triplet_folder() + "/GL/";
  put(machine, extensions + "nvidia-535-104-05/lib", State::usable, "535.104.05");
  put(machine, extensions + "nvidia-580-65-06/lib", State::usable);
  EXPECT_EQ(library_of(machine).value().path, extensions + "nvidia-580-65-06/lib/libcuda.so.1");
  const Fact<Installed> other =
      library_of(machine, Fact<std::string>::known("570.124.06", "/proc/driver/nvidia/version"));
  EXPECT_THAT(other.value().note,
              AllOf(HasSubstr(not_searched_note), HasSubstr("the kernel driver is 570.124.06")));
}

TEST(DriverFolders, AFolderOfAnotherKindIsNotTaken) {
  FakeRoot machine;
  put(machine, "/opt/somewhere", State::usable);
  put(machine, triplet_folder() + "/GL/default/lib", State::usable);
  EXPECT_TRUE(library_of(machine).is_absent());
  EXPECT_THAT(library_of(machine).source(), HasSubstr("its libraries are missing"));
}

TEST(SkippedLibrary, IsReportedWithItsReason) {
  for (const State state : states) {
    FakeRoot machine;
    put(machine, triplet_folder(), state);
    const Fact<Installed> fact = library_of(machine);
    if (state == State::usable) {
      EXPECT_EQ(fact.value().note, "");
    } else if (state == State::empty) {
      ASSERT_TRUE(fact.is_known());
      EXPECT_EQ(fact.value().note, empty_note);
      EXPECT_EQ(fact.value().version, "");
    } else {
      ASSERT_TRUE(fact.is_absent());
      EXPECT_THAT(fact.source(), AllOf(HasSubstr(reason_of(state)), HasSubstr("; not in "),
                                       Not(HasSubstr("libraries are missing"))));
    }
  }
}

TEST(SkippedLibrary, IsUnreadableForAnotherUser) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every file";
  FakeRoot machine;
  put(machine, triplet_folder(), State::usable);
  std::filesystem::permissions(machine.on_disk(triplet_folder() + "/libcuda.so.580.65.06"),
                               std::filesystem::perms::none);
  EXPECT_THAT(library_of(machine).source(), HasSubstr("cannot be read (Permission denied)"));
}

TEST(SkippedLibrary, OfAnotherClassDoesNotEndTheSearchAsAnEmptyOneDoes) {
  for (const State state : {State::other_class, State::dangling, State::empty, State::text}) {
    FakeRoot machine;
    put(machine, triplet_folder(), state);
    machine.copy("/usr/lib/libcuda.so.1", FAKE_CUDA);
    const LibrarySearch libraries(machine.root());
    std::vector<SkippedFile> skipped;
    const bool found = libraries.find("libcuda.so.1", &skipped).has_value();
    EXPECT_EQ(found, state == State::other_class || state == State::dangling) << reason_of(state);
    ASSERT_FALSE(skipped.empty());
    EXPECT_THAT(skipped.front().why, HasSubstr(reason_of(state)));
  }
}

TEST(EmptyLibrary, IsNoDriverToAsk) {
  FakeRoot machine;
  machine.pci("0000:01:00.0", "0x10de", "0x20b2", "0x030200");
  put(machine, triplet_folder(), State::empty);
  DetectRequest request;
  request.root = machine.path();
  request.helper = ENGINEHOST_PROBE;
  const Cuda cuda = detect(request).cuda;
  EXPECT_TRUE(cuda.driver_cuda.is_absent());
  EXPECT_THAT(cuda.driver_cuda.source(), HasSubstr("is empty (0 bytes)"));
  EXPECT_TRUE(cuda.devices.is_unknown());
}

}  // namespace
}  // namespace enginehost::platform
