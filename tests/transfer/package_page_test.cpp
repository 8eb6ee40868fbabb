// Pages of a package index that are right, damaged, or made to cost as much as possible.
#include "host/transfer/package_page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace enginehost::transfer {
namespace {

using testing::HasSubstr;

constexpr const char* file = "sample-1.0-py3-none-any.whl";

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string entry(const std::string& url) {
  return "{\"filename\":\"" + std::string(file) + "\",\"url\":\"" + url + "\",\"hashes\":{\"sha256\":\"" +
         std::string(64, 'a') + "\"},\"size\":7}";
}

std::string link_to(const std::string& url) { return "<a href=\"" + url + "\">" + file + "</a>"; }

// The URL of the file on that page, "none", or the problem.
std::string found_in(const std::string& page) {
  const auto found = find_in_page(page, file);
  if (found) return *found ? (*found)->url : "none";
  EXPECT_EQ(found.error().code, "EH-N13");
  return std::string(found.error().value(Key::problem));
}

TEST(PackagePage, HasUrlDigestAndSizeOfTheFile) {
  const auto found =
      find_in_page("{\"files\":[{\"filename\":\"other.whl\"}," + entry("../x.whl") + "]}", file);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->url, "../x.whl");
  EXPECT_EQ((*found)->sha256, std::string(64, 'a'));
  EXPECT_EQ((*found)->size, 7u);
  EXPECT_EQ(found_in("{\"files\":[" + entry("first") + "," + entry("second") + "]}"), "first");
  EXPECT_EQ(found_in("{\"files\":[]}"), "none");
}

TEST(PackagePage, AnHtmlLinkIsKnownByItsTextOrItsUrl) {
  const std::string name = file;
  EXPECT_EQ(found_in(link_to("/x?a=1&amp;b=2")), "/x?a=1&b=2");
  EXPECT_EQ(found_in("<a href='a/" + name + "'>download</a>"), "a/" + name);
  EXPECT_EQ(found_in("<A\nHREF=a/sample%2D1.0-py3-none-any.whl class=x>it</A>"),
            "a/sample%2D1.0-py3-none-any.whl");
  EXPECT_EQ(found_in("<base href=\"https://b.example/w/\">" + link_to("../x")), "https://b.example/x");
  EXPECT_EQ(found_in("<a href=\"a/other-" + name + "\">x</a><abbr href=" + name + ">x</abbr>"), "none");
}

// "NAME URL DATE" for each file of the page; a yanked one has "yanked: REASON" behind.
std::vector<std::string> listed_on(const std::string& page) {
  std::vector<std::string> lines;
  EXPECT_TRUE(list_page(page, [&](const ListedFile& one) {
    lines.push_back(one.file + " " + one.url + " " + one.uploaded +
                    (one.yanked ? " yanked: " + *one.yanked : ""));
  }));
  return lines;
}

TEST(PackagePage, ListsEveryFileWithDateAndYankReason) {
  EXPECT_THAT(
      listed_on(R"({"files":[)"
                R"({"filename":"a.whl","url":"x/a.whl","upload-time":"2026-01-02T03:04:05Z"},)"
                R"({"filename":"b.whl","url":"b","yanked":"broken"},)"
                R"({"filename":"c.whl","url":"c","yanked":true},{"filename":"d.whl","yanked":false}]})"),
      testing::ElementsAre("a.whl x/a.whl 2026-01-02T03:04:05Z", "b.whl b  yanked: broken",
                           "c.whl c  yanked: ", "d.whl  "));
  EXPECT_THAT(
      listed_on("<a href=\"w/a.whl#sha256=00\">a</a><a data-yanked=\"no &lt;GPU&gt;\" href=b.whl>b</a>"
                "<a data-yanked href=c.whl>c</a>"),
      testing::ElementsAre("a.whl w/a.whl ", "b.whl b.whl  yanked: no <GPU>", "c.whl c.whl  yanked: "));
}

TEST(PackagePage, ADamagedJsonPageIsNoEmptyOne) {
  const std::string whole = "{\"files\":[" + entry("x") + "]}";
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_THAT(found_in(whole.substr(0, size)), HasSubstr("parse error at line 1")) << size;
  EXPECT_THAT(found_in(whole + "x"), HasSubstr("expected end of input"));
  EXPECT_EQ(found_in("{\"files\":[],\"files\":[" + entry("x") + "]}"), "the member \"files\" occurs twice");
  EXPECT_EQ(found_in("{\"files\":[{\"url\":\"a\",\"url\":\"b\"}]}"), "the member \"url\" occurs twice");
}

TEST(PackagePage, BoundsWhatAJsonPageCosts) {
  const std::string tail = entry("x") + "]}";
  EXPECT_EQ(found_in("{\"files\":[" + repeated("{},", most_listed - 1) + tail), "x");
  EXPECT_EQ(found_in("{\"files\":[" + repeated("{},", 1'000'000) + tail),
            "\"files\" has more than 200000 elements, which is the limit");
  EXPECT_EQ(found_in("{\"files\":[" + repeated("0,", 1'000'000) + tail),
            "\"files\" has more than 200000 elements, which is the limit");
  EXPECT_EQ(found_in("{\"files\":[" + repeated("[", 1'000'000)), "nested deeper than 32 levels");
  EXPECT_EQ(found_in("{\"files\":" + repeated("{\"a\":", 1'000'000)), "nested deeper than 32 levels");
  EXPECT_EQ(found_in("{\"files\":[{\"filename\":\"" + std::string(2u << 20, 'x') + "\"}," + tail),
            "a string in it is longer than 1048576 bytes, which is the limit");
  EXPECT_EQ(found_in("{\"files\":[[" + repeated("0,", 1'000'000) + "0]," + tail),
            "it has more than 1000 values, which is the limit");
  EXPECT_EQ(found_in("{\"versions\":[" + repeated("\"1.0\",", 1'000'000) + "\"2\"],\"files\":[" + tail), "x");
  EXPECT_EQ(found_in(std::string(largest_page, ' ') + "{}"),
            "it is 67108866 bytes long; the limit is 67108864");
}

TEST(PackagePage, FindsTheLinkInHtml) {
  EXPECT_EQ(found_in("<html><a href=\"y\">other.whl</a><A class='b' HREF='x?a=1&amp;b=2'>\n" +
                     std::string(file) + "\n</A>"),
            "x?a=1&b=2");
  EXPECT_EQ(found_in(link_to("x&amp;lt;y")), "x&lt;y");
  EXPECT_EQ(found_in("<a >" + std::string(file) + "</a>" + link_to("x")), "x");
  EXPECT_EQ(found_in("<a href=x>" + std::string(file) + "</a>"), "x");
  EXPECT_EQ(found_in("<a href=\"x\">" + std::string(file)), "none");
  EXPECT_EQ(found_in("<a href=\"x"), "none");
  EXPECT_EQ(found_in("<a "), "none");
  EXPECT_EQ(found_in("<"), "none");
  EXPECT_EQ(found_in(""), "none");
  const auto found = find_in_page(link_to("x#sha256=abc"), file);
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->sha256, "abc");
}

// A search from each link to the end of the page would take minutes.
TEST(PackagePage, BoundsWhatAnHtmlPageCosts) {
  EXPECT_EQ(found_in("<a href=\"y\">o</a>" + repeated("<a href=\"y\">o</a>", most_listed - 2) + link_to("x")),
            "x");
  EXPECT_EQ(found_in(repeated("<a href=\"y\">o</a>", 1'000'000) + link_to("x")),
            "it has more than 200000 links, which is the limit");
  EXPECT_EQ(found_in(repeated("<a ", 3'000'000)), "none");
  EXPECT_EQ(found_in(repeated("<a >", 3'000'000)), "it has more than 200000 links, which is the limit");
  EXPECT_EQ(found_in(repeated("<b>", 3'000'000) + link_to("x")), "x");
  EXPECT_EQ(found_in("<a " + repeated("href", 3'000'000) + ">" + file + "</a>" + link_to("x")), "x");
  EXPECT_EQ(found_in("<a href=\"" + repeated("&amp;", 1'000'000) + "\">" + file + "</a>"),
            repeated("&", 1'000'000));
}

TEST(PackagePage, ALongPageIsNotForAPerson) {
  const std::string form = "<html><title>Sign in</title><form><input type=\"password\"></form>";
  EXPECT_TRUE(is_for_a_person(form));
  EXPECT_FALSE(is_for_a_person(form + std::string(1u << 20, ' ')));
}

}  // namespace
}  // namespace enginehost::transfer
