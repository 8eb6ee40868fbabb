// Builds for macOS, checked on this system by the rules of its loader, with dylibs made by lld.
#include "host/preflight/foreign.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/xattr.h>

#include <cerrno>
#include <cstring>

#include "tests/preflight/helpers.hpp"

namespace enginehost::preflight {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class MacBuild : public ::testing::Test {
 protected:
  void SetUp() override {
    mac_.os = platform::Fact<std::string>::known("macos", "file");
    mac_.arch = platform::Fact<std::string>::known("arm64", "file");
  }
  static std::string compiler_for(const std::string& arch, const std::string& minimum = "11") {
    return "clang-14 -target " + arch + "-apple-macos" + minimum +
           " -mlinker-version=609 -nostdlib -fuse-ld=lld -dynamiclib "
           "-Wl,-undefined,dynamic_lookup";
  }
  std::filesystem::path dylib(const std::string& name, const std::string& source,
                              const std::string& flags = {}) {
    return workshop_.library_with(compiler_for("arm64") + " -Wl,-install_name,@rpath/" + name, "lib/" + name,
                                  source, flags);
  }
  // A library outside of the build, on mac_.
  ForeignSpec alone_on_a_mac(const std::filesystem::path& file) const {
    ForeignSpec spec;
    spec.plugin = file;
    spec.platform = &mac_;
    return spec;
  }
  faults::Workshop workshop_;
  platform::Platform mac_;
};

TEST_F(MacBuild, ALibraryBesideOneWithoutLCRPATHIsOpenedFirst) {
  const auto base = dylib("libggml-base.dylib", "int base(void){return 1;}");
  if (base.empty()) GTEST_SKIP() << "clang-14 or lld is not installed";
  const auto engine =
      dylib("libengine.dylib", "int base(void);int e(void){return base();}", faults::quoted(base));
  ForeignSpec spec;
  spec.view = workshop_.folder();
  spec.plugin = engine;
  spec.search = {workshop_.path("lib")};
  const Report report = check_foreign(spec);
  EXPECT_EQ(report.kind, binary::Kind::macho);
  EXPECT_EQ(report.verdict, Verdict::loads);
  EXPECT_THAT(report.load_order, ElementsAre(base));
  spec.symbols = true;
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::loads);
  dylib("libggml-base.dylib", "int another(void){return 1;}");
  const Report older = check_foreign(spec);
  EXPECT_EQ(older.verdict, Verdict::fails);
  ASSERT_EQ(first_code(older), "EH-L12");
  EXPECT_THAT(explain::describe(older.diagnoses.front()),
              HasSubstr("libengine.dylib needs _base of " + base.native() + ", which does not offer it"));
  spec.symbols = false;
  workshop_.remove(base);
  const Report broken = check_foreign(spec);
  EXPECT_EQ(first_code(broken), "EH-X01");
  EXPECT_EQ(broken.diagnoses.front().value(Key::library), "@rpath/libggml-base.dylib");
  platform::Platform intel;
  intel.arch = platform::Fact<std::string>::known("x86_64", "file");
  spec.platform = &intel;
  EXPECT_EQ(first_code(check_foreign(spec)), "EH-X02");
}

// On Linux the mark is an attribute of a tree that tar or rsync copied with its attributes.
TEST_F(MacBuild, X05AQuarantineMarkIsADoubtUntilItIsAllowed) {
  const auto engine = dylib("libengine.dylib", "int e(void){return 1;}");
  if (engine.empty()) GTEST_SKIP() << "clang-14 or lld is not installed";
  const auto mark = [&](std::string_view text) {
    return ::setxattr(engine.c_str(), "user.com.apple.quarantine", text.data(), text.size(), 0) == 0;
  };
  if (!mark("0083;66f1a2b3;Safari;C1E2"))
    GTEST_SKIP() << "attributes are not kept here: " << std::strerror(errno);
  ForeignSpec spec;
  spec.view = workshop_.folder();
  spec.plugin = engine;
  const Report marked = check_foreign(spec);
  EXPECT_EQ(marked.verdict, Verdict::unsure);
  ASSERT_EQ(first_code(marked), "EH-X05");
  EXPECT_THAT(explain::describe(marked.diagnoses.front()),
              HasSubstr(engine.native() + " is marked as a download by Safari, and macOS loads it only if "
                                          "it is notarized or allowed"));
  ASSERT_TRUE(mark("00c3;66f1a2b3;Safari;C1E2"));
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::loads);
  ASSERT_TRUE(mark("not a mark"));
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::loads);
}

// macOS 11 and later have these libraries in one file; no folder contains them.
TEST_F(MacBuild, SharedCacheLibrariesAreNeverMissingAndAVendorsAre) {
  const auto metal = dylib("Metal", "int m(void){return 1;}",
                           "-Wl,-install_name,/System/Library/Frameworks/Metal.framework/Versions/A/Metal");
  if (metal.empty()) GTEST_SKIP() << "clang-14 or lld is not installed";
  const auto objc =
      dylib("libobjc.dylib", "int o(void){return 1;}", "-Wl,-install_name,/usr/lib/libobjc.A.dylib");
  const auto vendor =
      dylib("libvendor.dylib", "int v(void){return 1;}", "-Wl,-install_name,/opt/vendor/libvendor.1.dylib");
  const auto system = dylib("libsystem_only.dylib", "int m(void);int o(void);int e(void){return m()+o();}",
                            faults::quoted(metal) + " " + faults::quoted(objc));
  const auto engine = dylib("libengine.dylib", "int m(void);int v(void);int e(void){return m()+v();}",
                            faults::quoted(metal) + " " + faults::quoted(vendor));
  for (const auto& made : {metal, objc, vendor}) workshop_.remove(made);
  EXPECT_EQ(check_foreign(alone_on_a_mac(system)).verdict, Verdict::loads);
  const Report report = check_foreign(alone_on_a_mac(engine));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-X01");
  EXPECT_THAT(report.diagnoses.front().values(Key::library), ElementsAre("/opt/vendor/libvendor.1.dylib"));
  EXPECT_THAT(report.diagnoses.front().values(Key::searched), Contains("/opt/vendor/libvendor.1.dylib"));
}

TEST_F(MacBuild, AWeakLibraryMayBeMissingAndAReExportedOneMayNot) {
  const auto extra = dylib("libextra.dylib", "int x(void){return 1;}");
  if (extra.empty()) GTEST_SKIP() << "clang-14 or lld is not installed";
  const auto weak =
      dylib("libweak.dylib", "extern int x(void) __attribute__((weak_import));int e(void){return x?x():0;}",
            "-Wl,-weak_library," + faults::quoted(extra));
  const auto passes_on =
      dylib("libpasses_on.dylib", "int e(void){return 1;}", "-Wl,-reexport_library," + faults::quoted(extra));
  workshop_.remove(extra);
  ForeignSpec spec = alone_on_a_mac(weak);
  spec.symbols = true;
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::loads);
  const Report report = check_foreign(alone_on_a_mac(passes_on));
  ASSERT_EQ(first_code(report), "EH-X01");
  EXPECT_EQ(report.diagnoses.front().value(Key::library), "@rpath/libextra.dylib");
}

TEST_F(MacBuild, X07AFileForANewerMacOSIsWarnedOfWithBothVersions) {
  const auto engine = workshop_.library_with(compiler_for("arm64", "14.0"), "lib/libengine.dylib",
                                             "int e(void){return 1;}", "");
  if (engine.empty()) GTEST_SKIP() << "clang-14 or lld is not installed";
  ForeignSpec spec = alone_on_a_mac(engine);
  mac_.distribution = platform::Fact<platform::Distribution>::known({"macos", "macOS 12.3", "12.3"}, "file");
  const Report older = check_foreign(spec);
  EXPECT_EQ(older.verdict, Verdict::loads);
  ASSERT_THAT(older.warnings, SizeIs(1));
  EXPECT_EQ(older.warnings[0].code, "EH-X07");
  EXPECT_THAT(explain::describe(older.warnings[0]), AllOf(HasSubstr("14.0"), HasSubstr("12.3")));
  mac_.distribution = platform::Fact<platform::Distribution>::known({"macos", "macOS 14.1", "14.1"}, "file");
  EXPECT_THAT(check_foreign(spec).warnings, IsEmpty());
}

// Apple silicon maps no code without a signature; an Intel Mac does.
TEST_F(MacBuild, X04CodeWithoutASignatureFailsOnAppleSiliconOnly) {
  const auto engine = dylib("libengine.dylib", "int e(void){return 1;}", "-Wl,-no_adhoc_codesign");
  if (engine.empty()) GTEST_SKIP() << "clang-14 or lld is not installed";
  const Report report = check_foreign(alone_on_a_mac(engine));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-X04");
  EXPECT_THAT(explain::describe(report.diagnoses.front()), HasSubstr(engine.native()));
  EXPECT_EQ(check_foreign(alone_on_a_mac(dylib("libsigned.dylib", "int e(void){return 1;}"))).verdict,
            Verdict::loads);
  mac_.arch = platform::Fact<std::string>::known("x86_64", "file");
  const auto intel = workshop_.library_with(compiler_for("x86_64"), "lib/libintel.dylib",
                                            "int e(void){return 1;}", "-Wl,-no_adhoc_codesign");
  EXPECT_EQ(check_foreign(alone_on_a_mac(intel)).verdict, Verdict::loads);
}

// The build's own libraries are opened first and found by their install names; all others are searched beside
// the program, whichever library names them.
TEST_F(MacBuild, ANeedBelowExecutablePathIsTheProgramsOrTheBuilds) {
  const auto tool = dylib("libtool.dylib", "int t(void){return 1;}",
                          "-Wl,-install_name,@executable_path/../tools/libtool.dylib");
  if (tool.empty()) GTEST_SKIP() << "clang-14 or lld is not installed";
  const auto engine = dylib("libengine.dylib", "int t(void);int e(void){return t();}", faults::quoted(tool));
  EXPECT_EQ(check_foreign(alone_on_a_mac(engine)).verdict, Verdict::loads);
  std::filesystem::create_directories(workshop_.path("tools"));
  std::filesystem::rename(tool, workshop_.path("tools/libtool.dylib"));
  const Report nowhere = check_foreign(alone_on_a_mac(engine));
  ASSERT_EQ(first_code(nowhere), "EH-X01");
  EXPECT_EQ(nowhere.diagnoses.front().value(Key::library), "@executable_path/../tools/libtool.dylib");
  linker::AppleMachine mac;
  mac.program = workshop_.path("bin/app").native();
  ForeignSpec spec = alone_on_a_mac(engine);
  spec.mac = &mac;
  EXPECT_EQ(check_foreign(spec).verdict, Verdict::loads);
}

TEST_F(MacBuild, X08ALibraryForAPhoneIsNamedAsOne) {
  const auto phone = workshop_.library_with(
      "clang-14 -target arm64-apple-ios14 -mlinker-version=609 -nostdlib -fuse-ld=lld -dynamiclib",
      "lib/libphone.dylib", "int e(void){return 1;}", "");
  if (phone.empty()) GTEST_SKIP() << "clang-14 or lld is not installed";
  const Report report = check_foreign(alone_on_a_mac(phone));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_EQ(first_code(report), "EH-X08");
  EXPECT_EQ(report.diagnoses.front().value(Key::built_for), "ios");
}

}  // namespace
}  // namespace enginehost::preflight
