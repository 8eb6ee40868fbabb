// The static check by the rules of this Windows, before anything is loaded.
#include <gmock/gmock.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "host/explain/explain.hpp"
#include "host/preflight/preflight.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::preflight {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

class WindowsCheck : public testing::Test {
 protected:
  fs::path put(const char* name, const char* folder = "build") {
    const fs::path to = folder_ / folder / name;
    fs::create_directories(to.parent_path());
    fs::copy_file(fs::path(test::build_path()) / "tests/plugins" / name, to,
                  fs::copy_options::overwrite_existing);
    return to;
  }
  fs::path reference() {
    const fs::path to = folder_ / "build" / "engine_reference.dll";
    fs::create_directories(to.parent_path());
    fs::copy_file(REFERENCE_ENGINE, to, fs::copy_options::overwrite_existing);
    return to;
  }
  Spec spec_of(const fs::path& plugin) {
    Spec spec;
    spec.view = folder_ / "build";
    spec.plugin = plugin;
    spec.machine = linker::describe_this_machine();
    spec.machine.loaded = linker::loaded_libraries();
    return spec;
  }
  test::TemporaryFolder folder_;
};

TEST_F(WindowsCheck, TheReferenceEngineWillLoad) {
  Spec spec = spec_of(reference());
  spec.symbols = true;
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::loads)
      << (report.diagnoses.empty() ? "" : explain::describe(report.diagnoses.front()));
  EXPECT_EQ(report.kind, binary::Kind::pe);
  EXPECT_TRUE(report.diagnoses.empty());
  EXPECT_TRUE(report.load_order.empty()) << "it brings no other DLL";
}

TEST_F(WindowsCheck, W01AMissingDllIsNamedWithTheSearchedFolders) {
  Spec spec = spec_of(put("load_needs_gone.dll"));
  spec.plugin_header = false;
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_FALSE(report.diagnoses.empty());
  const Diagnosis& found = report.diagnoses.front();
  EXPECT_EQ(found.code, "EH-W01");
  EXPECT_EQ(found.value(Key::library), "load_gone.dll");
  EXPECT_THAT(to_lower(found.value(Key::needed_by)), HasSubstr("load_needs_gone.dll"));
  EXPECT_THAT(found.values(Key::searched), Contains(HasSubstr("system32")));
  EXPECT_THAT(report.depends_on,
              Contains(testing::ResultOf([](const fs::path& path) { return to_lower(path_text(path)); },
                                         HasSubstr("system32\\load_gone.dll"))))
      << "its appearing there would change the answer";
}

TEST_F(WindowsCheck, W02ADllOfAnotherFolderOfTheBuildIsOpenedFirst) {
  put("load_gone.dll", "build/lib");
  Spec spec = spec_of(put("load_needs_gone.dll"));
  spec.search = {folder_ / "build/lib"};
  spec.plugin_header = false;
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::loads)
      << (report.diagnoses.empty() ? "" : explain::describe(report.diagnoses.front()));
  ASSERT_EQ(report.load_order.size(), 1u);
  EXPECT_EQ(report.load_order.front().filename(), fs::path("load_gone.dll"));
}

TEST_F(WindowsCheck, W03AFunctionThatTheDllLacksIsNamed) {
  const fs::path needs = put("load_needs_gone.dll");
  fs::rename(put("load_ok.dll"), folder_ / "build/load_gone.dll");
  Spec spec = spec_of(needs);
  spec.plugin_header = false;
  spec.symbols = true;
  const Report report = check(spec);
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_FALSE(report.diagnoses.empty());
  EXPECT_EQ(report.diagnoses.front().code, "EH-W03");
  EXPECT_EQ(report.diagnoses.front().value(Key::symbol), "gone");
  EXPECT_EQ(to_lower(report.diagnoses.front().value(Key::path)),
            to_lower(path_text(folder_ / "build/load_gone.dll")));
}

TEST_F(WindowsCheck, W04AnotherProcessorIsNamed) {
  const fs::path plugin = put("load_ok.dll");
  std::string bytes = read_file(plugin).value();
  const std::size_t header = static_cast<unsigned char>(bytes.at(60));
  bytes.at(header + 4) = '\x64';
  bytes.at(header + 5) = '\xaa';
  test::write_text(plugin, bytes);
  const Report report = check(spec_of(plugin));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_FALSE(report.diagnoses.empty());
  EXPECT_EQ(report.diagnoses.front().code, "EH-W04");
  EXPECT_EQ(report.diagnoses.front().value(Key::built_for), "aarch64");
}

TEST_F(WindowsCheck, R11R12ThePluginsDescriptorIsReadFromItsFile) {
  const Report none = check(spec_of(put("load_ok.dll")));
  EXPECT_EQ(none.verdict, Verdict::fails);
  ASSERT_FALSE(none.diagnoses.empty());
  EXPECT_EQ(none.diagnoses.front().code, "EH-R11");
  const Report other = check(spec_of(put("played_other_abi.dll")));
  EXPECT_EQ(other.verdict, Verdict::fails);
  ASSERT_FALSE(other.diagnoses.empty());
  EXPECT_EQ(other.diagnoses.front().code, "EH-R12");
}

TEST_F(WindowsCheck, L17ALoadedLibraryOfTheNameIsReported) {
  const fs::path held = put("load_gone.dll", "elsewhere");
  const HMODULE module = ::LoadLibraryW(held.c_str());
  ASSERT_NE(module, nullptr);
  put("load_gone.dll");
  Spec spec = spec_of(put("load_needs_gone.dll"));
  ::FreeLibrary(module);
  spec.plugin_header = false;
  const Report report = check(spec);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].code, "EH-L17");
  EXPECT_EQ(to_lower(report.warnings[0].value(Key::path)), to_lower(path_text(held)));
}

TEST_F(WindowsCheck, F09AnotherSystemsLibraryIsNamedAsOne) {
  std::string elf(4096, '\0');
  const unsigned char head[] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
  std::copy(std::begin(head), std::end(head), elf.begin());
  elf[16] = 3;
  elf[18] = 62;
  elf[20] = 1;
  elf[52] = 64;
  const fs::path plugin = folder_ / "build/libengine_x.so";
  test::write_text(plugin, elf);
  const Report report = check(spec_of(plugin));
  EXPECT_EQ(report.verdict, Verdict::fails);
  ASSERT_FALSE(report.diagnoses.empty());
  const auto inspected = inspect(plugin, false, linker::describe_this_machine());
  ASSERT_TRUE(inspected);
  EXPECT_EQ(inspected->verdict, Verdict::fails);
}

TEST_F(WindowsCheck, InspectingASystemDllListsItsClosure) {
  wchar_t folder[MAX_PATH];
  ASSERT_NE(::GetSystemDirectoryW(folder, MAX_PATH), 0u);
  const auto report = inspect(fs::path(folder) / "ws2_32.dll", false, linker::describe_this_machine());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->verdict, Verdict::loads)
      << (report->diagnoses.empty() ? "" : explain::describe(report->diagnoses.front()));
  EXPECT_FALSE(report->closure.empty());
  EXPECT_EQ(to_json(*report, explain::to_json)["kind"].as_string(), "pe");
}

}  // namespace
}  // namespace enginehost::preflight
