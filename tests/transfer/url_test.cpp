#include <gtest/gtest.h>

#include "host/transfer/progress_bar.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

TEST(Urls, AreJoinedAsABrowserWould) {
  EXPECT_EQ(join_url("https://a.example/x/y", "z"), "https://a.example/x/z");
  EXPECT_EQ(join_url("https://a.example/x/", "z?q=1"), "https://a.example/x/z?q=1");
  EXPECT_EQ(join_url("https://a.example/x/", "/z"), "https://a.example/z");
  EXPECT_EQ(join_url("https://a.example/x/", "../z"), "https://a.example/z");
  EXPECT_EQ(join_url("https://a.example/x/", "http://b.example/z"), "http://b.example/z");
}

TEST(Urls, AreShownWithoutUserPasswordAndQuery) {
  EXPECT_EQ(without_credentials("https://me:se@cret@a.example/x?token=1#f"), "https://a.example/x");
  EXPECT_EQ(without_credentials("https://a.example/x@y"), "https://a.example/x@y");
}

TEST(Pages, AreRecognizedByTheirFirstBytes) {
  EXPECT_EQ(title_of_page("\n<!-- x --><!DOCTYPE html><html><head><title> Sign\nin </title>"), "Sign in");
  EXPECT_EQ(title_of_page("<HTML><body>"), "");
  EXPECT_EQ(title_of_page("PK\x03\x04 <html>"), std::nullopt);
  EXPECT_EQ(title_of_page(""), std::nullopt);
  EXPECT_EQ(title_of_page("<!-- never closed"), std::nullopt);
}

TEST(ProgressLine, ShowsBytesRateAndTimeLeft) {
  Progress progress{Progress::Phase::downloading, 50u << 20, 100u << 20, 25.0 * (1 << 20), "source"};
  const std::string line = progress_line(progress, 100);
  EXPECT_NE(line.find("50"), std::string::npos) << line;
  EXPECT_NE(line.find("/s"), std::string::npos) << line;
  EXPECT_NE(line.find("2 s left"), std::string::npos) << line;
  EXPECT_NE(line.find("[==="), std::string::npos) << line;
}

TEST(ProgressLine, FitsTheTerminal) {
  Progress progress{Progress::Phase::waiting, 1, 2, 3, std::string(200, 'x')};
  for (std::size_t columns : {10u, 40u, 80u}) EXPECT_LE(progress_line(progress, columns).size(), columns);
}

TEST(ProgressBar, IsSilentWhereThereIsNoTerminal) {
  std::FILE* file = std::tmpfile();
  { ProgressBar(file).show({}); }
  EXPECT_EQ(std::ftell(file), 0);
  std::fclose(file);
}

}  // namespace
}  // namespace enginehost::transfer
