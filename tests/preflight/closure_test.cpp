// Which library needs which, and the searched places.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/preflight/helpers.hpp"
#include "tests/support/this_architecture.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ClosureCheck : public ::testing::Test {
 protected:
  // A library whose source is one function of that name.
  std::filesystem::path part(const std::string& name, const std::string& function,
                             const std::string& flags = {}) {
    return workshop_.library(name, "int " + function + "(void){return 1;}", flags);
  }
  std::string link(const std::filesystem::path& library) {
    return "-L" + faults::quoted(library.parent_path()) + " -l:" + library.filename().native() +
           " -Wl,--allow-shlib-undefined";
  }
  faults::Workshop workshop_;
};

TEST_F(ClosureCheck, AllMissingLibrariesAreNamedTogetherWithTheirNeeder) {
  const auto cudart = part("libcudart.so.11.0", "cudart", "-Wl,-soname,libcudart.so.11.0");
  const auto cublas = part("libcublas.so.11", "cublas", "-Wl,-soname,libcublas.so.11");
  const auto engine = workshop_.library(
      "e/libengine.so", "int cudart(void),cublas(void);int e(void){return cudart()+cublas();}",
      link(cudart) + " " + link(cublas) + " -Wl,-rpath,'$ORIGIN'");
  workshop_.remove(cudart);
  workshop_.remove(cublas);
  const Report report = check(alone(engine));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L01");
  EXPECT_THAT(report.diagnoses.front().values(Key::library),
              ElementsAre("libcudart.so.11.0", "libcublas.so.11"));
  EXPECT_EQ(report.diagnoses.front().value(Key::needed_by), engine.native());
  ASSERT_THAT(report.missing, SizeIs(2));
  EXPECT_FALSE(report.missing[0].searched.empty());
  const std::string text = explain::describe(report.diagnoses.front());
  EXPECT_THAT(text, HasSubstr("EH-L01  libengine.so needs libcudart.so.11.0, libcublas.so.11, "));
  // A machine with another release of CUDA has more to say.
  EXPECT_THAT(text, AnyOf(HasSubstr(", and no folder that the loader searches has them"),
                          HasSubstr(", which no folder that the loader searches has; ")));
  EXPECT_THAT(text, HasSubstr("nvidia-cuda-runtime-cu11"));
  EXPECT_THAT(text, HasSubstr("searched    " + engine.parent_path().native()));
}

TEST_F(ClosureCheck, AMissingLibraryFurtherDownComesWithItsChain) {
  const auto deep = part("libdeep.so.1", "deep", "-Wl,-soname,libdeep.so.1");
  const auto middle =
      workshop_.library("e/libmiddle.so", "int deep(void);int middle(void){return deep();}", link(deep));
  const auto engine = workshop_.library("e/libengine.so", "int middle(void);int e(void){return middle();}",
                                        link(middle) + " -Wl,-rpath,'$ORIGIN'");
  workshop_.remove(deep);
  const Report report = check(alone(engine));
  ASSERT_EQ(first_code(report), "EH-L02");
  EXPECT_EQ(report.diagnoses.front().value(Key::needed_by), middle.native());
  EXPECT_THAT(report.diagnoses.front().values(Key::chain), ElementsAre(engine.native(), middle.native()));
}

TEST_F(ClosureCheck, ALibraryThatAppearsChangesADependencyStamp) {
  const auto deep = part("libdeep.so.1", "deep", "-Wl,-soname,libdeep.so.1");
  const auto engine = workshop_.library("e/libengine.so", "int deep(void);int e(void){return deep();}",
                                        link(deep) + " -Wl,-rpath,'$ORIGIN'");
  workshop_.remove(deep);
  const Report report = check(alone(engine));
  EXPECT_THAT(report.depends_on, ::testing::Contains(workshop_.path("e/libdeep.so.1")));
  EXPECT_THAT(report.depends_on, ::testing::Contains(std::filesystem::path("/etc/ld.so.cache")));
}

// The folder that the loader searches first for libraries made for this processor.
TEST_F(ClosureCheck, AnAddedProcessorFolderChangesADependencyStamp) {
  const auto deep = part("libdeep.so.1", "deep", "-Wl,-soname,libdeep.so.1");
  const auto engine = workshop_.library("e/libengine.so", "int deep(void);int e(void){return deep();}",
                                        link(deep) + " -Wl,-rpath,'$ORIGIN'");
  workshop_.remove(deep);
  Spec spec = alone(engine);
  spec.machine.hwcaps = {"x86-64-v3", "x86-64-v2"};
  spec.machine.legacy_hwcaps = {"tls/x86_64", "tls"};
  const auto stamp = [&](const std::string& path) {
    return ::testing::Contains(workshop_.path("e/" + path));
  };
  const auto not_yet = check(spec).depends_on;
  EXPECT_THAT(not_yet, stamp("glibc-hwcaps"));
  EXPECT_THAT(not_yet, stamp("tls"));
  std::filesystem::create_directories(workshop_.path("e/glibc-hwcaps/x86-64-v3"));
  const auto later = check(spec).depends_on;
  EXPECT_THAT(later, stamp("glibc-hwcaps/x86-64-v3/libdeep.so.1"));
  EXPECT_THAT(later, stamp("glibc-hwcaps/x86-64-v2"));
  EXPECT_THAT(later, ::testing::Not(stamp("glibc-hwcaps")));
}

TEST_F(ClosureCheck, LoadedLibrariesAreDependenciesOnlyIfUsed) {
  const auto used = part("libused.so.1", "used", "-Wl,-soname,libused.so.1");
  const auto unused = part("libunused.so.1", "unused", "-Wl,-soname,libunused.so.1");
  const auto engine =
      workshop_.library("e/libengine.so", "int used(void);int e(void){return used();}", link(used));
  Spec spec = alone(engine);
  spec.machine.loaded = {{"libused.so.1", used}, {"libunused.so.1", unused}};
  const Report report = check(spec);
  ASSERT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.depends_on, ::testing::Contains(used));
  EXPECT_THAT(report.depends_on, ::testing::Not(::testing::Contains(unused)));
}

TEST_F(ClosureCheck, ADependencyOfAWrongArchitectureIsL05) {
  const auto dependency = part("libdep.so.1", "dep", "-Wl,-soname,libdep.so.1");
  const auto engine = workshop_.library("e/libengine.so", "int dep(void);int e(void){return dep();}",
                                        link(dependency) + " -Wl,-rpath,'$ORIGIN'");
  std::filesystem::rename(dependency, workshop_.path("e/libdep.so.1"));
  workshop_.make_foreign(workshop_.path("e/libdep.so.1"));
  const Report report = check(alone(engine));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L05");
  ASSERT_FALSE(report.rejected.empty());
  EXPECT_EQ(report.rejected[0].path, workshop_.path("e/libdep.so.1").native());
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr(test::other_architecture));
}

TEST_F(ClosureCheck, A32BitDependencyIsL06) {
  const auto dependency = part("libdep.so.1", "dep", "-Wl,-soname,libdep.so.1");
  const auto engine = workshop_.library("e/libengine.so", "int dep(void);int e(void){return dep();}",
                                        link(dependency) + " -Wl,-rpath,'$ORIGIN'");
  if (workshop_.library_with("gcc", "e/libdep.so.1", "int dep(void){return 1;}", "-m32 -nostdlib").empty())
    GTEST_SKIP() << "gcc-multilib is not installed";
  const Report report = check(alone(engine));
  ASSERT_EQ(first_code(report), "EH-L06");
  // It is where the build itself searches, so the environment has no part in it.
  const std::string text = explain::describe(report.diagnoses.front());
  EXPECT_THAT(text, HasSubstr("libengine.so needs libdep.so.1; /"));
  EXPECT_THAT(text, HasSubstr("correct the RUNPATH of libengine.so: it leads to a 32-bit libdep.so.1"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("LD_LIBRARY_PATH")));
}

TEST_F(ClosureCheck, A32BitDependencyOfTheEnvironmentIsReportedAsSuch) {
  const auto dependency = part("libdep.so.1", "dep", "-Wl,-soname,libdep.so.1");
  const auto engine =
      workshop_.library("e/libengine.so", "int dep(void);int e(void){return dep();}", link(dependency));
  workshop_.remove(dependency);
  if (workshop_.library_with("gcc", "i/libdep.so.1", "int dep(void){return 1;}", "-m32 -nostdlib").empty())
    GTEST_SKIP() << "gcc-multilib is not installed";
  Spec spec = alone(engine);
  spec.machine.library_path = {workshop_.path("i").native()};
  const Report report = check(spec);
  ASSERT_EQ(first_code(report), "EH-L06");
  EXPECT_THAT(explain::describe(report.diagnoses.front()),
              HasSubstr("remove the folder with the 32-bit libdep.so.1 from LD_LIBRARY_PATH"));
}

TEST_F(ClosureCheck, ANewerCLibraryIsL08WithBothVersions) {
  const auto map = workshop_.file("c.map", "GLIBC_2.99 { global: fresh; };");
  part("fake/libc.so.6", "fresh",
       "-nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script=" + faults::quoted(map));
  const auto engine = workshop_.library("libengine.so", "int fresh(void);int e(void){return fresh();}",
                                        "-nostdlib " + faults::quoted(workshop_.path("fake/libc.so.6")));
  const Report report = check(alone(engine));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L08");
  EXPECT_EQ(report.diagnoses.front().value(Key::needs), "GLIBC_2.99");
  EXPECT_FALSE(report.diagnoses.front().value(Key::have).empty());
  EXPECT_EQ(report.diagnoses.front().value(Key::required_by), engine.native());
  EXPECT_THAT(explain::describe(report.diagnoses.front()),
              HasSubstr("never copy another system's C library"));
}

TEST_F(ClosureCheck, ANewerCxxRuntimeIsL09WithThePathOfTheOneFound) {
  const auto map = workshop_.file("s.map", "GLIBCXX_3.4.99 { global: fresh; };");
  part("fake/libstdc++.so.6", "fresh",
       "-nostdlib -Wl,-soname,libstdc++.so.6 -Wl,--version-script=" + faults::quoted(map));
  const auto engine = workshop_.library("libengine.so", "int fresh(void);int e(void){return fresh();}",
                                        "-nostdlib " + faults::quoted(workshop_.path("fake/libstdc++.so.6")));
  const Report report = check(alone(engine));
  ASSERT_EQ(first_code(report), "EH-L09");
  EXPECT_EQ(report.diagnoses.front().value(Key::needs), "GLIBCXX_3.4.99");
  EXPECT_THAT(std::string(report.diagnoses.front().value(Key::path)), HasSubstr("libstdc++.so.6"));
}

TEST_F(ClosureCheck, AnUndefinedSymbolIsL12WhenSymbolsAreRequested) {
  const auto engine =
      workshop_.library("libengine.so", "int missing_kernel(void);int e(void){return missing_kernel();}");
  Spec spec = alone(engine);
  EXPECT_EQ(check(spec).verdict, Verdict::loads);
  spec.symbols = true;
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L12");
  EXPECT_EQ(report.diagnoses.front().value(Key::symbol), "missing_kernel");
  EXPECT_EQ(report.diagnoses.front().value(Key::required_by), engine.native());
}

}  // namespace
}  // namespace enginehost::preflight
