// The quarantine mark of a download as macOS writes it.
#include "host/linker/dyld.hpp"
#include "tests/support/paths.hpp"

#include <gtest/gtest.h>

namespace enginehost::linker {
namespace {

TEST(Quarantine, X05ItsFlagsShowWhetherTheFileWasAllowed) {
  const auto fresh = parse_quarantine("0083;66f1a2b3;Safari;C1E2D3");
  ASSERT_TRUE(fresh);
  EXPECT_FALSE(fresh->approved);
  EXPECT_EQ(fresh->agent, "Safari");
  EXPECT_EQ(fresh->text, "0083;66f1a2b3;Safari;C1E2D3");
  EXPECT_TRUE(parse_quarantine("00c3;66f1a2b3;Safari;C1E2D3")->approved);
  EXPECT_TRUE(parse_quarantine("01C1;66f1a2b3;;")->approved);
  EXPECT_EQ(parse_quarantine("0081;66f1a2b3;;")->agent, "");
  EXPECT_EQ(parse_quarantine(std::string_view("0081;0;curl;\0", 13))->text, "0081;0;curl;");
}

TEST(Quarantine, AnotherTextIsNoMark) {
  for (const char* text : {"", ";", "Safari", "123456789;x", "0x81;1"})
    EXPECT_FALSE(parse_quarantine(text)) << text;
}

TEST(Quarantine, AFileWithoutItHasNoProblem) {
  EXPECT_FALSE(quarantine_problem(std::filesystem::path(test::source_path()) / "README.md"));
}

}  // namespace
}  // namespace enginehost::linker
