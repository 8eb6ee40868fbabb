// Numbers of LoadLibraryEx together with the files. Where Wine's loader cannot return a number of Windows,
// the test passes it in, over real DLLs, and has "Number" in its name.
#include "host/load/in_process/open_library.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <thread>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/windows/system.hpp"
#include "host/explain/explain.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::load {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class WindowsLoadError : public testing::Test {
 protected:
  fs::path put(const char* name, const fs::path& as = {}) {
    const fs::path to = folder_.path() / (as.empty() ? fs::path(name) : as);
    EXPECT_TRUE(make_folders(to.parent_path()));
    EXPECT_TRUE(
        write_file(to, read_file(fs::path(test::build_path()) / "tests/plugins" / name).value(), false));
    return to;
  }
  static Diagnosis reported(const fs::path& file, DWORD error) {
    Diagnosis diagnosis = diagnose_load_error(file, error);
    return diagnosis;
  }
  test::TemporaryFolder folder_;
};

// As an open file of another program that shares nothing.
HANDLE hold(const fs::path& file) {
  return ::CreateFileW(file.c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr);
}

TEST_F(WindowsLoadError, W03Error127NamesTheFunctionItsDllAndTheImporter) {
  const fs::path needs = put("load_needs_gone.dll"), older = put("load_ok.dll", "load_gone.dll");
  const Diagnosis diagnosis = reported(needs, ERROR_PROC_NOT_FOUND);
  EXPECT_EQ(diagnosis.code, "EH-W03");
  EXPECT_EQ(diagnosis.value(Key::symbol), "gone");
  EXPECT_EQ(to_lower(diagnosis.value(Key::path)), to_lower(path_text(older)));
  EXPECT_EQ(to_lower(diagnosis.value(Key::required_by)), to_lower(path_text(needs)));
  EXPECT_EQ(diagnosis.value(Key::error_number), "127");
  EXPECT_THAT(explain::render(diagnosis).cause, HasSubstr("lacks gone, which load_needs_gone.dll needs"));
  ASSERT_FALSE(explain::render(diagnosis).remedy.empty());
  EXPECT_THAT(explain::render(diagnosis).remedy.front(), HasSubstr("remove the old copy "));
}

TEST_F(WindowsLoadError, W09AFileThatAnotherProgramHoldsIsRetriedAndThenNamed) {
  const fs::path file = put("load_ok.dll");
  const HANDLE held = hold(file);
  ASSERT_NE(held, INVALID_HANDLE_VALUE);
  const auto begin = std::chrono::steady_clock::now();
  auto refused = OpenLibrary::at(file);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1))
      << "a scanner's look is waited for";
  ::CloseHandle(held);
  ASSERT_FALSE(refused);
  Diagnosis diagnosis = refused.error();
  EXPECT_EQ(diagnosis.code, "EH-W09");
  EXPECT_EQ(diagnosis.value(Key::error_number), "32");
  EXPECT_EQ(explain::render(diagnosis).cause, path_text(file) + " is held by another program (error 32)");
  EXPECT_EQ(explain::category(diagnosis), history::Category::transient);
}

TEST_F(WindowsLoadError, W09AFileReleasedMeanwhileIsOpened) {
  const fs::path file = put("load_ok.dll");
  const HANDLE held = hold(file);
  ASSERT_NE(held, INVALID_HANDLE_VALUE);
  std::thread scanner([held] {
    ::Sleep(300);
    ::CloseHandle(held);
  });
  const auto opened = OpenLibrary::at(file);
  scanner.join();
  EXPECT_TRUE(opened) << opened.error().value(Key::error_number);
}

TEST_F(WindowsLoadError, W09DeniedAndVirusNumbersAreNotCalledHeld) {
  const fs::path file = put("load_ok.dll");
  EXPECT_EQ(explain::render(reported(file, ERROR_ACCESS_DENIED)).cause,
            path_text(file) + " may not be read: Windows denies access (error 5)");
  EXPECT_EQ(explain::render(reported(file, 225)).cause,
            "a virus scanner refuses " + path_text(file) + " (error 225)");
  EXPECT_EQ(reported(file, 225).code, "EH-W09");
}

TEST_F(WindowsLoadError, PolicyNumbersAreNamedAndTheSignatureIsRead) {
  const fs::path file = put("load_ok.dll");
  for (const auto& [error, name] : {std::pair<DWORD, const char*>{577, "no signature of"},
                                    {1260, "AppLocker"},
                                    {4551, "Smart App Control"}}) {
    const Diagnosis diagnosis = reported(file, error);
    EXPECT_EQ(diagnosis.code, "EH-W10");
    EXPECT_THAT(explain::render(diagnosis).cause, HasSubstr(name));
    EXPECT_THAT(explain::render(diagnosis).cause,
                HasSubstr(path_text(file.filename()) + (error == 577 ? "," : " (error")));
    EXPECT_EQ(diagnosis.value(Key::signature), "none");
    EXPECT_EQ(explain::category(diagnosis), history::Category::policy);
  }
  // A security directory at the end of the file, as a signing tool appends it.
  std::string bytes = read_file(file).value();
  const std::size_t directory = static_cast<unsigned char>(bytes.at(60)) + 24u + 112u + 4u * 8u;
  const auto put_number = [&](std::size_t at, std::uint32_t number) {
    for (int i = 0; i < 4; ++i)
      bytes.at(at + static_cast<std::size_t>(i)) = static_cast<char>(number >> (8 * i));
  };
  bytes.resize((bytes.size() + 7) / 8 * 8);
  put_number(directory, static_cast<std::uint32_t>(bytes.size()));
  put_number(directory + 4, 64);
  bytes.append(64, '\0');
  const fs::path with_certificate = folder_ / "signed.dll";
  ASSERT_TRUE(write_file(with_certificate, bytes, false));
  EXPECT_EQ(reported(with_certificate, 577).value(Key::signature), "a certificate is attached");
}

TEST_F(WindowsLoadError, W12TheAssemblyOfTheManifestIsNamedForTheNumber) {
  const fs::path file = put("load_names_assembly.dll");
  EXPECT_TRUE(OpenLibrary::at(file)) << "Wine does without; Windows gives 14001";
  const Diagnosis diagnosis = reported(file, ERROR_SXS_CANT_GEN_ACTCTX);
  EXPECT_EQ(diagnosis.code, "EH-W12");
  EXPECT_THAT(std::string(diagnosis.value(Key::assembly)), HasSubstr("Engine.Nowhere"));
  EXPECT_EQ(diagnosis.value(Key::error_number), "14001");
  EXPECT_THAT(explain::render(diagnosis).cause,
              HasSubstr("load_names_assembly.dll names the side-by-side assembly Engine.Nowhere"));
  EXPECT_THAT(explain::render(diagnosis).remedy, Not(testing::Contains(HasSubstr("short path"))));
}

TEST_F(WindowsLoadError, W12TheLengthOfATooLongPathIsNamedForTheNumber) {
  const fs::path file =
      put("load_ok.dll", fs::path(std::wstring(120, L'a')) / std::wstring(120, L'b') / "load_ok.dll");
  EXPECT_TRUE(OpenLibrary::at(file)) << "ours are opened by \\\\?\\, which knows no such limit";
  const Diagnosis diagnosis = reported(file, ERROR_FILENAME_EXCED_RANGE);
  EXPECT_EQ(diagnosis.code, "EH-W12");
  EXPECT_EQ(diagnosis.value(Key::path_length), std::to_string(file.native().size()));
  EXPECT_THAT(explain::render(diagnosis).cause,
              HasSubstr("has " + std::to_string(file.native().size()) + " characters (error 206)"));
  EXPECT_THAT(explain::render(diagnosis).remedy, testing::Contains(HasSubstr("short path")));
}

}  // namespace
}  // namespace enginehost::load
