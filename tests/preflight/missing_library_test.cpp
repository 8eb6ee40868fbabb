// A missing library that is installed after all, in a folder that the loader does not search.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"
#include "tests/preflight/real_opener.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* packages = "env/lib/python3.11/site-packages/";

class MissingLibrary : public ::testing::Test {
 protected:
  std::filesystem::path part(const std::string& file, const std::string& soname = "libpart.so.12") {
    return workshop_.library(file, "int part(void){return 1;}", "-Wl,-soname," + soname);
  }
  // A library that needs libpart.so.12 by name alone.
  std::filesystem::path user(const std::string& folder) {
    return workshop_.library(folder + "libuser.so", "int part(void);int use(void){return part();}",
                             faults::quoted(part("linked/libpart.so.12")));
  }
  Report judged(const std::filesystem::path& file, const std::string& library_path = {}) {
    Spec spec = alone(file);
    spec.platform = &platform_;
    spec.machine.library_path_text = library_path;
    spec.machine.library_path.clear();
    if (!library_path.empty()) spec.machine.library_path = {library_path};
    return check(spec);
  }

  faults::Workshop workshop_;
  RealOpener real_{workshop_};
  platform::Platform platform_;
};

TEST_F(MissingLibrary, L01TheWheelsAndTheEnvironmentOfTheFileAreLookedThrough) {
  const auto file = user(std::string(packages) + "onnxruntime/capi/");
  ASSERT_EQ(first_code(judged(file)), "EH-L01");
  EXPECT_EQ(judged(file).diagnoses.front().value(Key::elsewhere), "");
  for (const std::string& folder :
       {packages + std::string("nvidia/cublas/lib/"), packages + std::string("nvidia/cu13/lib/"),
        packages + std::string("torch/lib/"), packages + std::string("tensorrt_libs/"),
        std::string("env/lib/")}) {
    const auto library = part(folder + "libpart.so.12");
    const Diagnosis found = judged(file).diagnoses.front();
    EXPECT_EQ(found.value(Key::elsewhere), library.native());
    EXPECT_EQ(found.value(Key::ldconfig), "") << "an environment is no folder of the system";
    const std::string path(found.value(Key::library_path));
    EXPECT_THAT(explain::describe(found), HasSubstr("start the program with LD_LIBRARY_PATH=" + path));
    // The remedy helps.
    EXPECT_THAT(real_.error(file, ""), HasSubstr("libpart.so.12"));
    EXPECT_EQ(real_.error(file, path), "") << folder;
    std::filesystem::remove(library);
  }
}

TEST_F(MissingLibrary, L01TheActiveCondaEnvironmentIsLookedThrough) {
  const auto file = user("elsewhere/");
  const auto library = part("conda/lib/libpart.so.12");
  EXPECT_EQ(judged(file).diagnoses.front().value(Key::elsewhere), "");
  platform_.conda = platform::Fact<platform::Conda>::known({workshop_.path("conda").native(), "base"}, "");
  EXPECT_EQ(judged(file).diagnoses.front().value(Key::elsewhere), library.native());
  // The remedy keeps what the variable has already.
  const std::string before = workshop_.folder().native();
  EXPECT_EQ(judged(file, before).diagnoses.front().value(Key::library_path),
            workshop_.path("conda/lib").native() + ":$LD_LIBRARY_PATH");
}

TEST_F(MissingLibrary, L01FoldersOfTheSystemThatNeedLdconfigAreNamed) {
  const auto file = user("x/");
  std::filesystem::remove(workshop_.path("linked/libpart.so.12"));
  for (const char* folder : {"usr/local/lib", "usr/local/cuda-12.4/lib64", "opt/rocm-6.2.0/lib",
                             "opt/intel/oneapi/compiler/latest/lib"}) {
    const auto library = part(std::string(folder) + "/libpart.so.12");
    Spec spec = alone("/x/libuser.so");
    spec.machine.root = workshop_.folder();
    const Report report = check(spec);
    ASSERT_EQ(first_code(report), "EH-L01") << folder;
    EXPECT_EQ(report.diagnoses.front().value(Key::elsewhere), "/" + std::string(folder) + "/libpart.so.12");
    EXPECT_EQ(report.diagnoses.front().value(Key::ldconfig), "/" + std::string(folder));
    EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("and run ldconfig"));
    std::filesystem::remove(library);
  }
}

// CUDA 13 is installed, and 12 is needed.
TEST_F(MissingLibrary, L01AnotherReleaseThereCannotStandIn) {
  const auto file = user(std::string(packages) + "engine/");
  const auto newer = part(packages + std::string("nvidia/cu13/lib/libpart.so.13"), "libpart.so.13");
  workshop_.file(packages + std::string("nvidia/cublas/lib/libpart.so.12"), "no library");
  const Diagnosis found = judged(file).diagnoses.front();
  EXPECT_EQ(found.value(Key::elsewhere), "");
  EXPECT_THAT(found.values(Key::other_release), ElementsAre(newer.native()));
  EXPECT_THAT(explain::describe(found), HasSubstr("cannot stand in"));
}

// Packages of Debian and Fedora are no help on NixOS.
TEST_F(MissingLibrary, L01OnNixOsTheStoreIsNamed) {
  const auto file = workshop_.library(
      "libuser.so", "int use(void){return 1;}",
      "-Wl,--no-as-needed " + faults::quoted(part("linked/libhwloc.so.99", "libhwloc.so.99")));
  const auto remedies = [&](const char* id) {
    platform_.distribution =
        platform::Fact<platform::Distribution>::known({id, id, "24.05"}, "/etc/os-release");
    return explain::describe(judged(file).diagnoses.front());
  };
  EXPECT_THAT(remedies("debian"), HasSubstr("into a folder that the loader searches"));
  EXPECT_THAT(remedies("debian"), Not(HasSubstr("/nix/store")));
  EXPECT_THAT(remedies("nixos"), HasSubstr("/nix/store that has libhwloc.so.99"));
  EXPECT_THAT(remedies("nixos"), Not(HasSubstr("into a folder that the loader searches")));
}

}  // namespace
}  // namespace enginehost::preflight
