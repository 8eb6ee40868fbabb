// Files on Windows: the promises of base/files that hold everywhere, and those of Windows alone.
#include "base/files.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/child_process.hpp"
#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/system_errors.hpp"
#include "base/windows/system.hpp"
#include "base/windows/wide.hpp"
#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(path_text(entry.path().filename()));
  return names;
}

TEST(WindowsErrors, WithoutAPosixEquivalentKeepTheirNumberAndText) {
  const Diagnosis found = diagnose_errno(Code::disk_full, windows::errno_of(ERROR_INTERNAL_ERROR));
  EXPECT_EQ(found.value(Key::errno_), "Windows error 1359");
  EXPECT_EQ(found.value(Key::os_said), windows::error_text(ERROR_INTERNAL_ERROR) + " (error 1359)");
  EXPECT_NE(windows::error_text(ERROR_INTERNAL_ERROR), "");
  // Windows has no text for this number.
  EXPECT_EQ(diagnose_errno(Code::disk_full, windows::errno_of(15999)).value(Key::os_said), "error 15999");
  for (std::uint32_t error = 0; error < 16000; ++error)
    if (const int number = windows::errno_of(error); number > 0xFFFF)
      ASSERT_EQ(windows::windows_error_in(number), error);
    else
      ASSERT_NE(error_text(number), error == 0 ? "" : "unknown error") << error;
}

TEST(WindowsFiles, ReportsThePathOfAnOpenFileInDriveForm) {
  EXPECT_EQ(windows::without_prefix(R"(\\?\C:\folder\a)"), R"(C:\folder\a)");
  EXPECT_EQ(windows::without_prefix(R"(\\?\UNC\server\share\a)"), R"(\\server\share\a)");
  EXPECT_EQ(windows::without_prefix(""), "");
}

TEST(WindowsFiles, AStampChangesWithContentAndNotWithLinks) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "one", false));
  const FileStamp before = stamp_of(folder / "a").value();
  EXPECT_EQ(before.size, 3u);
  EXPECT_NE(before.inode, 0u);
  ASSERT_EQ(calls::link(folder / "a", folder / "b"), 0);
  EXPECT_EQ(stamp_of(folder / "b").value(), before);
  ASSERT_TRUE(write_file(folder / "a", "two", false));
  EXPECT_FALSE(stamp_of(folder / "a").value() == before) << "same size, but another file";
  const auto missing = stamp_of(folder / "c", Code::library_missing);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "EH-L01");
  EXPECT_EQ(missing.error().value(Key::errno_), "ENOENT");
  EXPECT_EQ(missing.error().value(Key::file), path_text(folder / "c"));
}

TEST(WindowsFiles, ReadsTheWholeFileOrReportsTheReason) {
  const TemporaryFolder folder;
  const std::string bytes = std::string("\0\xff\r\n\x1a", 5) + std::string(200'000, 'x');
  ASSERT_TRUE(write_file(folder / "a", bytes, false));
  EXPECT_EQ(read_file(folder / "a").value(), bytes) << "no byte means anything";
  const auto too_long = read_file(folder / "a", bytes.size() - 1, Code::not_json);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().value(Key::limit), std::to_string(bytes.size() - 1));
  EXPECT_EQ(read_file(folder / "none").error().value(Key::errno_), "ENOENT");
  EXPECT_EQ(read_file(folder / "none/below").error().value(Key::errno_), "ENOENT");
  EXPECT_EQ(read_file(folder / "a/below").error().value(Key::errno_), "ENOTDIR");
  EXPECT_EQ(read_file(folder.path()).error().value(Key::errno_), "EISDIR");
}

TEST(WindowsFiles, MakesFoldersAndAcceptsExistingOnes) {
  const TemporaryFolder folder;
  EXPECT_TRUE(make_folders(folder / "a/b/c"));
  EXPECT_TRUE(make_folders(folder / "a/b/c"));
  ASSERT_TRUE(write_file(folder / "file", "", false));
  const auto below_file = make_folders(folder / "file/x");
  ASSERT_FALSE(below_file);
  EXPECT_EQ(below_file.error().code, "EH-F16");
}

TEST(WindowsFiles, WritingReplacesTheFileAsAWhole) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "record", std::string(100'000, 'a')));
  std::atomic<bool> stop = false;
  int reads = 0;
  std::string torn;
  std::thread reader([&] {
    while (!stop) {
      const auto bytes = read_file(folder / "record");
      if (!bytes || bytes->size() != 100'000 || bytes->find_first_not_of(bytes->front()) != std::string::npos)
        torn = bytes ? "torn" : "missing: " + std::string(bytes.error().value(Key::errno_));
      ++reads;
      // A reader that never closes the file keeps it from being replaced, on Windows and on Wine.
      ::Sleep(1);
    }
  });
  std::string failed;
  for (int i = 0; i < 200 && failed.empty(); ++i)
    if (const auto written =
            write_file(folder / "record", std::string(100'000, static_cast<char>('a' + i % 26)), i % 50 == 0);
        !written)
      failed = written.error().value(Key::errno_);
  stop = true;
  reader.join();
  EXPECT_EQ(failed, "");
  EXPECT_GT(reads, 0);
  EXPECT_EQ(torn, "");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("record")) << "no temporary file is left";
}

TEST(WindowsFiles, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  EXPECT_EQ(write_file(folder / "no/such/file", "x").error().value(Key::errno_), "ENOENT");
  fs::create_directory(folder / "is-a-folder");
  ASSERT_TRUE(write_file(folder / "is-a-folder/full", "x", false));
  const auto over_folder = write_file(folder / "is-a-folder", "x");
  ASSERT_FALSE(over_folder);
  EXPECT_EQ(over_folder.error().value(Key::errno_), "EISDIR");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("is-a-folder"));
}

TEST(WindowsFiles, NamesBeyondAsciiAndLongerThanWindowsOldLimitWork) {
  const TemporaryFolder folder;
  fs::path deep = folder / L"\u00e9t\u00e9 \u6f22\u5b57 \U0001F600";
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(calls::mkdir(deep, 0755) == 0 || errno == EEXIST) << i;
    deep /= std::string(40, 'd');
  }
  const fs::path file = deep.parent_path() / L"\u00fcber.dll";
  ASSERT_GT(file.native().size(), 400u);
  ASSERT_TRUE(write_file(file, "long"));
  EXPECT_EQ(read_file(file).value(), "long");
  EXPECT_EQ(sha256_of_file(file).value(), sha256_hex("long"));
  EXPECT_THAT(path_text(file), HasSubstr("\u00e9t\u00e9 \u6f22\u5b57 \U0001F600\\"));
  EXPECT_EQ(calls::access(path_text(file), 0), 0) << "the same name in UTF-8";
  const fs::path moved = deep.parent_path() / "moved.dll";
  EXPECT_EQ(calls::rename(file, moved), 0);
  EXPECT_EQ(calls::unlink(moved), 0);
}

TEST(WindowsFiles, TextIsUtf8AndNoTextIsLost) {
  EXPECT_EQ(windows::utf8(L"caf\u00e9 \U0001F600"), "caf\u00e9 \U0001F600");
  EXPECT_EQ(windows::wide("caf\u00e9 \U0001F600"), L"caf\u00e9 \U0001F600");
  EXPECT_EQ(windows::wide("bad \xff byte"), L"bad \ufffd byte");
  const wchar_t lone[] = {L'x', 0xD800, 0};
  EXPECT_EQ(windows::utf8(lone), "x\ufffd");
  EXPECT_EQ(path_text(fs::path("a/b\\c")), "a\\b\\c");
}

// Rename first: the way to install a new DLL while a program has the old one loaded.
TEST(WindowsFiles, ADllInUseCanBeRenamedAsideAndIsNeitherReplacedNorRemoved) {
  const TemporaryFolder folder;
  const fs::path system = [] {
    wchar_t path[MAX_PATH];
    return fs::path(std::wstring(path, ::GetSystemDirectoryW(path, MAX_PATH)));
  }();
  const fs::path dll = folder / "used.dll";
  fs::copy_file(system / "version.dll", dll);
  const HMODULE loaded = ::LoadLibraryExW(dll.c_str(), nullptr, 0x1100);
  ASSERT_NE(loaded, nullptr) << ::GetLastError();
  EXPECT_EQ(calls::unlink(dll), -1);
  EXPECT_EQ(errno, EACCES);
  ASSERT_TRUE(write_file(folder / "new", "new", false));
  EXPECT_EQ(calls::rename(folder / "new", dll), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_EQ(calls::rename(dll, folder / "used.dll.old"), 0);
  EXPECT_EQ(calls::rename(folder / "new", dll), 0);
  EXPECT_EQ(read_file(dll).value(), "new");
  ::FreeLibrary(loaded);
  EXPECT_EQ(calls::unlink(folder / "used.dll.old"), 0);
}

TEST(WindowsFiles, ReplacesAFileThatWasBrieflyOpen) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "record", "old", false));
  // Opens without sharing, as a scanner does.
  windows::Handle scanner(
      ::CreateFileW((folder / "record").c_str(), GENERIC_READ, 0, nullptr, OPEN_EXISTING, 0, nullptr));
  ASSERT_TRUE(scanner.valid());
  std::thread leaves([&] {
    ::Sleep(300);
    scanner.close();
  });
  const auto written = write_file(folder / "record", "new", false);
  leaves.join();
  EXPECT_TRUE(written);
  EXPECT_EQ(read_file(folder / "record").value(), "new");
}

TEST(WindowsFiles, AReadOnlyFileIsReplacedAndRemovedAsElsewhere) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "x", false));
  const auto protect = [&] {
    return ::SetFileAttributesW((folder / "a").c_str(), FILE_ATTRIBUTE_READONLY) != 0;
  };
  ASSERT_TRUE(protect());
  calls::Status status;
  ASSERT_EQ(calls::stat(folder / "a", &status), 0);
  EXPECT_EQ(status.st_mode & 0222, 0u);
  // Whether a read-only file can still be opened for writing depends on the user's rights; an administrator's
  // can, also under Wine.
  EXPECT_TRUE(write_file(folder / "a", "y", false));
  ASSERT_TRUE(protect());
  EXPECT_EQ(calls::unlink(folder / "a"), 0);
  EXPECT_TRUE(names_in(folder.path()).empty());
}

// libstdc++'s remove_all never returns in this case.
TEST(WindowsFiles, AFolderHeldOpenFailsTheRemovalAndTheRestGoes) {
  const TemporaryFolder folder;
  const fs::path tree = folder / "tree";
  fs::create_directories(tree / "held" / "below");
  fs::create_directories(tree / "other");
  ASSERT_TRUE(write_file(tree / "held" / "below" / "a", "one", false));
  ASSERT_TRUE(write_file(tree / "other" / "b", "two", false));
  ::SetFileAttributesW((tree / "other" / "b").c_str(), FILE_ATTRIBUTE_READONLY);
  std::error_code error;
  {
    const windows::Handle held(::CreateFileW((tree / "held").c_str(), FILE_READ_ATTRIBUTES,
                                             FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_EXISTING,
                                             FILE_FLAG_BACKUP_SEMANTICS, nullptr));
    ASSERT_TRUE(held.valid());
    remove_tree(tree, error);
    EXPECT_TRUE(error) << "it may not be removed while somebody holds it";
    EXPECT_THAT(names_in(tree), testing::ElementsAre("held"));
    EXPECT_THAT(names_in(tree / "held"), testing::IsEmpty());
  }
  remove_tree(tree, error);
  EXPECT_FALSE(error) << error.message();
  EXPECT_FALSE(fs::exists(tree));
  remove_tree(tree, error);
  EXPECT_FALSE(error) << "what is not there needs no removing";
}

TEST(WindowsFiles, FoldersMoveOverEmptyOnesOnly) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "stage/in");
  fs::create_directories(folder / "empty");
  EXPECT_EQ(calls::rename(folder / "stage", folder / "empty"), 0);
  EXPECT_TRUE(fs::is_directory(folder / "empty/in"));
  fs::create_directories(folder / "stage");
  EXPECT_EQ(calls::rename(folder / "stage", folder / "empty"), -1);
  EXPECT_EQ(errno, ENOTEMPTY);
  EXPECT_EQ(calls::unlink(folder / "stage"), -1);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(calls::rmdir(folder / "stage"), 0);
}

TEST(WindowsFiles, FoldersCanBeOpened) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "x", false));
  const FileDescriptor opened(calls::open(folder.path(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  ASSERT_TRUE(opened.valid());
  calls::Status status;
  EXPECT_EQ(calls::lstat(folder / "a", &status), 0);
  EXPECT_EQ(status.st_size, 1);
  const FileDescriptor inside(calls::openat(opened.get(), "a", O_RDONLY));
  char byte = 0;
  EXPECT_EQ(calls::pread(inside.get(), &byte, 1, 0), 1);
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(calls::pread(inside.get(), &byte, 1, 5), 0) << "beyond the end";
  EXPECT_LT(calls::open(folder / "a", O_RDONLY | O_DIRECTORY), 0);
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_TRUE(sync_folder(folder.path()));
}

TEST(WindowsFiles, PositionsBeyondFourGigabytesAreKept) {
  const TemporaryFolder folder;
  const FileDescriptor file(calls::open(folder / "large", O_RDWR | O_CREAT, 0644));
  ASSERT_TRUE(file.valid());
  constexpr calls::Offset far_away = 5'000'000'000;
  ASSERT_EQ(calls::pwrite(file.get(), "end", 3, far_away), 3);
  calls::Status status;
  ASSERT_EQ(calls::fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, far_away + 3);
  EXPECT_EQ(calls::ftruncate(file.get(), 10), 0);
  ASSERT_EQ(calls::fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, 10);
}

TEST(WindowsFiles, ALockIsOfOneDescriptorAndHoldsAgainstOtherProcesses) {
  const TemporaryFolder folder;
  const fs::path file = folder / "lock";
  const FileDescriptor first(calls::open(file, O_RDWR | O_CREAT, 0644)), second(calls::open(file, O_RDWR));
  ASSERT_TRUE(first.valid() && second.valid());
  ASSERT_EQ(calls::flock(first.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(calls::flock(second.get(), LOCK_SH | LOCK_NB), -1);
  EXPECT_EQ(errno, EWOULDBLOCK);
  EXPECT_EQ(calls::pwrite(second.get(), "x", 1, 0), 1) << "the content is not locked";
  ASSERT_EQ(calls::flock(first.get(), LOCK_SH | LOCK_NB), 0) << "one lock replaces the other";
  EXPECT_EQ(calls::flock(second.get(), LOCK_SH | LOCK_NB), 0);
  ASSERT_EQ(calls::flock(first.get(), LOCK_UN), 0);
  ASSERT_EQ(calls::flock(second.get(), LOCK_EX | LOCK_NB), 0);

  ChildRequest request;
  request.argv = {BASE_FIXTURE, "hold-lock", path_text(file)};
  EXPECT_EQ(run_child(request).value().exit_code, 1) << "this process holds it";
  ASSERT_EQ(calls::flock(second.get(), LOCK_UN), 0);
  EXPECT_EQ(run_child(request).value().exit_code, 0);
  EXPECT_EQ(calls::flock(first.get(), LOCK_EX | LOCK_NB), 0) << "it went with the process";
}

TEST(WindowsFiles, PrivateFoldersAreNew) {
  const TemporaryFolder folder;
  const auto first = make_private_folder(folder.path(), "stage-"),
             second = make_private_folder(folder.path(), "stage-");
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(make_private_folder(folder / "none", "x").error().value(Key::errno_), "ENOENT");
}

TEST(WindowsFiles, FindsTheFolderOfTheProgram) {
  EXPECT_TRUE(fs::exists(executable_folder() / "base_tests.exe"));
  EXPECT_EQ(library_folder(), executable_folder()) << "this code is linked into the test";
}

TEST(WindowsFiles, BelowIsDecidedByPathElements) {
  EXPECT_TRUE(is_below("C:\\a\\b", "C:\\a"));
  EXPECT_TRUE(is_below("C:/a/b", "C:\\a\\"));
  EXPECT_TRUE(is_below("C:\\a\\b\\..\\c", "C:\\a"));
  EXPECT_FALSE(is_below("C:\\ab", "C:\\a"));
  EXPECT_FALSE(is_below("D:\\a\\b", "C:\\a"));
  EXPECT_FALSE(is_below("C:\\a\\..\\b", "C:\\a"));
}

}  // namespace
}  // namespace enginehost
