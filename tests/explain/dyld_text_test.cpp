// dyld's texts as its releases print them; no test runs on macOS.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"

namespace enginehost::explain {
namespace {

using ::testing::HasSubstr;

Diagnosis read(std::string_view text) {
  const auto hint = read_loader_text(text);
  if (!hint) return diagnosis_named("nothing was read");
  Diagnosis diagnosis = to_diagnosis(*hint, text);
  return diagnosis;
}

TEST(DyldText, X01AMissingLibraryComesWithItsNeederAndEveryFileTried) {
  const Diagnosis diagnosis = read(
      "dlopen(/v/libengine_x.dylib, 0x0006): Library not loaded: @rpath/libc10.dylib\n"
      "  Referenced from: <4C4C44D2-5555-3144-A1C5-2F2A8B1D1E1F> /v/libengine_x.dylib\n"
      "  Reason: tried: '/v/libc10.dylib' (no such file), '/opt/a (b)/libc10.dylib' (no such file), "
      "'/usr/lib/libc10.dylib' (no such file, not in dyld cache)");
  EXPECT_EQ(diagnosis.code, "EH-X01");
  EXPECT_EQ(diagnosis.value(Key::library), "@rpath/libc10.dylib");
  EXPECT_EQ(diagnosis.value(Key::needed_by), "/v/libengine_x.dylib");
  const auto searched = diagnosis.values(Key::searched);
  ASSERT_EQ(searched.size(), 3u);
  EXPECT_EQ(searched[1], "/opt/a (b)/libc10.dylib (no such file)");
  EXPECT_EQ(searched[2], "/usr/lib/libc10.dylib (no such file, not in dyld cache)");
  EXPECT_THAT(render(diagnosis).cause, HasSubstr("libengine_x.dylib needs @rpath/libc10.dylib"));
}

TEST(DyldText, X01WithoutAnyRunPathTheReasonSaysSo) {
  const Diagnosis diagnosis = read(
      "Library not loaded: @rpath/libfoo.dylib\n  Referenced from: /v/libx.dylib\n  Reason: no LC_RPATH's "
      "found");
  EXPECT_EQ(diagnosis.code, "EH-X01");
  EXPECT_TRUE(diagnosis.values(Key::searched).empty());
}

TEST(DyldText, X02AFileThatIsThereAndForAnotherProcessorIsTheCause) {
  const Diagnosis diagnosis = read(
      "Library not loaded: @rpath/libc10.dylib\n  Referenced from: <AA> /v/libx.dylib\n"
      "  Reason: tried: '/a/libc10.dylib' (no such file), '/b/libc10.dylib' (mach-o file, but is an "
      "incompatible "
      "architecture (have 'arm64', need 'x86_64')), '/usr/lib/libc10.dylib' (no such file)");
  EXPECT_EQ(diagnosis.code, "EH-X02");
  EXPECT_EQ(diagnosis.value(Key::file), "/b/libc10.dylib");
  EXPECT_EQ(diagnosis.value(Key::built_for), "arm64");
  EXPECT_EQ(diagnosis.value(Key::machine), "x86_64");
  EXPECT_EQ(diagnosis.values(Key::searched).size(), 3u);
}

struct Case {
  const char *text, *code, *file;
};
constexpr Case cases[] = {
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (no such file)", "EH-F01", "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (mach-o file, but is an incompatible architecture "
     "(have "
     "(arm64), need (x86_64h)))",
     "EH-X02", "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 6): no suitable image found.  Did find:\n\t/v/x.dylib: mach-o, but wrong "
     "architecture",
     "EH-X02", "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (not a mach-o file)", "EH-X03", "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (slice is not valid mach-o file)", "EH-X03",
     "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): could not use '/v/x.dylib' because it is not a mach-o file: 0x3C 0x21 0x44 "
     "0x4F",
     "EH-X03", "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (code signature in <AB> '/v/x.dylib' not valid for use "
     "in "
     "process: mapped file has no cdhash, completely unsigned?)",
     "EH-X04", "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): code signing blocked mmap() of '/v/x.dylib'", "EH-X04", "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (code signature in <AB> '/v/x.dylib' not valid: "
     "library load "
     "disallowed by system policy)",
     "EH-X05", "/v/x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (file system sandbox blocked mmap() of '/v/x.dylib')",
     "EH-X06", "/v/x.dylib"},
    {"dlopen(x.dylib, 0x0006): tried: 'x.dylib' (relative path not allowed in hardened program)", "EH-X06",
     "x.dylib"},
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (blocked by sandbox)", "EH-X06", "/v/x.dylib"},
    {"dlopen(/v/x, 0x0006): tried: '/v/x' (cannot dlopen a main executable)", "EH-X08", "/v/x"},
    {"dlopen(/v/x.dylib, 0x0006): tried: '/v/x.dylib' (wrong platform to load into process)", "EH-X08",
     "/v/x.dylib"},
};

TEST(DyldText, X03X04X05X06X08EachReasonGivesItsClass) {
  for (const Case& one : cases) {
    const Diagnosis diagnosis = read(one.text);
    EXPECT_EQ(diagnosis.code, one.code) << one.text;
    EXPECT_EQ(diagnosis.value(Key::file), one.file) << one.text;
  }
}

TEST(DyldText, X07ANewerMacosIsDistinguishedFromAMissingSymbol) {
  const Diagnosis newer = read(
      "dlopen(/v/x.dylib, 0x0006): Symbol not found: _sgemm$NEWLAPACK\n"
      "  Referenced from: <AB> /v/x.dylib (built for macOS 26.0 which is newer than running OS)\n"
      "  Expected in:     <CD> /System/Library/Frameworks/Accelerate.framework/Accelerate");
  EXPECT_EQ(newer.code, "EH-X07");
  EXPECT_EQ(newer.value(Key::required), "26.0");
  EXPECT_EQ(newer.value(Key::symbol), "_sgemm$NEWLAPACK");
  EXPECT_EQ(newer.value(Key::required_by), "/v/x.dylib");
  const Diagnosis missing = read(
      "Symbol not found: __ZN3c105ErrorC1E\n  Referenced from: <AB> /v/x.dylib\n  Expected in: <CD> "
      "/v/libc10.dylib");
  EXPECT_EQ(missing.code, "EH-L12");
  EXPECT_EQ(missing.value(Key::symbol), "__ZN3c105ErrorC1E");
}

TEST(DyldText, AnEndlessOrBrokenListEnds) {
  std::string text = "dlopen(/v/x.dylib, 6): tried: ";
  for (int i = 0; i < 1000; ++i) text += "'/a/x.dylib' (no such file), ";
  ASSERT_TRUE(read_loader_text(text));
  EXPECT_LE(read_loader_text(text)->tried.size(), 64u);
  for (const char* broken :
       {"dlopen(/x, 6): tried: '", "dlopen(/x, 6): tried: '/x' (", "dlopen(/x, 6): tried: '/x' (((("})
    static_cast<void>(read_loader_text(broken));
  EXPECT_EQ(read_loader_text("dlopen(/x, 6): tried: '/x' ((((")->tried.size(), 1u);
}

}  // namespace
}  // namespace enginehost::explain
