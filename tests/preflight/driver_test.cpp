// The NVIDIA driver's library: missing for different reasons, or replaced by a stub.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <tuple>

#include "host/platform/driver_state.hpp"
#include "tests/preflight/helpers.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::HasSubstr;

class Driver : public ::testing::Test {
 protected:
  // A library that needs libcuda.so.1, which does not exist.
  std::filesystem::path needs_driver() {
    const auto driver =
        workshop_.library("libcuda.so.1", "int cuInit(unsigned f){return 0;}", "-Wl,-soname,libcuda.so.1");
    const auto engine =
        workshop_.library("e/libengine.so", "int cuInit(unsigned);int e(void){return cuInit(0);}",
                          "-L" + faults::quoted(workshop_.folder()) + " -l:libcuda.so.1");
    workshop_.remove(driver);
    return engine;
  }
  Report judged(const platform::Platform& platform) {
    Spec spec = alone(needs_driver());
    spec.platform = &platform;
    // The machine that runs this test may have a driver; the described one has none.
    spec.machine.cache = linker::LoaderCache();
    spec.machine.default_directories = {std::string("/lib/") + test::multiarch};
    spec.machine.library_path.clear();
    return check(spec);
  }
  faults::Workshop workshop_;
};

TEST_F(Driver, WithoutAGpuThereIsNothingToInstall) {
  platform::Platform platform;
  platform.cuda.hardware = platform::Fact<std::string>::absent("/sys/bus/pci/devices");
  const Report report = judged(platform);
  ASSERT_EQ(first_code(report), "EH-G01");
  const std::string text = explain::describe(report.diagnoses.front());
  EXPECT_THAT(text, HasSubstr("no NVIDIA GPU"));
  EXPECT_THAT(text, HasSubstr("use a cpu build"));
}

TEST_F(Driver, WithAGpuTheDriverIsToBeInstalled) {
  platform::Platform platform;
  platform.cuda.hardware = platform::Fact<std::string>::known("10de:2684", "/sys/bus/pci/devices");
  const Report report = judged(platform);
  ASSERT_EQ(first_code(report), "EH-G01");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("install the NVIDIA driver (Debian"));
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("10de:2684"));
  platform.os = platform::Fact<std::string>::known("windows", "record");
  Diagnosis on_windows = platform::why_no_driver(platform);
  EXPECT_THAT(explain::render(on_windows).remedy,
              ::testing::Contains(HasSubstr("install the NVIDIA driver for Windows")));
  EXPECT_THAT(explain::render(on_windows).remedy, ::testing::Each(::testing::Not(HasSubstr("Debian"))));
}

TEST_F(Driver, InAContainerItIsStartedWithAccessToTheGpu) {
  platform::Platform platform;
  platform.container = platform::Fact<std::string>::known("docker", "/.dockerenv");
  const Report report = judged(platform);
  ASSERT_EQ(first_code(report), "EH-G01");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("--gpus all"));
}

TEST_F(Driver, AnUnknownMachineIsNotCalledOneWithoutAGpu) {
  const Report report = judged(platform::Platform());
  ASSERT_EQ(first_code(report), "EH-G01");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), ::testing::Not(HasSubstr("no NVIDIA GPU")));
}

TEST_F(Driver, InAFolderThatIsNotSearchedIsG15AndTheFolderIsNamed) {
  using platform::Fact;
  for (const char* folder : {"/usr/lib/wsl/lib", "/run/opengl-driver/lib", "/usr/local/nvidia/lib64",
                             "/usr/lib64-nvidia", "/.singularity.d/libs"}) {
    platform::Platform platform;
    platform.cuda.driver = Fact<std::string>::known("580.65.06", "/proc/driver/nvidia/version");
    platform.cuda.library = Fact<platform::Installed>::known(
        {"580.65.06", std::string(folder) + "/libcuda.so.1", "the loader does not look there"}, folder);
    const Report report = judged(platform);
    ASSERT_EQ(first_code(report), "EH-G15");
    const std::string text = explain::describe(report.diagnoses.front());
    EXPECT_THAT(text, HasSubstr(std::string("libcuda.so.1 is in ") + folder));
    EXPECT_THAT(text, HasSubstr(std::string("LD_LIBRARY_PATH=") + folder));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("install the NVIDIA driver")));
    platform.cuda.library = Fact<platform::Installed>::known(
        {"570.00.01", std::string(folder) + "/libcuda.so.1", "the loader does not look there"}, folder);
    EXPECT_EQ(first_code(judged(platform)), "EH-G09") << "the kernel would refuse it";
  }
}

TEST_F(Driver, WithoutItsModuleOrAfterAnErrorIsWarnedOf) {
  const auto library =
      workshop_.library("d/libcuda.so.1", "int cuInit(unsigned f){return 0;}", "-Wl,-soname,libcuda.so.1");
  const auto engine =
      workshop_.library("e/libengine.so", "int cuInit(unsigned);int e(void){return cuInit(0);}",
                        "-L" + faults::quoted(library.parent_path()) + " -l:libcuda.so.1");
  using Text = platform::Fact<std::string>;
  for (const auto& [kernel, init, code] : {std::tuple{"", "100", "EH-G21"},
                                           {"580.65.06", "803", "EH-G09"},
                                           {"580.65.06", "804", "EH-G10"},
                                           {"580.65.06", "3", "EH-G13"},
                                           {"580.65.06", "0", ""}}) {
    platform::Platform platform;
    platform.os = Text::known("linux", "this program");
    platform.cuda.driver = *kernel != 0 ? Text::known(kernel, "/proc") : Text::absent("/proc");
    platform.cuda.init = Text::known(init, "cuInit");
    platform.cuda.hardware = Text::known("10de:2684", "/sys/bus/pci/devices");
    platform.cuda.library =
        platform::Fact<platform::Installed>::known({"580.65.06", library.native(), ""}, "LD_LIBRARY_PATH");
    Spec spec = alone(engine);
    spec.platform = &platform;
    spec.machine.library_path = {library.parent_path().native()};
    const Report report = check(spec);
    for (const char* one : {"EH-G09", "EH-G10", "EH-G13", "EH-G21"})
      EXPECT_EQ(find(report.warnings, one) != nullptr, std::string_view(one) == code) << init << one;
  }
}

TEST_F(Driver, OfALinuxPackageInWslIsG20) {
  const auto library =
      workshop_.library("d/libcuda.so.1", "int cuInit(unsigned f){return 0;}", "-Wl,-soname,libcuda.so.1");
  const auto engine =
      workshop_.library("e/libengine.so", "int cuInit(unsigned);int e(void){return cuInit(0);}",
                        "-L" + faults::quoted(library.parent_path()) + " -l:libcuda.so.1");
  for (const char* version : {"535.183.01", ""}) {
    platform::Platform platform;
    platform.wsl = platform::Fact<std::string>::known("2", "kernel release");
    platform.cuda.library =
        platform::Fact<platform::Installed>::known({version, library.native(), ""}, "LD_LIBRARY_PATH");
    Spec spec = alone(engine);
    spec.platform = &platform;
    spec.machine.library_path = {library.parent_path().native()};
    const Report report = check(spec);
    const Diagnosis* const warning = find(report.warnings, "EH-G20");
    EXPECT_EQ(warning != nullptr, *version != '\0') << "Windows's library has no version";
    if (warning != nullptr) {
      EXPECT_THAT(explain::describe(*warning), HasSubstr("update the driver in Windows only"));
    }
  }
}

TEST_F(Driver, ARemedyFitsTheKindOfMachine) {
  struct Case {
    const char *wsl, *container, *said;
  };
  for (const Case& one :
       {Case{nullptr, "docker", "--gpus all"},
        {nullptr, "podman", "nvidia.com/gpu=all"},
        {nullptr, "apptainer", "--nv"},
        {nullptr, "kubernetes", "nvidia.com/gpu: 1"},
        {nullptr, "crio", "access to the host's GPU"},
        {nullptr, "flatpak", "flatpak install org.freedesktop.Platform.GL.nvidia-580-65-06"},
        {nullptr, "snap", "snap connect NAME:opengl"},
        {"2", nullptr, "install the NVIDIA driver in Windows"},
        {"2", "docker", "--gpus all"}}) {
    platform::Platform platform;
    platform.cuda.driver = platform::Fact<std::string>::known("580.65.06", "/proc");
    if (one.wsl != nullptr) platform.wsl = platform::Fact<std::string>::known(one.wsl, "kernel release");
    if (one.container != nullptr)
      platform.container = platform::Fact<std::string>::known(one.container, "mark");
    const Report report = judged(platform);
    ASSERT_EQ(first_code(report), "EH-G01");
    const std::string text = explain::describe(report.diagnoses.front());
    EXPECT_THAT(text, HasSubstr(one.said));
    EXPECT_THAT(text, ::testing::Not(HasSubstr("(Debian: the package nvidia-driver)"))) << one.said;
  }
}

TEST_F(Driver, AToolkitsStubIsG02AndItsFolderIsNamed) {
  const auto stub = workshop_.library("cuda/lib64/stubs/libcuda.so.1", "int cuInit(unsigned f){return 34;}",
                                      "-Wl,-soname,libcuda.so.1");
  const auto engine =
      workshop_.library("e/libengine.so", "int cuInit(unsigned);int e(void){return cuInit(0);}",
                        "-L" + faults::quoted(stub.parent_path()) + " -l:libcuda.so.1");
  Spec spec = alone(engine);
  spec.machine.library_path = {stub.parent_path().native()};
  spec.machine.library_path_text = stub.parent_path().native();
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-G02");
  EXPECT_THAT(explain::describe(report.diagnoses.front()),
              HasSubstr("take " + stub.parent_path().native() + " out of LD_LIBRARY_PATH"));
}

// The library is an empty file, as the container runtime of NVIDIA leaves it in a saved image.
struct Emptied {
  const char* library;
  const char* container;  // nullptr: outside a container
  const char* remedy;
};

class EmptyDriver : public Driver, public ::testing::WithParamInterface<Emptied> {};

TEST_P(EmptyDriver, IsG19AndTheContainerIsStartedAgain) {
  const auto& [name, container, remedy] = GetParam();
  const auto library = workshop_.library(std::string("d/") + name, "int cuInit(unsigned f){return 0;}",
                                         std::string("-Wl,-soname,") + name);
  const auto engine =
      workshop_.library("e/libengine.so", "int cuInit(unsigned);int e(void){return cuInit(0);}",
                        "-L" + faults::quoted(library.parent_path()) + " -l:" + name);
  std::filesystem::resize_file(library, 0);
  platform::Platform platform;
  if (container != nullptr)
    platform.container = platform::Fact<std::string>::known(container, "/proc/1/cgroup");
  Spec spec = alone(engine);
  spec.platform = &platform;
  spec.machine.library_path = {library.parent_path().native()};
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-G19");
  const std::string text = explain::describe(report.diagnoses.front());
  EXPECT_THAT(text, HasSubstr(library.native() + " is empty"));
  EXPECT_THAT(text, HasSubstr(remedy));
}

INSTANTIATE_TEST_SUITE_P(Libraries, EmptyDriver,
                         ::testing::Values(Emptied{"libcuda.so.1", "docker", "--gpus all"},
                                           Emptied{"libcuda.so.1", "podman", "nvidia.com/gpu=all"},
                                           Emptied{"libnvidia-ml.so.1", "kubernetes", "nvidia.com/gpu: 1"},
                                           Emptied{"libcuda.so.1", nullptr, "remove "}));

TEST_F(Driver, AnEmptyLibraryOfAnotherProductStaysF02) {
  const auto library =
      workshop_.library("d/libother.so.1", "int cuInit(unsigned f){return 0;}", "-Wl,-soname,libother.so.1");
  const auto engine =
      workshop_.library("e/libengine.so", "int cuInit(unsigned);int e(void){return cuInit(0);}",
                        "-L" + faults::quoted(library.parent_path()) + " -l:libother.so.1");
  std::filesystem::resize_file(library, 0);
  Spec spec = alone(engine);
  spec.machine.library_path = {library.parent_path().native()};
  EXPECT_EQ(first_code(check(spec)), "EH-F02");
}

}  // namespace
}  // namespace enginehost::preflight
