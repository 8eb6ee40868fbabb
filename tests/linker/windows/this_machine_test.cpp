// This machine as a value, and our verdicts compared with its loader's. Under Wine the loader is Wine's.
#include "host/linker/windows.hpp"

#include <gmock/gmock.h>

#include <set>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::linker {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

// A closure of three DLLs: top needs middle, which needs base.
class ThisWindows : public testing::Test {
 protected:
  fs::path put(const fs::path& below, const char* name) {
    fs::create_directories(folder_ / below.string());
    const fs::path to = folder_ / (below / name).string();
    fs::copy_file(fs::path(test::build_path()) / "tests/dlls" / name, to,
                  fs::copy_options::overwrite_existing);
    return to;
  }
  WindowsClosure closure_of(const fs::path& file, std::vector<std::string> added = {}) {
    WindowsRequest request;
    request.file = path_text(file);
    Reader reader;
    return close_windows(describe_this_windows(std::move(added)), request, reader);
  }
  // Whether Windows loads it with our loader's flags: the number of the error, or 0.
  DWORD loader_says(const fs::path& file, const fs::path& added = {}) {
    const DLL_DIRECTORY_COOKIE cookie = added.empty() ? nullptr : ::AddDllDirectory(added.c_str());
    const HMODULE module = ::LoadLibraryExW(file.c_str(), nullptr, load_flags);
    const DWORD error = module == nullptr ? ::GetLastError() : 0;
    if (module != nullptr) ::FreeLibrary(module);
    if (cookie != nullptr) ::RemoveDllDirectory(cookie);
    return error;
  }
  test::TemporaryFolder folder_;
};

TEST_F(ThisWindows, FoldersDrivesAndModulesAreThoseOfThisProcess) {
  const WindowsMachine machine = describe_this_windows({"C:\\added"});
  EXPECT_EQ(machine.architecture, "x86_64");
  EXPECT_TRUE(machine.drives.contains('C'));
  EXPECT_TRUE(fs::exists(fs::path(machine.system_directory) / "kernel32.dll")) << machine.system_directory;
  EXPECT_EQ(to_lower(machine.windows_directory),
            to_lower(machine.system_directory).substr(0, machine.windows_directory.size()));
  EXPECT_TRUE(fs::exists(fs::path(machine.application_directory) / "linker_tests.exe"));
  EXPECT_THAT(machine.added_directories, Contains("C:\\added"));
  EXPECT_TRUE(machine.safe_search);
  std::set<std::string> names;
  for (const LoadedLibrary& module : machine.loaded) names.insert(to_lower(module.soname));
  EXPECT_TRUE(names.contains("linker_tests.exe"));
  EXPECT_TRUE(names.contains("kernel32.dll"));
}

TEST_F(ThisWindows, AClosureBesideItsDllLoadsAndEachFileIsFound) {
  const fs::path top = put("engine", "win_top.dll");
  const fs::path middle = put("engine", "win_middle.dll"), base = put("engine", "win_base.dll");
  const WindowsClosure closure = closure_of(top);
  EXPECT_TRUE(closure.closure.loads());
  EXPECT_EQ(loader_says(top), 0u);
  std::set<std::string> paths;
  for (const Object& object : closure.closure.objects) paths.insert(to_lower(object.path));
  EXPECT_TRUE(paths.contains(to_lower(path_text(middle))));
  EXPECT_TRUE(paths.contains(to_lower(path_text(base))));
}

TEST_F(ThisWindows, W01TheMissingDllOf126IsNamedWithItsImporter) {
  const fs::path top = put("engine", "win_top.dll"), middle = put("engine", "win_middle.dll");
  EXPECT_EQ(loader_says(top), 126u);
  const std::vector<Diagnosis> found = diagnose_windows(closure_of(top));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-W01");
  EXPECT_EQ(found[0].value(Key::library), "win_base.dll");
  EXPECT_EQ(to_lower(found[0].value(Key::needed_by)), to_lower(path_text(middle)));
  EXPECT_THAT(found[0].values(Key::searched), Contains(HasSubstr(path_text(folder_ / "engine"))));
}

TEST_F(ThisWindows, AFolderThatWasAddedIsSearched) {
  const fs::path top = put("engine", "win_top.dll"), middle = put("engine", "win_middle.dll");
  put("runtime", "win_base.dll");
  EXPECT_EQ(loader_says(top), 126u);
  EXPECT_FALSE(closure_of(top).closure.loads());
  EXPECT_EQ(loader_says(top, folder_ / "runtime"), 0u);
  EXPECT_TRUE(closure_of(top, {path_text(folder_ / "runtime")}).closure.loads());
}

TEST_F(ThisWindows, W04AFileForAnotherMachineIs193WithItsMachine) {
  const fs::path base = put("engine", "win_base.dll");
  std::string bytes = test::read_text(base);
  const std::size_t header = static_cast<unsigned char>(bytes.at(60));
  bytes.at(header + 4) = '\x64';
  bytes.at(header + 5) = '\xaa';
  const fs::path narrow = folder_ / "engine/arm64.dll";
  test::write_text(narrow, bytes);
  EXPECT_EQ(loader_says(narrow), 193u);
  const std::vector<Diagnosis> found = diagnose_windows(closure_of(narrow));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].code, "EH-W04");
  EXPECT_EQ(found[0].value(Key::built_for), "aarch64");
}

TEST_F(ThisWindows, ThePartsOfThisWindowsAreAllThere) {
  for (const char* name : {"kernel32.dll", "advapi32.dll", "ws2_32.dll", "version.dll"}) {
    const fs::path file = fs::path(describe_this_windows().system_directory) / name;
    EXPECT_EQ(loader_says(file), 0u) << name;
    EXPECT_TRUE(closure_of(file).closure.loads()) << name;
  }
}

}  // namespace
}  // namespace enginehost::linker
