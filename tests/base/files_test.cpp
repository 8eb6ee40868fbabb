#include "base/files.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "base/child_process.hpp"
#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename());
  return names;
}

// A copy of the fixture in a place where any user can run it.
fs::path fixture_in(const TemporaryFolder& folder) {
  const fs::path program = folder / "base_fixture";
  fs::copy_file(BASE_FIXTURE, program);
  fs::permissions(program, fs::perms{0755});
  return program;
}

ChildOutcome run(std::vector<std::string> argv) {
  ChildRequest request;
  request.argv = std::move(argv);
  return run_child(request).value();
}

// A file in the current folder must not change where the probe and the repository are searched.
TEST(Folders, OfAProgramFoundByPathAreItsOwn) {
  const TemporaryFolder folder, elsewhere;
  const std::string program = fixture_in(folder).parent_path().native();
  const std::string real = fs::canonical(program).native();
  fs::create_directories(elsewhere / "base_fixture");
  const ChildOutcome by_path = run(
      {"/bin/sh", "-c", "cd \"$0\" && PATH=\"$1\" base_fixture where", elsewhere.path().native(), program});
  EXPECT_EQ(by_path.output, real + "\n" + real + "\n");
  const ChildOutcome by_relative_path = run({"/bin/sh", "-c", "cd \"$0\" && ./base_fixture where", program});
  EXPECT_EQ(by_relative_path.output, real + "\n" + real + "\n");
}

TEST(FileDescriptor, ClosesWhatItOwnsOnce) {
  const auto is_open = [](int number) { return ::fcntl(number, F_GETFD) >= 0; };
  FileDescriptor first(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int number = first.get();
  FileDescriptor second(std::move(first));
  EXPECT_FALSE(first.valid());
  EXPECT_EQ(second.get(), number);
  FileDescriptor third;
  third = std::move(second);
  EXPECT_TRUE(is_open(number));
  FileDescriptor& same = third;
  third = std::move(same);
  EXPECT_EQ(third.get(), number);
  third.close();
  EXPECT_FALSE(is_open(number));
  third.close();
  FileDescriptor kept(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const FileDescriptor given(kept.release());
  EXPECT_FALSE(kept.valid());
  EXPECT_TRUE(is_open(given.get()));
}

TEST(Files, AStampChangesWithContentAndNotWithLinks) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "a", "one", false));
  const FileStamp before = stamp_of(folder / "a").value();
  EXPECT_EQ(before.size, 3u);
  fs::create_hard_link(folder / "a", folder / "b");
  EXPECT_EQ(stamp_of(folder / "a").value(), before);
  EXPECT_EQ(stamp_of(folder / "b").value(), before);
  ASSERT_TRUE(write_file(folder / "a", "two", false));
  EXPECT_FALSE(stamp_of(folder / "a").value() == before) << "same size, but another file";
  const auto missing = stamp_of(folder / "c", Code::library_missing);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, "EH-L01");
  EXPECT_EQ(missing.error().value(Key::errno_), "ENOENT");
  EXPECT_EQ(missing.error().value(Key::file), (folder / "c").native());
}

TEST(Files, ReadsTheWholeFileOrReportsTheReason) {
  const TemporaryFolder folder;
  const std::string bytes = std::string("\0\xff", 2) + std::string(200'000, 'x');
  ASSERT_TRUE(write_file(folder / "a", bytes, false));
  EXPECT_EQ(read_file(folder / "a").value(), bytes);
  EXPECT_EQ(read_file(folder / "a", bytes.size()).value(), bytes);
  const auto too_long = read_file(folder / "a", bytes.size() - 1, Code::not_json);
  ASSERT_FALSE(too_long);
  EXPECT_EQ(too_long.error().code, "EH-M01");
  EXPECT_EQ(too_long.error().value(Key::limit), std::to_string(bytes.size() - 1));
  EXPECT_FALSE(too_long.error().value(Key::size).empty());
  EXPECT_EQ(read_file(folder / "none").error().value(Key::errno_), "ENOENT");
  EXPECT_EQ(read_file(folder.path()).error().value(Key::errno_), "EISDIR");
  EXPECT_EQ(read_file("/dev/zero", 1000).error().value(Key::limit), "1000")
      << "a file without end is bounded too";
}

TEST(Files, KernelFilesLoseTheirLastNewline) {
  EXPECT_EQ(read_kernel_file("/proc/sys/kernel/ostype"), "Linux");
  EXPECT_EQ(read_kernel_file("/proc/no/such/file"), "");
}

TEST(Files, MakesFoldersAndAcceptsExistingOnes) {
  const TemporaryFolder folder;
  EXPECT_TRUE(make_folders(folder / "a/b/c"));
  EXPECT_TRUE(make_folders(folder / "a/b/c"));
  EXPECT_TRUE(fs::is_directory(folder / "a/b/c"));
  fs::create_directory_symlink(folder / "a", folder / "link");
  EXPECT_TRUE(make_folders(folder / "link"));
  ASSERT_TRUE(write_file(folder / "file", "", false));
  const auto below_file = make_folders(folder / "file/x");
  ASSERT_FALSE(below_file);
  EXPECT_EQ(below_file.error().code, "EH-F16");
  EXPECT_EQ(below_file.error().value(Key::folder), (folder / "file/x").native());
  EXPECT_EQ(make_folders(folder / "file").error().value(Key::errno_), "ENOTDIR");
  // For a dangling link the system's message would be that the file exists.
  fs::create_symlink(folder / "nowhere", folder / "dangling");
  for (const char* name : {"dangling", "dangling/below"}) {
    const auto dangling = make_folders(folder / name);
    ASSERT_FALSE(dangling);
    EXPECT_EQ(dangling.error().value(Key::obstacle), (folder / "dangling").native() + " is a link to " +
                                                         (folder / "nowhere").native() +
                                                         ", which is not there");
  }
}

TEST(Files, WritingReplacesTheFileAsAWhole) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "record", std::string(100'000, 'a')));
  std::atomic<bool> stop = false;
  int reads = 0;
  std::string torn;
  std::thread reader([&] {
    while (!stop) {
      const auto bytes = read_file(folder / "record");
      if (!bytes || bytes->size() != 100'000 || bytes->find_first_not_of(bytes->front()) != std::string::npos)
        torn = bytes ? "torn" : "missing";
      ++reads;
    }
  });
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(
        write_file(folder / "record", std::string(100'000, static_cast<char>('a' + i % 26)), i % 50 == 0));
  stop = true;
  reader.join();
  EXPECT_GT(reads, 0);
  EXPECT_EQ(torn, "");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("record")) << "no temporary file is left";
}

TEST(Files, AFileWithTheLongestNameCanBeWritten) {
  const TemporaryFolder folder;
  const std::string name(255, 'n');
  const auto written = write_file(folder / name, "x");
  EXPECT_TRUE(written) << written.error().value(Key::errno_);
}

TEST(Files, ResolvesANameWithoutAFolderInTheCurrentOne) {
  const TemporaryFolder folder;
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  const auto written = write_file("named", "x");
  const auto synced = sync_folder("");
  fs::current_path(before);
  EXPECT_TRUE(written) << written.error().value(Key::errno_);
  EXPECT_TRUE(synced);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("named"));
}

TEST(Files, AFailedWriteLeavesTheOldFileAndNothingElse) {
  const TemporaryFolder folder;
  EXPECT_EQ(write_file(folder / "no/such/file", "x").error().value(Key::errno_), "ENOENT");
  fs::create_directory(folder / "is-a-folder");
  const auto over_folder = write_file(folder / "is-a-folder", "x");
  ASSERT_FALSE(over_folder);
  EXPECT_EQ(over_folder.error().code, "EH-F16");
  EXPECT_EQ(over_folder.error().value(Key::file), (folder / "is-a-folder").native());
  EXPECT_EQ(over_folder.error().value(Key::folder), folder.path().native());
  EXPECT_THAT(names_in(folder.path()), ElementsAre("is-a-folder"));
}

TEST(Files, AFullDiskIsF15) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a small file system needs root";
  const TemporaryFolder folder;
  const std::string program = fixture_in(folder), small = folder / "small";
  fs::create_directory(small);
  const std::string mount = "mount -t tmpfs -o size=64k none '" + small + "'";
  if (!run({"unshare", "-m", "sh", "-c", mount}).succeeded()) GTEST_SKIP() << "this machine forbids mounts";
  // The mount is in its own mount namespace and disappears with it.
  const ChildOutcome outcome =
      run({"unshare", "-m", "sh", "-c",
           mount + " && echo old > '" + small + "/f'; '" + program + "' write '" + small +
               "/f' 200000; cat '" + small + "/f'; ls -A '" + small + "' | wc -l"});
  EXPECT_THAT(outcome.output, HasSubstr("code=EH-F15\nerrno=ENOSPC\n"));
  EXPECT_THAT(outcome.output, HasSubstr("file=" + small + "/f\n"));
  EXPECT_THAT(outcome.output, HasSubstr("folder=" + small + "\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\nold\n1\n"))
      << "the old content stands and the temporary file is gone";
}

TEST(Files, ACopyIsWholeOrAbsent) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder / "from", "new") && write_file(folder / "to", "old"));
  ASSERT_TRUE(write_file(folder / ".part", "left by one that was killed"));
  ASSERT_TRUE(copy_into_place(folder / "from", folder / "to", folder / ".part"));
  EXPECT_EQ(read_file(folder / "to").value(), "new");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("from", "to"));

  fs::create_directory(folder / "is-a-folder");
  const auto over_folder = copy_into_place(folder / "from", folder / "is-a-folder", folder / ".part");
  ASSERT_FALSE(over_folder);
  EXPECT_EQ(over_folder.error().value(Key::file), (folder / "is-a-folder").native());
  EXPECT_THAT(names_in(folder.path()), ElementsAre("from", "is-a-folder", "to"));
}

TEST(Files, ACopyThatFillsTheDiskLeavesWhatWasThere) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a small file system needs root";
  const TemporaryFolder folder;
  const std::string program = fixture_in(folder), small = folder / "small", large = folder / "large";
  fs::create_directory(small);
  ASSERT_TRUE(write_file(large, std::string(200'000, 'x')));
  const std::string mount = "mount -t tmpfs -o size=64k none '" + small + "'";
  if (!run({"unshare", "-m", "sh", "-c", mount}).succeeded()) GTEST_SKIP() << "this machine forbids mounts";
  const ChildOutcome outcome =
      run({"unshare", "-m", "sh", "-c",
           mount + " && echo old > '" + small + "/f'; '" + program + "' copy '" + large + "' '" + small +
               "/f' '" + small + "/.part'; cat '" + small + "/f'; ls -A '" + small + "' | wc -l"});
  EXPECT_THAT(outcome.output, HasSubstr("code=EH-F15\nerrno=ENOSPC\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\nold\n1\n"));
}

TEST(Files, AReadOnlyFileSystemIsF16) {
  if (::geteuid() != 0) GTEST_SKIP() << "mounting a small file system needs root";
  const TemporaryFolder folder;
  const std::string program = fixture_in(folder), small = folder / "small";
  fs::create_directory(small);
  const std::string mount = "mount -t tmpfs -o ro none '" + small + "'";
  if (!run({"unshare", "-m", "sh", "-c", mount}).succeeded()) GTEST_SKIP() << "this machine forbids mounts";
  const ChildOutcome outcome = run({"unshare", "-m", "sh", "-c",
                                    mount + "; '" + program + "' write '" + small + "/f' 1; '" + program +
                                        "' folders '" + small + "/sub'"});
  EXPECT_THAT(outcome.output, HasSubstr("code=EH-F16\nerrno=EROFS\n"));
  EXPECT_THAT(outcome.output, HasSubstr("EH-F16\nerrno=EROFS\n"));
}

TEST(Files, AFolderOfSomeoneElseIsF16) {
  const TemporaryFolder folder;
  const std::string program = fixture_in(folder), theirs = folder / "theirs";
  fs::create_directory(theirs);
  std::vector<std::string> prefix;
  if (::geteuid() == 0) {
    fs::permissions(theirs, fs::perms{0755});
    fs::create_directory(folder / "theirs/closed");
    fs::permissions(folder / "theirs/closed", fs::perms{0700});
    prefix = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  } else {
    fs::create_directory(folder / "theirs/closed");
    fs::permissions(folder / "theirs/closed", fs::perms{0});
    fs::permissions(theirs, fs::perms{0555});
  }
  const auto as_other = [&](std::vector<std::string> rest) {
    std::vector<std::string> argv = prefix;
    argv.insert(argv.end(), rest.begin(), rest.end());
    return run(argv).output;
  };
  EXPECT_THAT(as_other({program, "write", theirs + "/f", "10"}), HasSubstr("code=EH-F16\nerrno=EACCES\n"));
  EXPECT_EQ(as_other({program, "folders", theirs + "/x/y"}), "EH-F16\nerrno=EACCES\n");
  EXPECT_EQ(as_other({program, "folders", theirs + "/closed/x"}), "EH-F16\nerrno=EACCES\n")
      << "a folder that cannot be looked into is an error, not an exception";
  fs::permissions(theirs, fs::perms{0755});
  fs::permissions(folder / "theirs/closed", fs::perms{0755});
}

TEST(Files, TheFileSizeLimitIsF17) {
  const TemporaryFolder folder;
  const ChildOutcome outcome = run({BASE_FIXTURE, "write-limited", folder / "f", "100000"});
  EXPECT_THAT(outcome.output, HasSubstr("code=EH-F17\nerrno=EFBIG\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\nlimit=4096\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\nneeded=100000\n"));
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(Files, TheFileSizeLimitEndsNoCopyingProcess) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_file(folder.path() / "f", std::string(100000, 'x')));
  const ChildOutcome outcome = run({BASE_FIXTURE, "copy-limited", folder / "f", folder / "copy"});
  EXPECT_EQ(outcome.signal, 0);
  EXPECT_THAT(outcome.output, HasSubstr("code=EH-F17\nerrno=EFBIG\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\nlimit=4096\n"));
  EXPECT_THAT(outcome.output, HasSubstr("/copy\n"));
  EXPECT_THAT(outcome.output, HasSubstr("\nneeded=100000\n"));
  EXPECT_THAT(names_in(folder.path()), ElementsAre("f"));
}

TEST(Files, WriteErrorsHaveTheCodeOfTheirRemedy) {
  EXPECT_EQ(code_of_write_error(ENOSPC), "EH-F15");
  EXPECT_EQ(code_of_write_error(EDQUOT), "EH-F15");
  EXPECT_EQ(code_of_write_error(EFBIG), "EH-F17");
  EXPECT_EQ(code_of_write_error(EMFILE), "EH-F24");
  EXPECT_EQ(code_of_write_error(EROFS), "EH-F16");
  EXPECT_EQ(code_of_write_error(EACCES), "EH-F16");
  EXPECT_EQ(code_of_write_error(EPERM), "EH-F16");
}

TEST(Files, PrivateFoldersAreNewAndClosedToOthers) {
  const TemporaryFolder folder;
  const auto first = make_private_folder(folder.path(), "stage-"),
             second = make_private_folder(folder.path(), "stage-");
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_TRUE(first->filename().native().starts_with("stage-"));
  EXPECT_EQ(fs::status(*first).permissions() & fs::perms::mask, fs::perms::owner_all);
  EXPECT_EQ(make_private_folder(folder / "none", "x").error().value(Key::errno_), "ENOENT");
}

TEST(Files, SyncingAFolderWorksWhereThereIsOne) {
  const TemporaryFolder folder;
  EXPECT_TRUE(sync_folder(folder.path()));
  const auto missing = sync_folder(folder / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().value(Key::errno_), "ENOENT");
}

TEST(Files, RandomTextIsHexadecimalAndDifferent) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string text = random_hex(8);
    EXPECT_EQ(text.size(), 16u);
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
    seen.insert(text);
  }
  EXPECT_EQ(seen.size(), 1000u);
  EXPECT_EQ(random_hex(0), "");
  EXPECT_EQ(random_hex(1000).size(), 2000u) << "longer than the kernel gives at once";
}

TEST(Files, BelowIsDecidedByPathElements) {
  struct Row {
    const char *child, *parent;
    bool below;
  };
  for (const auto& [child, parent, below] :
       {Row{"/a/b", "/a", true}, Row{"/a", "/a", true}, Row{"/a/", "/a", true}, Row{"/a", "/a/", true},
        Row{"/ab", "/a", false}, Row{"/a/../b", "/a", false}, Row{"/a/b/../c", "/a", true},
        Row{"/a/./b", "/a/.", true}, Row{"/a/..b", "/a", true}, Row{"/", "/a", false}, Row{"/a", "/", true},
        Row{"a/b", "/a", false}, Row{"a/b", "a", true}, Row{"/a/b/../../c", "/a", false}})
    EXPECT_EQ(is_below(child, parent), below) << child << " below " << parent;
}

TEST(Files, FindsTheFolderOfTheProgram) {
  EXPECT_EQ(executable_folder(), fs::canonical("/proc/self/exe").parent_path());
  EXPECT_EQ(library_folder(), executable_folder()) << "this code is linked into the test";
}

#ifdef __linux__
TEST(Files, FindsTheFolderOfTheProgramWithoutProc) {
  ChildRequest request;
  request.argv = {BASE_FIXTURE, "where-without-links"};
  const auto child = run_child(request);
  ASSERT_TRUE(child);
  if (child->exit_code == 77) GTEST_SKIP() << "no system call can be forbidden here";
  // The path as the program was started: links on the way cannot be resolved.
  const std::string folder = fs::path(BASE_FIXTURE).parent_path().lexically_normal().native();
  EXPECT_EQ(child->output, folder + "\n" + folder + "\n");
}
#endif

}  // namespace
}  // namespace enginehost
