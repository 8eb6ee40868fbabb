// Whether the libraries of a build came from the build, with real files.
#include "host/load/in_process/loaded.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "host/explain/explain.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Audit : public ::testing::Test {
 protected:
  Audit() {
    build_ =
        workshop_.library("build/libmath.so.1", "int math(void) { return 1; }", "-Wl,-soname,libmath.so.1");
    foreign_ =
        workshop_.library("foreign/libmath.so.1", "int math(void) { return 2; }", "-Wl,-soname,libmath.so.1");
    own_ = {{"libmath.so.1", build_.native(), "cache"}};
  }
  ~Audit() override { ::unsetenv("LD_PRELOAD"); }
  Library foreign() const { return {"libmath.so.1", foreign_.native(), {}}; }

  faults::Workshop workshop_;
  std::filesystem::path build_, foreign_;
  std::vector<Library> own_;
};

TEST_F(Audit, TheBuildsOwnFilesAreNoHijack) { EXPECT_TRUE(hijacked(own_, {}, own_, {}).empty()); }

TEST_F(Audit, AForeignFileIsReportedWithBothPathsAndItsOrigin) {
  const auto found = hijacked(own_, {}, {foreign()}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-L11");
  EXPECT_EQ(found[0].value(Key::library), "libmath.so.1");
  EXPECT_EQ(found[0].value(Key::path), foreign_.native());
  EXPECT_EQ(found[0].value(Key::wanted), build_.native());
  EXPECT_EQ(found[0].value(Key::by), "the loader's search");
}

// The result of the program below.
TEST(ProgramThatAudits, DISABLED_PrintsTheOrigin) {
  const std::string foreign = std::getenv("ENGINEHOST_TEST_FOREIGN"),
                    build = std::getenv("ENGINEHOST_TEST_BUILD");
  ::setenv("LD_LIBRARY_PATH", "/elsewhere", 1);
  std::vector<Library> came = {{"libmath.so.1", foreign, {}}};
  const auto found = hijacked({{"libmath.so.1", build, "cache"}}, {}, came, {});
  find_sources(came, std::filesystem::path(build).parent_path());
  std::ofstream(std::getenv("ENGINEHOST_TEST_TEXT"))
      << (found.empty() ? "" : found[0].value(Key::by)) << ", " << came[0].origin;
}

TEST_F(Audit, TheVariableCountsAsOfTheStartOfTheProcess) {
  const auto reported = [&](const std::string& library_path) {
    ChildRequest child;
    child.argv = {executable_path(), "--gtest_filter=ProgramThatAudits.*", "--gtest_also_run_disabled_tests"};
    child.environment = {
        "ENGINEHOST_TEST_FOREIGN=" + foreign_.native(), "ENGINEHOST_TEST_BUILD=" + build_.native(),
        "ENGINEHOST_TEST_TEXT=" + workshop_.path("printed").native(), "LD_LIBRARY_PATH=" + library_path};
    const auto ended = run_child(child);
    EXPECT_TRUE(ended && ended->succeeded());
    return read_file(workshop_.path("printed")).value_or("");
  };
  const std::string folder = foreign_.parent_path().native();
  const std::string from_program =
      "$ORIGIN/" + foreign_.parent_path()
                       .lexically_relative(std::filesystem::path(executable_path()).parent_path())
                       .native();
  for (const std::string& library_path : {folder, "/none;" + folder, folder + "/:/none", from_program})
    EXPECT_EQ(reported(library_path), "LD_LIBRARY_PATH, environment") << library_path;
  for (const char* library_path : {"", "/none", "/none;/elsewhere"})
    EXPECT_EQ(reported(library_path), "the loader's search, system") << library_path;
}

TEST_F(Audit, TheFirstLoadedFileServesEvenBesideTheBuildsOwn) {
  EXPECT_EQ(hijacked(own_, {}, {foreign(), own_[0]}, {}).size(), 1u);
  EXPECT_TRUE(hijacked(own_, {}, {own_[0], foreign()}, {}).empty());
}

TEST_F(Audit, AnEarlierCopyOfTheProcessHasAnotherCode) {
  const auto found = hijacked(own_, {}, {foreign()}, {foreign()});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-L17");
  EXPECT_EQ(found[0].value(Key::by), "the process had it before");
}

TEST_F(Audit, AFileOfLdPreloadIsReportedAsSuch) {
  ::setenv("LD_PRELOAD", ("libother.so " + foreign_.native()).c_str(), 1);
  const auto found = hijacked(own_, {}, {foreign()}, {foreign()});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-L11");
  EXPECT_EQ(found[0].value(Key::by), "LD_PRELOAD");
  std::vector<Library> libraries = {
      foreign(), {"", "/usr/lib/other/libother.so", ""}, {"", "/usr/lib/libc.so.6", ""}};
  find_sources(libraries, build_.parent_path());
  EXPECT_EQ(libraries[0].origin, "environment");
  EXPECT_EQ(libraries[1].origin, "environment") << "named without a path";
  EXPECT_EQ(libraries[2].origin, "system");
}

TEST_F(Audit, ACopyOfTheSameBytesIsNoHijack) {
  const auto copy = workshop_.file("copy/libmath.so.1", "");
  std::filesystem::copy_file(build_, copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(hijacked(own_, {}, {{"libmath.so.1", copy.native(), {}}}, {}).empty());
}

TEST_F(Audit, TheDriversLibrariesMayComeFromTheSystem) {
  const std::vector<Library> bundled = {{"libcuda.so.1", build_.native(), "cache"},
                                        {"libdxcore.so", build_.native(), "cache"}};
  EXPECT_TRUE(hijacked(bundled, {},
                       {{"libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.535.104.05", {}},
                        {"libdxcore.so", "/usr/lib/wsl/lib/libdxcore.so", {}}},
                       {})
                  .empty());
  EXPECT_TRUE(belongs_to_the_driver("/usr/lib/libnvidia-ml.so.1"));
  EXPECT_TRUE(belongs_to_the_driver("/usr/lib/wsl/drivers/nv_dispi.inf/libcuda_loader.so"));
  EXPECT_FALSE(belongs_to_the_driver("/usr/lib/libcudart.so.12"));
}

TEST_F(Audit, TheRealLoaderUsesAForeignCopyThatWasThereFirst) {
  const std::vector<Library> before = mapped_libraries();
  void* theirs = ::dlopen(foreign_.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* ours = ::dlopen(build_.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(theirs != nullptr && ours != nullptr);
  EXPECT_EQ(hijacked(own_, {}, mapped_libraries(), before).size(), 1u);
  ::dlclose(ours);
  ::dlclose(theirs);
}

TEST_F(Audit, DistinguishesEarlierMappingsFromNewOnes) {
  const std::vector<Library> before = mapped_libraries();
  ASSERT_FALSE(before.empty());
  EXPECT_TRUE(mapped_since(before).empty());
  void* theirs = ::dlopen(foreign_.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(theirs, nullptr);
  const auto came = mapped_since(before);
  ASSERT_EQ(came.size(), 1u);
  EXPECT_EQ(came.front().path, foreign_.native());
  ::dlclose(theirs);
}

// An unloaded library moves all later ones up in the loader's list.
TEST_F(Audit, NewMappingsAreFoundThoughOthersWereRemoved) {
  void* theirs = ::dlopen(foreign_.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(theirs, nullptr);
  const std::vector<Library> before = mapped_libraries();
  ::dlclose(theirs);
  EXPECT_TRUE(mapped_since(before).empty());
  void* ours = ::dlopen(build_.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(ours, nullptr);
  const auto came = mapped_since(before);
  ASSERT_EQ(came.size(), 1u);
  EXPECT_EQ(came.front().path, build_.native());
  ::dlclose(ours);
}

// The loader uses such names for files of a relative folder of LD_LIBRARY_PATH.
TEST_F(Audit, ARelativeNameIsResolvedDespiteAChangedFolder) {
  const std::filesystem::path here = std::filesystem::current_path();
  const std::vector<Library> before = mapped_libraries();
  std::filesystem::current_path(foreign_.parent_path());
  void* theirs = ::dlopen("./libmath.so.1", RTLD_NOW | RTLD_LOCAL);
  std::filesystem::current_path(here);
  ASSERT_NE(theirs, nullptr);
  const auto came = mapped_since(before);
  EXPECT_TRUE(mapped_since(mapped_libraries()).empty());
  ::dlclose(theirs);
  ASSERT_EQ(came.size(), 1u);
  EXPECT_EQ(came.front().path, std::filesystem::canonical(foreign_).native());
  EXPECT_EQ(hijacked(own_, {}, came, {}).size(), 1u);
}

// Files from elsewhere are compared with the build's folders, whatever the build lists.
class AuditOfFolders : public ::testing::Test {
 protected:
  Library own(const std::string& name) { return {name, file("build/lib/" + name), "cache"}; }
  Library foreign(const std::string& name, const std::string& origin) {
    return {name, file("elsewhere/" + name), origin};
  }
  std::vector<Diagnosis> audit(const std::vector<Library>& came) {
    return hijacked({}, {workshop_.path("build"), workshop_.path("build/lib")}, came, {});
  }
  std::string file(const std::string& name) { return workshop_.file(name, name).native(); }
  faults::Workshop workshop_;
};

TEST_F(AuditOfFolders, L11AFileFromElsewhereInPlaceOfTheBuildsIsAHijack) {
  const std::string wanted = own("libblas.so.3").path;
  const auto found = audit({foreign("libblas.so.3", "system")});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].code, "EH-L11");
  EXPECT_EQ(found[0].value(Key::wanted), wanted);
  EXPECT_THAT(explain::describe(found[0]),
              HasSubstr("came from " + workshop_.path("elsewhere/libblas.so.3").native()));
}

TEST_F(AuditOfFolders, L11AFileOfTheEnvironmentIsReportedWithItsVariable) {
  const auto found = audit({foreign("libother.so.1", "environment")});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].value(Key::from_environment), "LD_LIBRARY_PATH");
  EXPECT_THAT(explain::describe(found[0]), HasSubstr("a folder of LD_LIBRARY_PATH"));
}

TEST_F(AuditOfFolders, TheSystemsOwnLibrariesAndTheBuildsAreNone) {
  EXPECT_THAT(audit({own("libblas.so.3"), foreign("libm.so.6", "system")}), IsEmpty());
}

TEST_F(AuditOfFolders, BothFilesInTheProcessAreNone) {
  const Library ours = own("libblas.so.3");
  EXPECT_THAT(audit({ours, foreign("libblas.so.3", "system")}), IsEmpty());
}

TEST_F(AuditOfFolders, Case07TheDriversLibrariesAreNone) {
  own("libcuda.so.1");
  EXPECT_THAT(audit({foreign("libcuda.so.1", "environment"),
                     foreign("libnvidia-ptxjitcompiler.so.1", "environment")}),
              IsEmpty());
}

}  // namespace
}  // namespace enginehost::load
