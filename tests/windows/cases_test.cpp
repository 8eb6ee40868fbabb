// Users' cases about Windows' loader, as far as Wine's can reproduce them.
#include <gmock/gmock.h>

#include "base/text.hpp"
#include "host/explain/explain.hpp"
#include "host/explain/loader_text.hpp"
#include "tests/windows/wine.hpp"

namespace enginehost::test {
namespace {

using linker::load_flags;
using ::testing::HasSubstr;

class WineCases : public Wine {};

// A virus scanner or a second program holds the file open; the error number distinguishes that from a missing
// file.
TEST_F(WineCases, Case13DistinguishesAFileInUseFromAMissingOne) {
  dll("engine/torch.dll");
  const WineAnswer held = load("engine/torch.dll", load_flags, {"hold=" + windows_path("engine/torch.dll")});
  const WineAnswer missing = load("engine/nothing.dll", load_flags);
  EXPECT_EQ(explain::class_of_windows_error(held.error), "EH-W09") << held.said;
  EXPECT_EQ(explain::class_of_windows_error(missing.error), "EH-W01") << missing.said;
  const explain::Entry* entry = explain::find("EH-W09");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->category, history::Category::transient);
  EXPECT_THAT(std::string(*entry->remedies.begin()), HasSubstr("try again"));
}

TEST_F(WineCases, Case28Distinguishes126And127And193And1114) {
  const std::string whole = bytes_of(dll("engine/ggml-base.dll"));
  dll("engine/llama.dll", {"engine/ggml-base.dll"});
  std::filesystem::remove(folder() / "engine/ggml-base.dll");

  // 126: missing.
  const WineAnswer missing = load("engine/llama.dll", load_flags);
  EXPECT_EQ(missing.error, 126u) << missing.said;
  std::vector<Diagnosis> found = linker::diagnose_windows(close_over("engine/llama.dll", load_flags));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-W01");
  EXPECT_EQ(found[0].value(Key::library), "ggml-base.dll");
  EXPECT_EQ(found[0].value(Key::needed_by), windows_path("engine/llama.dll"));

  // 127: an old one in the program's folder. Wine replaces the function by a trap, loads, and raises an
  // exception at the call where Windows refuses with 127. An explicit look-up gives 127 on both.
  library("app/ggml-base.dll", "__declspec(dllexport) int older(void) { return 1; }\n",
          {"-nostdlib", "-Wl,--entry,0"}, {"x86_64-w64-mingw32-gcc"});
  const WineAnswer stale = load("engine/llama.dll", load_flags, {"call=f_llama"});
  EXPECT_TRUE(stale.loaded) << stale.said;
  EXPECT_EQ(stale.called, "exception 0x80000100");
  const linker::WindowsClosure closure = close_over("engine/llama.dll", load_flags);
  EXPECT_TRUE(closure.closure.loads());
  found = linker::missing_functions(machine_, closure, reader_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-W03");
  EXPECT_EQ(to_lower(found[0].value(Key::path)), stale.modules.at(1)) << "Wine took the same file";
  EXPECT_EQ(found[0].value(Key::path), windows_path("app/ggml-base.dll"));
  EXPECT_EQ(found[0].value(Key::symbol), "f_ggml_base");
  EXPECT_EQ(found[0].value(Key::required_by), windows_path("engine/llama.dll"));
  const WineAnswer looked_up = load("app/ggml-base.dll", load_flags, {"function=f_ggml_base"});
  EXPECT_EQ(looked_up.function, "127") << looked_up.said;
  EXPECT_EQ(explain::class_of_windows_error(127), "EH-W03");

  // 193: the requested file is not for this machine.
  write("engine/other.dll", for_arm64(whole));
  EXPECT_EQ(load("engine/other.dll", load_flags).error, 193u);
  found = linker::diagnose_windows(close_over("engine/other.dll", load_flags));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-W04");
  EXPECT_EQ(found[0].value(Key::file), windows_path("engine/other.dll"));
  EXPECT_EQ(found[0].value(Key::built_for), "aarch64");

  // 1114: all files are there and fit; the start code fails.
  dll("engine/starts.dll", {},
      "int __stdcall DllMainCRTStartup(void* a, unsigned b, void* c) { (void)a; (void)c; return b != 1; }\n");
  const WineAnswer starts = load("engine/starts.dll", load_flags);
  EXPECT_EQ(starts.error, 1114u) << starts.said;
  EXPECT_TRUE(close_over("engine/starts.dll", load_flags).closure.loads());
  EXPECT_EQ(explain::class_of_windows_error(starts.error), "EH-W05");
}

}  // namespace
}  // namespace enginehost::test
