// Loading in this process on Windows: LoadLibraryEx's numbers become diagnoses that name the file at fault.
#include <gmock/gmock.h>

#include <thread>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/load.hpp"
#include "host/load/in_process/loaded.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::load {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class WindowsLoading : public testing::Test {
 protected:
  fs::path put(const char* name, const fs::path& as = {}) {
    const fs::path to = folder_.path() / (as.empty() ? fs::path(name) : as);
    fs::create_directories(to.parent_path());
    fs::copy_file(fs::path(test::build_path()) / "tests/plugins" / name, to);
    return to;
  }
  fs::path reference() {
    const fs::path to = folder_ / "engine_reference.dll";
    fs::copy_file(REFERENCE_ENGINE, to);
    return to;
  }
  static Diagnosis why_not(const fs::path& plugin) {
    LoadRequest request;
    request.plugin = plugin;
    auto loaded = load_plugin(request);
    if (loaded) ADD_FAILURE() << path_text(plugin) << " was loaded";
    return loaded ? Diagnosis() : loaded.error();
  }
  test::TemporaryFolder folder_;
};

TEST_F(WindowsLoading, TheReferenceEngineIsLoadedWithItsOrigin) {
  LoadRequest request;
  request.plugin = reference();
  std::vector<std::string> stages;
  request.on_stage = [&](std::string_view stage) { stages.emplace_back(stage); };
  const auto loaded = load_plugin(request);
  ASSERT_TRUE(loaded) << loaded.error().code << " " << loaded.error().value(Key::os_said);
  EXPECT_STREQ((*loaded)->plugin().engine, "reference");
  EXPECT_THAT(stages, testing::ElementsAre("load", "entry"));
  bool found = false;
  for (const Library& library : (*loaded)->libraries())
    if (to_lower(library.soname) == "engine_reference.dll") {
      found = true;
      EXPECT_EQ(library.origin, "cache");
      EXPECT_EQ(to_lower(library.path), to_lower(path_text(request.plugin)));
    }
  EXPECT_TRUE(found);
}

TEST_F(WindowsLoading, AFolderBeyondAsciiAndMaxPathIsNoHindrance) {
  fs::path deep = folder_.path();
  for (int i = 0; i < 8; ++i) deep /= std::wstring(40, L'd') + L" \u00fc\u6f22";
  ASSERT_TRUE(make_folders(deep));
  LoadRequest request;
  request.plugin = deep / "engine_reference.dll";
  ASSERT_GT(request.plugin.native().size(), 300u);
  ASSERT_TRUE(write_file(request.plugin, read_file(REFERENCE_ENGINE).value(), false));
  const auto loaded = load_plugin(request);
  ASSERT_TRUE(loaded) << loaded.error().code << " " << loaded.error().value(Key::os_said);
  EXPECT_STREQ((*loaded)->plugin().engine, "reference");
}

TEST_F(WindowsLoading, W01Error126OfAnExistingFileNamesTheMissingDll) {
  const Diagnosis diagnosis = why_not(put("load_needs_gone.dll"));
  EXPECT_EQ(diagnosis.code, "EH-W01");
  EXPECT_EQ(diagnosis.value(Key::error_number), "126");
  EXPECT_EQ(diagnosis.value(Key::library), "load_gone.dll");
  EXPECT_THAT(std::string(diagnosis.value(Key::needed_by)), HasSubstr("load_needs_gone.dll"));
  EXPECT_EQ(diagnosis.value(Key::stage), "load");
  EXPECT_FALSE(diagnosis.value(Key::os_said).empty());
}

TEST_F(WindowsLoading, W01Error126OfAMissingFileNamesThatFile) {
  const Diagnosis diagnosis = why_not(folder_ / "not_there.dll");
  EXPECT_EQ(diagnosis.value(Key::error_number), "126");
  EXPECT_EQ(diagnosis.value(Key::file), path_text(folder_ / "not_there.dll"));
}

TEST_F(WindowsLoading, W02ADllBesideThePluginIsFoundAndOneInPathIsNot) {
  put("load_gone.dll", "elsewhere/load_gone.dll");
  const fs::path needs = put("load_needs_gone.dll", "engine/load_needs_gone.dll");
  ASSERT_TRUE(::SetEnvironmentVariableW(L"PATH", (folder_ / "elsewhere").c_str()));
  EXPECT_EQ(why_not(needs).value(Key::error_number), "126")
      << "PATH is not searched: anybody may put a DLL there";
  put("load_gone.dll", "engine/load_gone.dll");
  EXPECT_EQ(why_not(needs).code, "EH-R11") << "it loads, and is no plugin";
  // Otherwise it would be the load_gone.dll of every later test.
  for (int references = 0; references < 10 && ::GetModuleHandleW(L"load_gone.dll") != nullptr; ++references)
    ::FreeLibrary(::GetModuleHandleW(L"load_needs_gone.dll"));
  EXPECT_EQ(::GetModuleHandleW(L"load_gone.dll"), nullptr);
}

TEST_F(WindowsLoading, W03AFunctionThatTheDllLacksIsError127) {
  if (::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "wine_get_version") != nullptr)
    GTEST_SKIP() << "skipped: Wine loads what lacks an import, and fails at the call";
  const fs::path needs = put("load_needs_gone.dll");
  fs::copy_file(put("load_ok.dll"), folder_ / "load_gone.dll");
  const Diagnosis diagnosis = why_not(needs);
  EXPECT_EQ(diagnosis.code, "EH-W03");
  EXPECT_EQ(diagnosis.value(Key::error_number), "127");
  EXPECT_EQ(diagnosis.value(Key::symbol), "gone");
}

TEST_F(WindowsLoading, W04Error193NamesTheKindOfTheFile) {
  std::string bytes = read_file(put("load_ok.dll")).value();
  const std::size_t header = static_cast<unsigned char>(bytes.at(60));
  bytes.at(header + 4) = '\x64';
  bytes.at(header + 5) = '\xaa';
  test::write_text(folder_ / "arm64.dll", bytes);
  test::write_text(folder_ / "page.dll", "<!DOCTYPE html><title>Log in</title>" + std::string(3000, ' '));
  test::write_text(folder_ / "cut.dll", bytes.substr(0, 700));
  const Diagnosis other = why_not(folder_ / "arm64.dll");
  EXPECT_EQ(other.code, "EH-W04");
  EXPECT_EQ(other.value(Key::error_number), "193");
  EXPECT_EQ(other.value(Key::built_for), "aarch64");
  EXPECT_EQ(why_not(folder_ / "page.dll").value(Key::error_number), "193");
  EXPECT_EQ(why_not(folder_ / "page.dll").code, "EH-F05") << "a page of the web, as on every system";
  EXPECT_EQ(why_not(folder_ / "cut.dll").value(Key::error_number), "193");
}

TEST_F(WindowsLoading, W05StartCodeThatFailsIs1114AndThatCrashes998) {
  const Diagnosis failed = why_not(put("load_fails_to_start.dll"));
  EXPECT_EQ(failed.code, "EH-W05");
  EXPECT_EQ(failed.value(Key::error_number), "1114");
  const Diagnosis crashed = why_not(put("load_crashes_at_start.dll"));
  EXPECT_EQ(crashed.code, "EH-W05");
  EXPECT_EQ(crashed.value(Key::error_number), "998");
}

TEST_F(WindowsLoading, R11ADllWithoutTheEntryIsNoPlugin) {
  const Diagnosis diagnosis = why_not(put("load_exports_nothing.dll"));
  EXPECT_EQ(diagnosis.code, "EH-R11");
  EXPECT_EQ(diagnosis.value(Key::symbol), ENGINE_PLUGIN_SYMBOL);
  EXPECT_EQ(diagnosis.value(Key::stage), "entry");
}

TEST_F(WindowsLoading, AFileThatAScannerBrieflyHoldsIsLoadedAfterwards) {
  const fs::path file = put("load_ok.dll");
  windows::Handle scanner(::CreateFileW(file.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr));
  ASSERT_TRUE(scanner.valid());
  std::thread leaves([&] {
    ::Sleep(300);
    scanner.close();
  });
  EXPECT_EQ(why_not(file).code, "EH-R11") << "it loads, and is no plugin";
  leaves.join();
}

TEST_F(WindowsLoading, ListsLoadedLibraries) {
  const std::vector<Library> before = mapped_libraries();
  EXPECT_TRUE(mapped_since(before).empty());
  why_not(put("load_ok.dll", "counted/load_counted.dll"));
  EXPECT_FALSE(mapped_since(before).empty());
}

}  // namespace
}  // namespace enginehost::load
