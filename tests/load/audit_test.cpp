// Whether the libraries of a build came from the build, with files that are really there.
#include "host/load/in_process/audit.hpp"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "host/load/in_process/loaded.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::load {
namespace {

class Audit : public ::testing::Test {
 protected:
  Audit() {
    build_ = workshop_.library("build/libmath.so.1", "int math(void) { return 1; }", "-Wl,-soname,libmath.so.1");
    foreign_ = workshop_.library("foreign/libmath.so.1", "int math(void) { return 2; }", "-Wl,-soname,libmath.so.1");
    own_ = {{"libmath.so.1", build_.native(), "cache"}};
  }
  ~Audit() override {
    ::unsetenv("LD_PRELOAD");
    ::unsetenv("LD_LIBRARY_PATH");
  }
  Library foreign() const { return {"libmath.so.1", foreign_.native(), {}}; }

  faults::Workshop workshop_;
  std::filesystem::path build_, foreign_;
  std::vector<Library> own_;
};

TEST_F(Audit, TheBuildsOwnFilesAreNoHijack) { EXPECT_TRUE(hijacked(own_, own_, {}).empty()); }

TEST_F(Audit, AForeignFileOfTheNameIsToldWithBothPathsAndTheVariable) {
  ::setenv("LD_LIBRARY_PATH", foreign_.parent_path().c_str(), 1);
  const auto found = hijacked(own_, {foreign()}, {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-L11");
  EXPECT_EQ(found[0].value("library"), "libmath.so.1");
  EXPECT_EQ(found[0].value("path"), foreign_.native());
  EXPECT_EQ(found[0].value("wanted"), build_.native());
  EXPECT_EQ(found[0].value("by"), "LD_LIBRARY_PATH");
}

TEST_F(Audit, WhatWasLoadedFirstServesEvenWhenTheBuildsOwnIsThereToo) {
  EXPECT_EQ(hijacked(own_, {foreign(), own_[0]}, {}).size(), 1u);
  EXPECT_TRUE(hijacked(own_, {own_[0], foreign()}, {}).empty());
}

TEST_F(Audit, ACopyThatTheProcessHadBeforeIsAnotherCode) {
  const auto found = hijacked(own_, {foreign()}, {foreign()});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-L17");
  EXPECT_EQ(found[0].value("by"), "the process had it before");
}

TEST_F(Audit, WhatLdPreloadBroughtIsToldAsSuch) {
  ::setenv("LD_PRELOAD", ("libother.so " + foreign_.native()).c_str(), 1);
  const auto found = hijacked(own_, {foreign()}, {foreign()});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-L11");
  EXPECT_EQ(found[0].value("by"), "LD_PRELOAD");
  std::vector<Library> libraries = {foreign(), {"", "/usr/lib/other/libother.so", ""}, {"", "/usr/lib/libc.so.6", ""}};
  find_origins(libraries, build_.parent_path());
  EXPECT_EQ(libraries[0].origin, "environment");
  EXPECT_EQ(libraries[1].origin, "environment") << "named without a path";
  EXPECT_EQ(libraries[2].origin, "system");
}

TEST_F(Audit, ACopyOfTheSameBytesIsNoHijack) {
  const auto copy = workshop_.file("copy/libmath.so.1", "");
  std::filesystem::copy_file(build_, copy, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(hijacked(own_, {{"libmath.so.1", copy.native(), {}}}, {}).empty());
}

TEST_F(Audit, TheDriversLibrariesMayComeFromTheSystem) {
  const std::vector<Library> bundled = {{"libcuda.so.1", build_.native(), "cache"},
                                        {"libdxcore.so", build_.native(), "cache"}};
  EXPECT_TRUE(hijacked(bundled,
                       {{"libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.535.104.05", {}},
                        {"libdxcore.so", "/usr/lib/wsl/lib/libdxcore.so", {}}},
                       {})
                  .empty());
  EXPECT_TRUE(belongs_to_the_driver("/usr/lib/libnvidia-ml.so.1"));
  EXPECT_TRUE(belongs_to_the_driver("/usr/lib/wsl/drivers/nv_dispi.inf/libcuda_loader.so"));
  EXPECT_FALSE(belongs_to_the_driver("/usr/lib/libcudart.so.12"));
}

TEST_F(Audit, TheRealLoaderIsToldOnWhenAForeignCopyWasThereFirst) {
  const auto before = mapped_libraries();
  void* theirs = ::dlopen(foreign_.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* ours = ::dlopen(build_.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(theirs != nullptr && ours != nullptr);
  EXPECT_EQ(hijacked(own_, mapped_libraries(), before).size(), 1u);
  ::dlclose(ours);
  ::dlclose(theirs);
}

}  // namespace
}  // namespace enginehost::load
