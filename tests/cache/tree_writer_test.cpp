// Files written by a second thread have the same bytes, digests and failures as without it.
#include "cache/tree_writer.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <optional>

#include "base/file_calls.hpp"
#include "base/sha256.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

using test::TemporaryFolder;

constexpr std::size_t piece = 512u << 10;  // the size that is handed to the thread at once

std::string content(std::size_t size, unsigned seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

TEST(WritingFiles, FilesOfEverySizeHaveTheirBytesDigestsAndModes) {
  const TemporaryFolder folder;
  TreeWriter writer(folder.path());
  std::map<std::string, std::string> files;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, std::size_t{3},
                                 20 * piece + 7, std::size_t{5}, 2 * piece, std::size_t{0}}) {
    const auto number = static_cast<unsigned>(files.size());
    const std::string path = "lib/" + std::to_string(number);
    const std::string& bytes = files[path] = content(size, number);
    ASSERT_TRUE(writer.begin_file(path, number % 2 == 0));
    // In portions that do not divide a piece.
    for (std::size_t at = 0; at < size; at += 100'003)
      ASSERT_TRUE(writer.write(std::string_view(bytes).substr(at, 100'003)));
    ASSERT_TRUE(writer.end_file());
  }
  for (const auto& [path, bytes] : files) EXPECT_EQ(test::read_text(folder / path), bytes) << path;
  const auto list = writer.finish();
  ASSERT_TRUE(list);
  ASSERT_EQ(list->entries.size(), files.size());
  for (const TreeEntry& entry : list->entries) {
    EXPECT_EQ(entry.identity, sha256_hex(files[entry.path])) << entry.path;
    EXPECT_EQ(entry.size, files[entry.path].size()) << entry.path;
    calls::Status status{};
    ASSERT_EQ(calls::stat((folder / entry.path).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777u, entry.kind == TreeEntry::Kind::executable ? 0555u : 0444u)
        << entry.path;
  }
}

// Files of this process may not become larger while it lives.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit smaller{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &smaller);
  }
  ~SizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(WritingFiles, AFailureOfTheDiskNamesItsFile) {
  ::signal(SIGXFSZ, SIG_IGN);
  for (const std::size_t size : {std::size_t{10}, 8 * piece}) {
    SCOPED_TRACE(size);
    const TemporaryFolder folder;
    const std::string bytes = content(size, 1);
    TreeWriter writer(folder.path());
    ASSERT_TRUE(writer.begin_file("whole", false));
    ASSERT_TRUE(writer.write(bytes));
    ASSERT_TRUE(writer.end_file());
    ASSERT_TRUE(writer.begin_file("broken", false));
    Result<void> written;
    {
      // The writer knows the limit of its beginning only, so that the system refuses the bytes.
      const SizeLimit limit(size / 2);
      written = writer.write(bytes);
      if (written) written = writer.end_file();
    }
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, "EH-F17");
    EXPECT_EQ(written.error().value(Key::file), (folder / "broken").native());
    EXPECT_EQ(written.error().value(Key::folder), folder.path().native());
    EXPECT_EQ(writer.entries(), 1u);
    EXPECT_EQ(test::read_text(folder / "whole"), bytes);
  }
  ::signal(SIGXFSZ, SIG_DFL);
}

TEST(WritingFiles, AbandoningAFileEndsItsThread) {
  const TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    const std::string name = std::to_string(round);
    auto writer = std::make_optional<TreeWriter>(folder.path());
    ASSERT_TRUE(writer->begin_file(name, false));
    ASSERT_TRUE(writer->write(content(static_cast<std::size_t>(round) * piece / 4, 3)));
    writer.reset();
    EXPECT_LE(std::filesystem::file_size(folder / name), static_cast<std::size_t>(round) * piece / 4);
  }
}

}  // namespace
}  // namespace enginehost::cache
