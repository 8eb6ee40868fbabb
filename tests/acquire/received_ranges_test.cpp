// The bytes of a partial file, and the note behind it: which ranges it has.
#include "host/acquire/growing_file.hpp"

#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::acquire {
namespace {

// A note of that text, with a right checksum.
std::string note_of(std::string text) {
  text.resize(received_note_bytes - 64, '\n');
  return text + sha256_hex(text);
}

TEST(ReceivedNote, IsReadAsItWasWritten) {
  const std::vector<transfer::Range> received = {{0, 4096}, {8192, 10000}};
  const std::string note = received_note(received, 10000);
  EXPECT_EQ(note, note_of("enginehost-received 1 10000\n0 4096\n8192 10000\n"));
  EXPECT_EQ(read_received_note(note, 10000), received);
  EXPECT_EQ(read_received_note(received_note({}, 1), 1), std::vector<transfer::Range>());
}

TEST(ReceivedNote, EverythingElseCountsAsNone) {
  EXPECT_FALSE(read_received_note(received_note({}, 10000), 9999));
  for (const char* text : {"enginehost-received 2 10\n0 4\n", "enginehost-received 1 10 0 4\n",
                           "enginehost-received 1 10\n4 4\n", "enginehost-received 1 10\n0 11\n",
                           "enginehost-received 1 10\n0 4\n4 8\n", "enginehost-received 1 10\n0\n",
                           "enginehost-received 1 10\n0 4 \n", "enginehost-received 1 10\n-1 4\n"})
    EXPECT_FALSE(read_received_note(note_of(text), 10)) << text;
  std::string changed = received_note({{0, 4}}, 10);
  changed[30] = '5';
  EXPECT_FALSE(read_received_note(changed, 10));
}

// A server could otherwise change bytes that were hashed, or read by the unpacker.
class ReceivedBytes : public testing::Test {
 protected:
  static std::string whole(GrowingFile& file, std::size_t size) {
    std::string text(size, '\0');
    for (std::size_t at = 0; at < size;) {
      const auto got = file.read(at, text.data() + at, size - at, file.generation());
      if (got <= 0) return "unreadable";
      at += static_cast<std::size_t>(got);
    }
    return text;
  }

  test::TemporaryFolder folder;
};

TEST_F(ReceivedBytes, NeverChange) {
  const std::string right = test::noise(10'000), wrong = test::noise(10'000, 2);
  for (const std::size_t begin : {0u, 1u, 2500u, 4999u}) {
    auto file = GrowingFile::open(folder / ("part-" + std::to_string(begin)), folder.path(), right.size());
    ASSERT_TRUE(file);
    GrowingFile& growing = **file;
    ASSERT_TRUE(growing.write_at(5000, std::string_view(right).substr(5000, 2000)));
    ASSERT_TRUE(growing.write_at(0, std::string_view(right).substr(0, 2500)));
    // Comes over what is there, and is used for the gap alone.
    std::string over = wrong;
    over.replace(2500, 2500, right, 2500, 2500);
    ASSERT_TRUE(growing.write_at(begin, std::string_view(over).substr(begin, 6000 - begin)));
    over.replace(7000, 3000, right, 7000, 3000);
    ASSERT_TRUE(growing.write_at(6000, std::string_view(over).substr(6000)));
    ASSERT_TRUE(growing.write_at(2500, std::string_view(right).substr(2500, 2500)));
    ASSERT_TRUE(growing.write_at(0, wrong));
    EXPECT_TRUE(growing.missing().empty());
    EXPECT_EQ(growing.digest(), sha256_hex(right)) << begin;
    EXPECT_TRUE(whole(growing, right.size()) == right) << begin;
  }
}

TEST_F(ReceivedBytes, OfAChunkNeverChange) {
  const std::string right = test::noise(10'000), wrong = test::noise(10'000, 2);
  transfer::ChunkList list;
  list.size = right.size();
  list.chunk = 4096;
  for (std::size_t at = 0; at < right.size(); at += 4096)
    list.sha256.push_back(sha256_hex(right.substr(at, 4096)));
  auto file = GrowingFile::open(folder / "part", folder.path(), right.size(), &list);
  ASSERT_TRUE(file);
  for (const std::size_t at : {8192u, 0u, 4096u}) {
    ASSERT_TRUE((*file)->write_at(at, std::string_view(right).substr(at, 4096)));
    ASSERT_TRUE((*file)->write_at(at, std::string_view(wrong).substr(at, 4096)));
  }
  EXPECT_EQ((*file)->digest(), sha256_hex(right));
  EXPECT_TRUE(whole(**file, right.size()) == right);
}

}  // namespace
}  // namespace enginehost::acquire
