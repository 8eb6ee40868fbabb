// Effects of LD_LIBRARY_PATH, LD_PRELOAD and the libraries of the process on a build, over described
// machines.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/preflight/helpers.hpp"
#include "tests/support/stand_in.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::HasSubstr;

class Environment : public ::testing::Test {
 protected:
  // A library that needs libelse.so.1, which is in "elsewhere" only.
  std::filesystem::path needs_elsewhere() {
    const auto other =
        workshop_.library("elsewhere/libelse.so.1", "int other(void){return 1;}", "-Wl,-soname,libelse.so.1");
    return workshop_.library("e/libengine.so", "int other(void);int e(void){return other();}",
                             faults::quoted(other));
  }
  std::string elsewhere() const { return workshop_.path("elsewhere").native(); }
  static platform::Platform with_variable(const std::string& name, const std::string& value) {
    platform::Platform platform;
    platform.loader_environment = platform::Fact<platform::Variables>::known({{name, value}}, "environment");
    return platform;
  }
  static Spec with_path(Spec spec, const std::string& folder) {
    spec.machine.library_path = {folder};
    spec.machine.library_path_text = folder;
    return spec;
  }
  static std::string stand_in_options(const std::string& soname) {
    std::string options;
    for (const std::string& one : test::stand_in_named(soname)) options += faults::quoted(one) + " ";
    return options;
  }
  faults::Workshop workshop_;
};

TEST_F(Environment, L30ALibraryPathThatIsIgnoredForItsPrivilegesIsNamed) {
  Spec spec = alone(needs_elsewhere());
  spec.machine.secure = true;
  spec.machine.library_path.clear();
  spec.machine.library_path_text = elsewhere();
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L30");
  EXPECT_EQ(report.diagnoses.front().value(Key::present_at), elsewhere() + "/libelse.so.1");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("raised privileges"));
}

TEST_F(Environment, L31ALibraryPathSetAfterTheStartIsNamed) {
  const auto engine = needs_elsewhere();
  const platform::Platform platform = with_variable("LD_LIBRARY_PATH", elsewhere());
  Spec spec = alone(engine);
  spec.platform = &platform;
  spec.machine.library_path.clear();
  spec.machine.library_path_text.reset();
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L31");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("changed after the program started"));
  ::setenv("LD_LIBRARY_PATH", elsewhere().c_str(), 1);
  void* loaded = ::dlopen(engine.c_str(), RTLD_NOW | RTLD_LOCAL);
  ::unsetenv("LD_LIBRARY_PATH");
  EXPECT_EQ(loaded, nullptr) << "the loader read the variable when this program started";
}

TEST_F(Environment, L31IsNotReportedForALibraryThatIsNowhere) {
  const auto engine = needs_elsewhere();
  workshop_.remove(workshop_.path("elsewhere/libelse.so.1"));
  const platform::Platform platform = with_variable("LD_LIBRARY_PATH", elsewhere());
  Spec spec = alone(engine);
  spec.platform = &platform;
  spec.machine.library_path.clear();
  spec.machine.library_path_text.reset();
  EXPECT_EQ(first_code(check(spec)), "EH-L01");
}

TEST_F(Environment, L34AMissingPreloadIsAWarning) {
  const auto plugin = workshop_.plugin("libengine_x.so");
  const platform::Platform platform =
      with_variable("LD_PRELOAD", "/nowhere/libgone.so:" + plugin.native() + " libsearched.so");
  Spec spec = build(workshop_, plugin);
  spec.platform = &platform;
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::loads);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].code, "EH-L34");
  EXPECT_EQ(report.warnings[0].value(Key::library), "/nowhere/libgone.so");
}

TEST_F(Environment, L10PackedRelocationsOnAnOlderCLibraryAreRefused) {
  const auto map = workshop_.file("new.map", "GLIBC_ABI_DT_RELR { global: packed; };");
  workshop_.library("new/libc.so.6", "int packed(void){return 1;}",
                    "-nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script=" + faults::quoted(map));
  const auto engine = workshop_.library("e/libengine.so", "int packed(void);int e(void){return packed();}",
                                        "-nostdlib " + faults::quoted(workshop_.path("new/libc.so.6")));
  const auto old = workshop_.file("old.map", "GLIBC_2.31 { global: plain; };");
  workshop_.library("old/libc.so.6", "int plain(void){return 1;}",
                    "-nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script=" + faults::quoted(old));
  const Report report = check(with_path(alone(engine), workshop_.path("old").native()));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L10");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("nopack-relative-relocs"));
}

TEST_F(Environment, L11AVariableThatHidesASystemLibraryIsAWarning) {
  const auto hiding =
      workshop_.library("outside/libgcc_s.so.1", "int hidden(void){return 1;}", "-Wl,-soname,libgcc_s.so.1");
  const auto engine = workshop_.library("e/libengine.so", "int hidden(void);int e(void){return hidden();}",
                                        faults::quoted(hiding));
  const Report report = check(with_path(alone(engine), hiding.parent_path().native()));
  const Diagnosis* warning = find(report.warnings, "EH-L11");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::path), hiding.native());
  EXPECT_THAT(std::string(warning->value(Key::wanted)), HasSubstr("libgcc_s.so.1"));
  EXPECT_TRUE(warning->value(Key::repaired).empty());
}

// As on systems where /lib is a link to usr/lib, with an installation in /usr.
TEST_F(Environment, L11IsNotReportedForOneFileWithTwoNames) {
  const auto own =
      workshop_.library("usr/lib/libown.so.1", "int own(void){return 1;}", "-Wl,-soname,libown.so.1");
  const auto engine = workshop_.library("usr/e/libengine.so", "int own(void);int e(void){return own();}",
                                        faults::quoted(own));
  std::filesystem::create_directory_symlink("usr/lib", workshop_.path("lib"));
  Spec spec = with_path(build(workshop_, engine, {"usr/lib"}), workshop_.path("lib").native());
  spec.view = workshop_.path("usr");
  spec.plugin_header = false;
  EXPECT_EQ(find(check(spec).warnings, "EH-L11"), nullptr);
  // A different file of that name does hide it.
  workshop_.library("other/libown.so.1", "int own(void){return 2;}", "-Wl,-soname,libown.so.1");
  const Report hidden = check(with_path(spec, workshop_.path("other").native()));
  const Diagnosis* warning = find(hidden.warnings, "EH-L11");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::wanted), own.native());
}

TEST_F(Environment, L11IsNotReportedWhereNothingElseWouldBeFound) {
  const auto engine = needs_elsewhere();
  const Report report = check(with_path(alone(engine), elsewhere()));
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_EQ(find(report.warnings, "EH-L11"), nullptr);
}

TEST_F(Environment, L17ASymbolThatTheLoadedLibraryLacksIsAFailure) {
  const std::string soname = "-Wl,-soname,libdual.so.1";
  const auto ours = workshop_.library("lib/libdual.so.1", "int only_in_ours(void){return 1;}", soname);
  const auto user =
      workshop_.library("lib/libuser.so", "int only_in_ours(void);int u(void){return only_in_ours();}",
                        "-Wl,-soname,libuser.so " + faults::quoted(ours));
  const auto plugin = workshop_.plugin("libengine_x.so", "-Wl,--no-as-needed " + faults::quoted(user));
  const auto held = workshop_.library("held/libdual.so.1", "int common(void){return 1;}", soname);
  Spec spec = build(workshop_, plugin);
  EXPECT_EQ(check(spec).verdict, Verdict::loads);
  spec.machine.loaded = {{"libdual.so.1", held}};
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-L17");
  EXPECT_EQ(report.diagnoses.front().value(Key::symbol), "only_in_ours");
  EXPECT_EQ(report.diagnoses.front().value(Key::path), held.native());
  EXPECT_EQ(report.diagnoses.front().value(Key::wanted), ours.native());
}

// A stand-in of another build serves every later need of its name, also that of a build that takes the
// library from the system. Nothing says so to that build's own closure.
TEST_F(Environment, L17AStandInThatTheProcessHoldsIsNamedForASystemLibrary) {
  const std::string soname = "libaccelerate.so.13";
  const auto held =
      workshop_.library("held/" + soname, "int count(void){return 0;}", stand_in_options(soname));
  const auto real = workshop_.library(
      "system/" + soname, "int count(void){return 1;}int more(void){return 2;}", "-Wl,-soname," + soname);
  const auto between = workshop_.library("system/libbetween.so", "int more(void);int b(void){return more();}",
                                         "-Wl,-soname,libbetween.so " + faults::quoted(real));
  for (const auto& [needer, flags] : {std::pair{std::string("libengine_x.so"), faults::quoted(real)},
                                      {std::string("libbetween.so"), faults::quoted(between)}}) {
    const auto plugin = workshop_.plugin("view/libengine_x.so", "-Wl,--no-as-needed " + flags);
    Spec spec = with_path(build(workshop_, plugin), workshop_.path("system").native());
    spec.view = workshop_.path("view");
    EXPECT_EQ(find(check(spec).warnings, "EH-L17"), nullptr) << "nothing is loaded";
    spec.machine.loaded = {{soname, held}};
    const Report report = check(spec);
    const Diagnosis* warning = find(report.warnings, "EH-L17");
    ASSERT_NE(warning, nullptr) << needer;
    EXPECT_EQ(warning->value(Key::path), held.native());
    EXPECT_EQ(warning->value(Key::wanted), real.native());
    EXPECT_THAT(warning->value(Key::needed_by), ::testing::EndsWith(needer));
    // A library of that name that is none is the loader's business.
    spec.machine.loaded = {{soname, real}};
    EXPECT_EQ(find(check(spec).warnings, "EH-L17"), nullptr);
  }
}

TEST_F(Environment, AStandInIsNoProviderOfAMissingLibrary) {
  const std::string soname = "libaccelerate.so.13";
  const auto real = workshop_.library("gone/" + soname, "int a(void){return 1;}", "-Wl,-soname," + soname);
  const auto engine =
      workshop_.library("e/libengine.so", "int a(void);int e(void){return a();}", faults::quoted(real));
  std::filesystem::remove(real);
  // Beside the file; under another name, as where a link is lost; and of another major version.
  workshop_.library("e/" + soname, "int a(void){return 0;}", stand_in_options(soname));
  workshop_.library("e/" + soname + ".0.1", "int a(void){return 0;}", stand_in_options(soname));
  workshop_.library("e/libaccelerate.so.12", "int a(void){return 0;}",
                    stand_in_options("libaccelerate.so.12"));
  const Report report = check(alone(engine));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_FALSE(report.diagnoses.empty());
  const Diagnosis& missing = report.diagnoses.front();
  EXPECT_THAT(missing.code, ::testing::AnyOf("EH-L01", "EH-L02"));
  for (const Key key : {Key::present_at, Key::elsewhere, Key::unlinked, Key::other_release})
    EXPECT_EQ(missing.value(key), "") << key;
  // A library of the same names is one.
  workshop_.library("e/" + soname, "int a(void){return 0;}", "-Wl,-soname," + soname);
  const Report found = check(alone(engine));
  EXPECT_EQ(found.diagnoses.at(0).code, "EH-L03");
  EXPECT_EQ(found.diagnoses.at(0).value(Key::present_at), workshop_.path("e/" + soname).native());
}

// As with two releases of TensorFlow: the plugin opens libtensorflow.so by its path, which needs another
// library by name.
TEST_F(Environment, L17TheUserOfTheLoadedLibraryIsNamedAlsoIfOpenedLater) {
  const std::string soname = "-Wl,-soname,libframework.so.2";
  const auto ours = workshop_.library("lib/libframework.so.2", "int part(void){return 1;}", soname);
  const auto runtime = workshop_.library("lib/libruntime.so", "int part(void);int r(void){return part();}",
                                         "-Wl,-soname,libruntime.so " + faults::quoted(ours));
  Spec spec = build(workshop_, workshop_.plugin("libengine_x.so", ""));
  spec.lazy = {"libruntime.so"};
  spec.machine.loaded = {{"libframework.so.2",
                          workshop_.library("held/libframework.so.2", "int part(void){return 2;}", soname)}};
  const Report report = check(spec);
  const Diagnosis* warning = find(report.warnings, "EH-L17");
  ASSERT_NE(warning, nullptr);
  EXPECT_EQ(warning->value(Key::wanted), ours.native());
  EXPECT_EQ(warning->value(Key::needed_by), runtime.native());
}

TEST_F(Environment, L17ALibraryThatNothingNeedsHasNoUser) {
  const std::string soname = "-Wl,-soname,libruntime.so.1";
  workshop_.library("lib/libruntime.so.1", "int part(void){return 1;}", soname);
  Spec spec = build(workshop_, workshop_.plugin("libengine_x.so", ""));
  spec.lazy = {"libruntime.so.1"};
  spec.machine.loaded = {
      {"libruntime.so.1", workshop_.library("held/libruntime.so.1", "int part(void){return 2;}", soname)}};
  const Report report = check(spec);
  const Diagnosis* warning = find(report.warnings, "EH-L17");
  ASSERT_NE(warning, nullptr);
  EXPECT_TRUE(warning->values(Key::needed_by).empty()) << "by its path, each gets its own";
}

// A runtime of AddressSanitizer that is not the first library ends the process, unless its option forbids the
// check.
TEST_F(Environment, R21ASanitizerThatIsNotPreloadedIsAFailure) {
  for (const char* soname : {"libasan.so.8", "libclang_rt.asan-x86_64.so"}) {
    const auto runtime =
        workshop_.library(soname, "int init(void){return 1;}", std::string("-Wl,-soname,") + soname);
    const auto part = workshop_.library("libpart.so", "int part(void){return 1;}",
                                        "-Wl,--no-as-needed " + faults::quoted(runtime));
    const auto engine = workshop_.library("libengine.so", "int e(void){return 1;}",
                                          "-Wl,--no-as-needed " + faults::quoted(part));
    Spec spec = with_path(alone(engine), workshop_.folder().native());
    const Report report = check(spec);
    EXPECT_EQ(report.verdict, Verdict::fails) << soname;
    ASSERT_EQ(first_code(report), "EH-R21") << soname;
    EXPECT_EQ(report.diagnoses.front().value(Key::needed_by), part.native());
    EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr("preload " + runtime.native()));
    for (const auto& [name, value, verdict] :
         {std::tuple{"LD_PRELOAD", "/lib/libmine.so:/lib/libasan.so.8", Verdict::loads},
          {"LD_PRELOAD", "/lib/libmine.so", Verdict::fails},
          {"ASAN_OPTIONS", "detect_leaks=0:verify_asan_link_order=0", Verdict::loads},
          {"ASAN_OPTIONS", "verify_asan_link_order=1", Verdict::fails}}) {
      const platform::Platform platform = with_variable(name, value);
      spec.platform = &platform;
      EXPECT_EQ(check(spec).verdict, verdict) << name << "=" << value;
    }
  }
}

}  // namespace
}  // namespace enginehost::preflight
