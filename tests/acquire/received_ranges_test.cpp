// The note behind a partial file: which ranges it has.
#include "host/acquire/growing_file.hpp"

#include <gtest/gtest.h>

#include "base/sha256.hpp"

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

}  // namespace
}  // namespace enginehost::acquire
