// Files written by a second thread have the same bytes, digests and failures as without it.
#include "cache/write_behind.hpp"

#include <gtest/gtest.h>

#include <future>

#include "base/file_calls.hpp"
#include "cache/tree_writer.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::cache {
namespace {

using test::TemporaryFolder;

constexpr std::size_t piece = 256u << 10;  // the size that is handed to the thread at once

std::string content(std::size_t size, unsigned seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<char>(seed >> 24);
  }
  return bytes;
}

FileDescriptor fresh(const std::filesystem::path& file) {
  return FileDescriptor(calls::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

TEST(WriteBehind, FilesOfEverySizeHaveTheirBytesDigestsAndModes) {
  const TemporaryFolder folder;
  TreeWriter writer(folder.path());
  std::map<std::string, std::string> files;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, piece - 1, piece, piece + 1, std::size_t{3},
                                 40 * piece + 7, std::size_t{5}, 2 * piece, std::size_t{0}}) {
    const auto number = static_cast<unsigned>(files.size());
    const std::string path = "lib/" + std::to_string(number);
    const std::string& bytes = files[path] = content(size, number);
    ASSERT_TRUE(writer.begin_file(path, number % 2 == 0));
    // In portions that do not divide a piece.
    for (std::size_t at = 0; at < size; at += 100'003)
      ASSERT_TRUE(writer.write(std::string_view(bytes).substr(at, 100'003)));
    ASSERT_TRUE(writer.end_file());
  }
  ASSERT_TRUE(writer.settle());
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

TEST(WriteBehind, AFailureNamesItsFileAndNothingIsWrittenAfterIt) {
  const TemporaryFolder folder;
  for (const std::size_t size : {std::size_t{10}, 8 * piece}) {
    SCOPED_TRACE(size);
    WriteBehind behind;
    const auto whole = folder / ("whole" + std::to_string(size)),
               broken = folder / ("broken" + std::to_string(size)),
               after = folder / ("after" + std::to_string(size));
    const std::string bytes = content(size, 1);
    EXPECT_FALSE(behind.begin(fresh(whole), "whole", 0444));
    EXPECT_FALSE(behind.write(bytes));
    EXPECT_FALSE(behind.end());
    static_cast<void>(fresh(broken));
    // Writing to a file that was opened for reading fails like a disk, but with EBADF.
    behind.begin(FileDescriptor(calls::open(broken.c_str(), O_RDONLY | O_CLOEXEC)), "broken", 0444);
    behind.write(bytes);
    behind.end();
    behind.begin(fresh(after), "after", 0444);
    behind.write(bytes);
    behind.end();
    const auto failure = behind.settle();
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->error_number, EBADF);
    EXPECT_EQ(failure->path, "broken");
    const auto written = behind.take_written();
    ASSERT_EQ(written.size(), 1u);
    EXPECT_EQ(written[0].path, "whole");
    EXPECT_EQ(written[0].sha256, sha256_hex(bytes));
    EXPECT_EQ(std::filesystem::file_size(after), 0u);
  }
}

TEST(WriteBehind, TheCallerWaitsWhenTheDiskDoesNotKeepUp) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const FileDescriptor reading(ends[0]);
  const std::string bytes = content(64 * piece, 2);
  WriteBehind behind;
  ASSERT_FALSE(behind.begin(FileDescriptor(ends[1]), "pipe", 0600));
  auto giving =
      std::async(std::launch::async, [&] { return behind.write(bytes) || behind.end() || behind.settle(); });
  // Nobody reads: the queue fills, and the caller waits.
  EXPECT_EQ(giving.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  std::string received;
  std::vector<char> buffer(piece);
  while (received.size() < bytes.size()) {
    const ssize_t got = calls::read(reading.get(), buffer.data(), buffer.size());
    ASSERT_GT(got, 0);
    received.append(buffer.data(), static_cast<std::size_t>(got));
  }
  EXPECT_FALSE(giving.get());
  EXPECT_EQ(received, bytes);
  EXPECT_EQ(behind.take_written().at(0).sha256, sha256_hex(bytes));
}

TEST(WriteBehind, AbandoningAFileEndsItsThread) {
  const TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    const auto file = folder / std::to_string(round);
    auto behind = std::make_unique<WriteBehind>();
    ASSERT_FALSE(behind->begin(fresh(file), "file", 0444));
    ASSERT_FALSE(behind->write(content(static_cast<std::size_t>(round) * piece / 2, 3)));
    behind.reset();
    EXPECT_LE(std::filesystem::file_size(file), static_cast<std::size_t>(round) * piece / 2);
  }
}

}  // namespace
}  // namespace enginehost::cache
