#include "base/text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace enginehost {
namespace {

using Parts = std::vector<std::string>;

TEST(Text, SplitKeepsEmptyParts) {
  EXPECT_EQ(split("a::b", ':'), (Parts{"a", "", "b"}));
  EXPECT_EQ(split("", ':'), (Parts{""}));
  EXPECT_EQ(split(":", ':'), (Parts{"", ""}));
  EXPECT_EQ(split("a:", ':'), (Parts{"a", ""}));
  EXPECT_EQ(split("abc", ':'), (Parts{"abc"}));
}

TEST(Text, PluralizesTheNounOfANumber) {
  EXPECT_EQ(pluralize(0, "build", "builds"), "0 builds");
  EXPECT_EQ(pluralize(1, "build", "builds"), "1 build");
  EXPECT_EQ(pluralize(21, "build", "builds"), "21 builds");
}

TEST(Text, JoinIsTheInverseOfSplit) {
  EXPECT_EQ(join({}, ", "), "");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({"a", "", "b"}, ", "), "a, , b");
  EXPECT_EQ(join(split("::x:", ':'), ":"), "::x:");
}

TEST(Text, TrimTakesBlanksFromBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim("a"), "a");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, LowerCaseTouchesAsciiOnly) { EXPECT_EQ(to_lower("AbZ[\xc3\x84"), "abz[\xc3\x84"); }

TEST(Text, BytesAreWrittenAsDiskToolsWriteThem) {
  struct Row {
    std::uint64_t bytes;
    const char* text;
  };
  constexpr std::uint64_t kibi = 1024, mebi = kibi * 1024, gibi = mebi * 1024, tebi = gibi * 1024;
  for (const auto& [bytes, text] :
       {Row{0, "0 bytes"}, Row{1, "1 byte"}, Row{12, "12 bytes"}, Row{1023, "1023 bytes"},
        Row{kibi, "1.0 KiB"}, Row{1536, "1.5 KiB"}, Row{64 * kibi, "64 KiB"}, Row{10 * kibi - 1, "10 KiB"},
        Row{1023 * kibi + 700, "1.0 MiB"}, Row{mebi - 1, "1.0 MiB"}, Row{mebi, "1.0 MiB"},
        Row{gibi * 19 / 10, "1.9 GiB"}, Row{16 * gibi, "16 GiB"}, Row{gibi - 1, "1.0 GiB"},
        Row{3 * tebi, "3.0 TiB"}, Row{5000 * tebi, "5000 TiB"}})
    EXPECT_EQ(format_bytes(bytes), text) << bytes;
  EXPECT_EQ(format_bytes(std::numeric_limits<std::uint64_t>::max()), "16777216 TiB");
}

TEST(Text, ShowsUrlsWithoutUserPasswordAndQuery) {
  EXPECT_EQ(without_passwords("reading http://joe:secret@host:8080/x?a=b@c, then https://host/@scope/y"),
            "reading http://host:8080/x, then https://host/@scope/y");
  EXPECT_EQ(without_passwords("oci://joe@host/n@sha256:1"), "oci://host/n@sha256:1");
  EXPECT_EQ(without_passwords("http://joe:p@ss@host"), "http://host") << "a password may hold an @";
  EXPECT_EQ(without_passwords("\"http://joe:secret@host\",\"a@b\""), "\"http://host\",\"a@b\"");
  // The text that is left is a URL with a user again.
  EXPECT_EQ(without_passwords("http://joe:secret@host:x/y:joe@z"), "http://z");
  EXPECT_EQ(without_passwords("read http://host?query\\joe@z"), "read http://z");
  EXPECT_EQ(without_passwords("joe@host ://"), "joe@host ://");
  EXPECT_EQ(without_passwords(""), "");
}

TEST(Text, ShowsNoQueryWhateverItsParametersAreCalled) {
  for (const char* url :
       {"https://h/x?sig=SECRET", "https://h/x?jwt=SECRET&a=1", "https://h/x?SECRET", "https://h/x#SECRET",
        "https://h/x?a=1#SECRET", "HTTPS://h/x?a='SECRET", "https://h/x?a=\"SECRET\"",
        "https://h/x?u=https://j/y?SECRET", "https://me:SECRET@h/x?SECRET"})
    EXPECT_EQ(to_lower(without_passwords(url)), "https://h/x") << url;
  EXPECT_EQ(without_passwords("https://h?SECRET"), "https://h");
  EXPECT_EQ(without_passwords("https://a/x?SECRET https://b/y?SECRET"), "https://a/x https://b/y");
  EXPECT_EQ(without_passwords("(see 'https://h/x?SECRET'), or https://h/y?SECRET."),
            "(see 'https://h/x'), or https://h/y.");
}

TEST(Text, ShowsNoQueryInsideOfADocument) {
  EXPECT_EQ(without_passwords("{\"url\":\"https://h/x?SECRET\",\"b\":[\"https://j/?SECRET\"]}"),
            "{\"url\":\"https://h/x\",\"b\":[\"https://j/\"]}");
  const std::string escaped = "{\"problem\":\"of https://h/x?a\\\"b\"}";
  EXPECT_EQ(without_passwords(escaped), "{\"problem\":\"of https://h/x\\\"b\"}") << "still JSON";
}

TEST(Text, ShowsNoPasswordOfAUrlThatIsWrittenWrongly) {
  EXPECT_EQ(without_passwords("http://me:SEC/RET@host/x is no URL"), "http://host/x is no URL");
  EXPECT_EQ(without_passwords("http://me:SEC?RET@host/x"), "http://host/x");
  EXPECT_EQ(without_passwords("https://host:8443/@scope/x"), "https://host:8443/@scope/x");
}

TEST(Text, KeepsTheMarksOfASentence) {
  EXPECT_EQ(without_passwords("fetch https://host/x? [y/n]"), "fetch https://host/x? [y/n]");
  EXPECT_EQ(without_passwords("is it \"https://host/x?\""), "is it \"https://host/x?\"");
  EXPECT_EQ(without_passwords("a?b#c and /srv/x?y"), "a?b#c and /srv/x?y") << "no URL";
}

TEST(Text, IntegersAreTheWholeText) {
  EXPECT_EQ(parse_integer("0"), 0);
  EXPECT_EQ(parse_integer("-42"), -42);
  EXPECT_EQ(parse_integer("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  for (const char* bad : {"", " 1", "1 ", "+1", "1.0", "0x10", "9223372036854775808", "one", "-", "1e3"})
    EXPECT_EQ(parse_integer(bad), std::nullopt) << bad;
}

TEST(Text, PatternsMatchAsTheManifestFormatSays) {
  struct Row {
    const char *path, *pattern;
    bool matches;
  };
  for (const auto& [path, pattern, matches] : {Row{"torch/lib/libc10.so", "torch/lib/*.so*", true},
                                               Row{"torch/lib/libcudnn.so.8", "torch/lib/*.so*", true},
                                               Row{"torch/lib/sub/x.so", "torch/lib/*.so*", false},
                                               Row{"torch/lib/x.txt", "torch/lib/*.so*", false},
                                               Row{"a/b/c.so", "**", true},
                                               Row{"", "**", true},
                                               Row{"", "*", true},
                                               Row{"", "", true},
                                               Row{"a", "", false},
                                               Row{"a/b/c.so", "**/*.so", true},
                                               Row{"c.so", "**/*.so", true},
                                               Row{"a/b/c.so", "*.so", false},
                                               Row{"a/b/c.so", "a/**/c.so", true},
                                               Row{"a/c.so", "a/**/c.so", true},
                                               Row{"a/xc.so", "a/**/c.so", false},
                                               Row{"xc.so", "**/c.so", false},
                                               Row{"a/b", "a/**", true},
                                               Row{"a/", "a/**", true},
                                               Row{"a", "a/**", false},
                                               Row{"a/b/c", "a/*", false},
                                               Row{"abc", "a?c", true},
                                               Row{"a/c", "a?c", false},
                                               Row{"ac", "a?c", false},
                                               Row{"aXbXc", "a*b*c", true},
                                               Row{"aXbX", "a*b*c", false},
                                               Row{"a.b", "a.b", true},
                                               Row{"aXb", "a.b", false},
                                               Row{"x/a/y/a/z", "**/a/z", true},
                                               Row{"[a]", "[a]", true},
                                               Row{"a", "[a]", false}})
    EXPECT_EQ(matches_pattern(path, pattern), matches) << path << " against " << pattern;
}

// The definition as simple code: exponential and obviously right.
bool matches_by_definition(std::string_view path, std::string_view pattern, bool at_element = true) {
  if (pattern.empty()) return path.empty();
  const auto after_one = [&](std::string_view rest) {
    return matches_by_definition(path.substr(1), rest, path[0] == '/');
  };
  if (pattern.starts_with("**")) {
    const std::string_view rest = pattern.substr(2);
    if (rest.starts_with("/") && at_element && matches_by_definition(path, rest.substr(1), true)) return true;
    if (matches_by_definition(path, rest, at_element)) return true;
    if (path.empty()) return false;
    // "**" swallows one more character; "**/" still needs its slash then, so that it does not match "no
    // folder" again.
    for (std::size_t used = 1; used <= path.size(); ++used) {
      const bool element = path[used - 1] == '/';
      if (matches_by_definition(path.substr(used), rest, element)) return true;
    }
    return false;
  }
  if (pattern[0] == '*') {
    if (matches_by_definition(path, pattern.substr(1), at_element)) return true;
    return !path.empty() && path[0] != '/' && after_one(pattern);
  }
  if (path.empty()) return false;
  const bool one = pattern[0] == '?' ? path[0] != '/' : pattern[0] == path[0];
  return one && after_one(pattern.substr(1));
}

TEST(Text, PatternsAgreeWithTheDefinitionOnRandomTexts) {
  std::mt19937 random(20261120);
  const auto text = [&](std::string_view alphabet, std::size_t longest) {
    std::string out(std::uniform_int_distribution<std::size_t>(0, longest)(random), ' ');
    for (char& c : out)
      c = alphabet[std::uniform_int_distribution<std::size_t>(0, alphabet.size() - 1)(random)];
    return out;
  };
  int matched = 0;
  for (int crash_guard = 0; crash_guard < 200'000; ++crash_guard) {
    const std::string path = text("aab/", 8), pattern = text("ab/?***", 7);
    // Three stars in a row have no meaning of their own; readers of manifests treat them as "**" and "*".
    const bool expected = matches_by_definition(path, pattern);
    matched += expected;
    ASSERT_EQ(matches_pattern(path, pattern), expected) << '"' << path << "\" against \"" << pattern << '"';
  }
  EXPECT_GT(matched, 10'000) << "the trials must try both answers";
}

TEST(Text, ManyStarsDoNotTakeExponentialTime) {
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "a*";
  EXPECT_FALSE(matches_pattern(std::string(5000, 'a'), pattern + "b"));
  EXPECT_FALSE(matches_pattern(std::string(5000, 'a'), "**a**a**a**a**a**a**b"));
}

TEST(Text, NearestOffersTheLikelyWord) {
  const Parts engines{"onnxruntime", "pytorch", "reference", "tensorflow", "mxnet"};
  EXPECT_EQ(nearest("pytroch", engines), "pytorch");
  EXPECT_EQ(nearest("onxruntime", engines), "onnxruntime");
  EXPECT_EQ(nearest("reference", engines), "reference");
  EXPECT_EQ(nearest("caffe", engines), std::nullopt);
  EXPECT_EQ(nearest("cu", {"mps"}), std::nullopt) << "as many edits as letters is nothing in common";
  EXPECT_EQ(nearest("", engines), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  EXPECT_EQ(nearest("pytorhc", {"pytorch"}, 1), std::nullopt);
  EXPECT_EQ(nearest("pytorhc", {"pytorch"}, 2), "pytorch");
  EXPECT_EQ(nearest("abcd", {"abcx", "abce"}), "abcx") << "the first of equals";
}

}  // namespace
}  // namespace enginehost
