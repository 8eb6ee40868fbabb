// Symbols that one library needs from another that does not offer them, in real Mach-O files made by lld.
#include <gmock/gmock.h>

#include "host/linker/dyld.hpp"
#include "tests/support/workshop.hpp"

namespace enginehost::linker {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DyldSymbols : public test::Workshop {
 protected:
  void SetUp() override {
    Workshop::SetUp();
    if (!has_tool("clang-14") || !has_tool("ld64.lld-14")) GTEST_SKIP() << "clang-14 or lld is not installed";
    machine_.root = folder();
  }
  // /engine/NAME of this source, linked with more flags; libraries made before are linked by name.
  void dylib(const std::string& name, const std::string& source, const std::vector<std::string>& flags = {}) {
    const std::filesystem::path to = machine_.root / "engine" / name;
    std::filesystem::create_directories(to.parent_path());
    const std::string object = (folder() / "object.o").native();
    run({"clang-14", "-target", architecture_ + "-apple-macos11", "-fPIC", "-c", "-o", object,
         write("source.c", source).native()});
    std::vector<std::string> command{"ld64.lld-14",    "-arch",  architecture_,    "-platform_version",
                                     "macos",          "11.0",   "11.0",           "-dylib",
                                     object,           "-o",     to.native(),      "-undefined",
                                     "dynamic_lookup", "-rpath", "@loader_path/.", "-install_name",
                                     "@rpath/" + name};
    for (const std::string& flag : flags)
      command.push_back(flag.starts_with("lib") ? (machine_.root / "engine" / flag).native() : flag);
    run(command);
  }
  std::vector<Diagnosis> missing(const std::string& name) {
    machine_.architecture = architecture_ == "arm64" ? "aarch64" : architecture_;
    Reader reader({}, machine_.architecture);
    const Closure closure = close_macos(machine_, {"/engine/" + name, {}}, reader);
    EXPECT_TRUE(closure.loads());
    return missing_macos_symbols(machine_, closure);
  }

  std::string architecture_ = "arm64";
  AppleMachine machine_;
};

TEST_F(DyldSymbols, L12AMissingSymbolIsNamedWithNeederAndExpectedLibrary) {
  for (const char* architecture : {"arm64", "x86_64"}) {
    architecture_ = architecture;
    dylib("libbase.dylib", "int one(void) { return 1; } int two(void) { return 2; } int three = 3;");
    dylib(
        "libengine.dylib",
        "int one(void); int two(void); extern int three; int engine(void) { return one() + two() + three; }",
        {"libbase.dylib"});
    EXPECT_THAT(missing("libengine.dylib"), IsEmpty());
    dylib("libbase.dylib", "int one(void) { return 1; }");
    const auto found = missing("libengine.dylib");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].code, "EH-L12");
    EXPECT_THAT(found[0].values(Key::symbol), ::testing::UnorderedElementsAre("_two", "_three"));
    EXPECT_EQ(found[0].value(Key::required_by), "/engine/libengine.dylib");
    EXPECT_EQ(found[0].value(Key::library), "@rpath/libbase.dylib");
    EXPECT_EQ(found[0].value(Key::expected_in), "/engine/libbase.dylib");
  }
}

TEST_F(DyldSymbols, OfAnotherLibraryThanTheNamedOneDoNotServe) {
  dylib("libbase.dylib", "int one(void) { return 1; }");
  dylib("libother.dylib", "int other(void) { return 1; }");
  dylib("libengine.dylib", "int one(void); int other(void); int engine(void) { return one() + other(); }",
        {"libbase.dylib", "libother.dylib"});
  dylib("libbase.dylib", "int nothing(void) { return 1; }");
  dylib("libother.dylib", "int one(void) { return 1; } int other(void) { return 1; }");
  const auto found = missing("libengine.dylib");
  ASSERT_EQ(found.size(), 1u) << "two-level: /engine/libother.dylib is not asked";
  EXPECT_THAT(found[0].values(Key::symbol), ElementsAre("_one"));
}

TEST_F(DyldSymbols, ThatAreWeakOrMayComeFromAnywhereAreNoFault) {
  dylib("libbase.dylib", "int one(void) { return 1; } int two(void) { return 1; }");
  dylib("libengine.dylib",
        "int one(void) __attribute__((weak_import)); int two(void); int from_the_program(void);"
        "int engine(void) { return (one ? one() : 0) + two() + from_the_program(); }",
        {"libbase.dylib"});
  dylib("libbase.dylib", "int two(void) { return 1; }");
  EXPECT_THAT(missing("libengine.dylib"), IsEmpty());
}

TEST_F(DyldSymbols, OfAReexportedLibraryBelongToTheReexporter) {
  dylib("libinner.dylib", "int inner(void) { return 1; } int deeper(void) { return 1; }");
  dylib("libbase.dylib", "int one(void) { return 1; }", {"-reexport_library", "libinner.dylib"});
  dylib("libengine.dylib", "int one(void); int inner(void); int engine(void) { return one() + inner(); }",
        {"libbase.dylib"});
  EXPECT_THAT(missing("libengine.dylib"), IsEmpty());
  dylib("libinner.dylib", "int deeper(void) { return 1; }");
  const auto found = missing("libengine.dylib");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].values(Key::symbol), ElementsAre("_inner"));
}

}  // namespace
}  // namespace enginehost::linker
