// Concurrent readers, and a publisher that is killed.
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/publish/fixture.hpp"

namespace enginehost::publish {
namespace {

// The folder is replaced by one rename, so a reader that opened it sees one repository completely.
TEST_F(Publish, AReaderSeesTheOldOrTheNewRepositoryOnly) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  const manifest::TrustStore store(folder() / "state", {});
  manifest::TrustedKey trusted;
  trusted.key = test_key(1).public_key();
  ASSERT_TRUE(store.add(trusted));
  std::atomic<bool> ending = false;
  std::atomic<int> reads = 0, refused = 0;
  std::thread reader([&] {
    const manifest::Trust trust{store, true, false, {}};
    manifest::FolderReader folder_reader;
    while (!ending) {
      const auto content = manifest::load_repository(path_text(out()), folder_reader, in_2026, &trust);
      refused += content && content->failures.empty() ? 0 : 1;
      ++reads;
    }
  });
  for (int version = 1; version <= 5; ++version) {
    add_toy("1.1." + std::to_string(version));
    ASSERT_TRUE(sign_with({1}));
    const auto published = to_out();
    ASSERT_TRUE(published) << published.error().code;
  }
  ending = true;
  reader.join();
  EXPECT_GT(reads, 0);
  EXPECT_EQ(refused, 0);
  EXPECT_THAT(beside(), testing::UnorderedElementsAre("engines", ".engines.lock"));
}

// A small change of a large repository writes only new files: archives need not fit on the disk twice.
TEST_F(Publish, UnchangedFilesAreNotWrittenAgain) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  const auto archives = [&] {
    std::map<std::string, ino_t> files;
    for (const auto& entry : fs::directory_iterator(out() / "files")) {
      struct stat status {};
      EXPECT_EQ(::stat(entry.path().c_str(), &status), 0);
      EXPECT_EQ(status.st_nlink, 1u) << entry.path();
      EXPECT_EQ(status.st_mode & 0777u, 0644u) << entry.path();
      files[entry.path().filename().native()] = status.st_ino;
    }
    return files;
  };
  const auto before = archives();
  ASSERT_EQ(before.size(), 2u);
  write("toy/more.txt", "more");
  add_toy("1.0.1");
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  const auto after = archives();
  EXPECT_EQ(after.size(), 3u) << "the plugin is the same";
  for (const auto& [name, inode] : before) EXPECT_EQ(after.at(name), inode) << name;
  // A file with other bytes is not kept, however old it looks, nor one that the web server may not read.
  const fs::path damaged = out() / "files" / before.begin()->first,
                 closed = out() / "files" / before.rbegin()->first;
  const std::string whole = bytes_of(damaged);
  std::string turned = whole;
  turned.back() ^= 1;
  const auto time = fs::last_write_time(damaged);
  { std::ofstream(damaged, std::ios::binary | std::ios::in) << turned; }
  fs::last_write_time(damaged, time);
  fs::permissions(closed, fs::perms(0600));
  ASSERT_TRUE(to_out()->changed);
  EXPECT_EQ(bytes_of(damaged), whole);
  EXPECT_EQ(archives().size(), 3u);
}

TEST_F(Publish, AKilledPublisherLeavesTheOldOrTheNewRepository) {
  ASSERT_TRUE(sign_with({1}));
  ASSERT_TRUE(to_out());
  add_toy("1.0.1");
  ASSERT_TRUE(sign_with({1}));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(to_out());
  const auto whole = std::chrono::steady_clock::now() - begin;
  constexpr int kills = 24;
  int old_ones = 0, new_ones = 0;
  for (int kill = 0; kill < kills; ++kill) {
    SCOPED_TRACE(kill);
    add_toy("1.1." + std::to_string(kill));
    const auto signed_now = sign_with({1});
    ASSERT_TRUE(signed_now);
    const pid_t child = ::fork();
    if (child == 0) ::_exit(to_out() ? 0 : 1);
    ASSERT_GT(child, 0);
    // The last publisher is not killed, however slow the machine is.
    if (kill + 1 < kills) {
      std::this_thread::sleep_for(whole * kill / (kills / 3));
      ::kill(child, SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "publish failed";
    manifest::FolderReader reader;
    const auto content = manifest::load_repository(path_text(out()), reader, in_2026);
    ASSERT_TRUE(content) << content.error().code;
    EXPECT_TRUE(content->failures.empty());
    EXPECT_FALSE(fs::is_empty(out() / "files"));
    (content->index.serial == signed_now->serial ? new_ones : old_ones) += 1;
  }
  EXPECT_GT(old_ones, 0);
  EXPECT_GT(new_ones, 0);
  ASSERT_TRUE(to_out()) << "the lock died with its holder";
  EXPECT_THAT(beside(), testing::UnorderedElementsAre("engines", ".engines.lock"));
}

// No file of this process may grow, as on a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t most) : before_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{most, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    ::signal(SIGXFSZ, before_);
  }

 private:
  void (*before_)(int);
  rlimit limit_{};
};

TEST_F(Publish, AFailedWriteLeavesNothingBesideTheOldRepository) {
  ASSERT_TRUE(to_out());
  std::ofstream(folder() / plugin_name, std::ios::app | std::ios::binary) << "another";
  add_toy("1.0.1");
  {
    const SmallFiles small(8192);
    const auto published = to_out();
    ASSERT_FALSE(published);
    EXPECT_EQ(published.error().code, "EH-F17");
    EXPECT_EQ(published.error().value(Key::errno_), "EFBIG");
    const auto added = publish::add(workspace(), request("1.0.2"));
    ASSERT_FALSE(added);
    EXPECT_EQ(added.error().code, "EH-F17");
  }
  EXPECT_THAT(beside(), testing::UnorderedElementsAre("engines", ".engines.lock"));
  EXPECT_TRUE(to_out());
}

TEST_F(Publish, ALinkToTheFolderStandsForIt) {
  fs::create_directories(folder() / "disk/real");
  fs::create_directories(out().parent_path());
  fs::create_symlink("../disk/real", out());
  ASSERT_TRUE(to_out());
  add_toy("1.0.1");
  ASSERT_TRUE(to_out());
  EXPECT_TRUE(fs::is_symlink(out()));
  EXPECT_EQ(bytes_of(folder() / "disk/real/index.json"), bytes_of(repository() / "index.json"));
  fs::remove_all(folder() / "disk");
  const auto nowhere = to_out();
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().code, "EH-M17");
  EXPECT_EQ(nowhere.error().value(Key::problem), "it is a link to ../disk/real, which cannot be found");
}

TEST_F(Publish, ALinkToAFolderWithinItIsNotLeftOut) {
  ASSERT_TRUE(to_out());
  fs::rename(out() / "files", folder() / "large-disk");
  fs::create_directory_symlink(folder() / "large-disk", out() / "files");
  add_toy("1.0.1");
  const auto refused = to_out();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "EH-M17");
  EXPECT_EQ(refused.error().value(Key::folder), (out() / "files").native());
  EXPECT_TRUE(fs::is_symlink(out() / "files"));
}

}  // namespace
}  // namespace enginehost::publish
