#include "host/transfer/chunk_list.hpp"

#include <gtest/gtest.h>

#include "base/sha256.hpp"
#include "host/transfer/http_exchange.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tools/publish/partial_downloads.hpp"

namespace enginehost::transfer {
namespace {

std::string problem(const std::string& text) {
  const auto list = read_chunk_list(text, "list");
  return list ? "ok"
              : std::string(list.error().code_text()) + " " + std::string(list.error().value(Key::member));
}

TEST(ChunkList, IsReadAsItWasWritten) {
  test::TemporaryFolder folder;
  const std::string bytes = test::noise(200'000);
  test::write_text(folder / "file", bytes);
  const auto list = publish::chunk_list_of(folder / "file", 65536);
  ASSERT_TRUE(list);
  EXPECT_EQ(list->size, 200'000u);
  ASSERT_EQ(list->sha256.size(), 4u);
  EXPECT_EQ(list->sha256[0], sha256_hex(bytes.substr(0, 65536)));
  EXPECT_EQ(list->sha256[3], sha256_hex(bytes.substr(196608)));
  EXPECT_EQ(list->end_of(3), 200'000u);
  const auto again = read_chunk_list(list->text(), "list");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->text(), list->text());
}

TEST(ChunkList, AFileThatEndsWithAChunkHasNoEmptyOne) {
  test::TemporaryFolder folder;
  test::write_text(folder / "file", test::noise(131072));
  EXPECT_EQ(publish::chunk_list_of(folder / "file", 65536)->sha256.size(), 2u);
  EXPECT_EQ(publish::chunk_list_of(folder / "none", 65536).error().code, "EH-N14");
}

TEST(ChunkList, RefusesEverythingElse) {
  const std::string digest(64, 'a');
  const auto text = [&](const std::string& size, const std::string& chunk, const std::string& rest) {
    return "enginehost-chunks 1\nsize " + size + "\nchunk " + chunk + "\n" + rest;
  };
  EXPECT_EQ(problem(text("100", "65536", digest + "\n")), "ok");
  EXPECT_EQ(problem(""), "EH-M02 title");
  EXPECT_EQ(problem("enginehost-chunks 2\n"), "EH-M02 title");
  for (const char* size : {"0", "-1", "0100", "100 ", "1e3", "18446744073709551616", "99999999999999999"})
    EXPECT_EQ(problem(text(size, "65536", digest + "\n")), "EH-M02 size") << size;
  for (const char* chunk : {"0", "1", "65535", "1073741825"})
    EXPECT_EQ(problem(text("100", chunk, digest + "\n")), "EH-M02 chunk") << chunk;
  EXPECT_EQ(problem(text("100", "65536", "")), "EH-M02 sha256");
  EXPECT_EQ(problem(text("100", "65536", digest)), "EH-M02 sha256");
  EXPECT_EQ(problem(text("100", "65536", digest + "\n" + digest + "\n")), "EH-M02 sha256");
  EXPECT_EQ(problem(text("100", "65536", std::string(64, 'A') + "\n")), "EH-M02 sha256");
  // The length of two lines, but only one line.
  EXPECT_EQ(problem(text("65537", "65536", digest + "\n" + digest + "a")), "EH-M02 sha256");
}

TEST(ContentRange, IsReadInEveryForm) {
  EXPECT_EQ(read_content_range("bytes 100-199/200").start, 100u);
  EXPECT_EQ(read_content_range("bytes 100-199/200").total, 200u);
  EXPECT_EQ(read_content_range("bytes 0-9/*").total, std::nullopt);
  EXPECT_EQ(read_content_range("bytes */200").start, std::nullopt);
  EXPECT_EQ(read_content_range("bytes */200").total, 200u);
  for (const char* text :
       {"", "bytes", "bytes ", "bytes -/", "items 1-2/3", "bytes 99999999999999999999-1/2"})
    EXPECT_EQ(read_content_range(text).start, std::nullopt) << text;
}

}  // namespace
}  // namespace enginehost::transfer
