#include "base/location.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "base/paths.hpp"
#include "tests/base/temporary_folder.hpp"

namespace enginehost {
namespace {

// Makes a path that begins with "/" absolute on Windows too.
std::string folder(const std::string& path) {
  return std::filesystem::path("/").is_absolute() ? path : "c:" + path;
}

// The URL that is read keeps "//", where servers might disagree; the one that is compared does not.
TEST(Location, APlainUrlIsTheNormalizedForm) {
  for (const auto& [written, plain] : {
           std::pair("https://h.example/r", "https://h.example/r"),
           std::pair("https://h.example/r/", "https://h.example/r"),
           std::pair("https://h.example/r//", "https://h.example/r"),
           std::pair("https://h.example/r/.", "https://h.example/r"),
           std::pair("https://h.example/", "https://h.example"),
           std::pair("HTTPS://H.Example/R", "https://h.example/R"),
           std::pair("https://h.example:443/r", "https://h.example/r"),
           std::pair("https://h.example:0443/r", "https://h.example/r"),
           std::pair("https://h.example:/r", "https://h.example/r"),
           std::pair("http://h.example:80", "http://h.example"),
           std::pair("http://h.example:443/r", "http://h.example:443/r"),
           std::pair("https://[::1]:443/r", "https://[::1]/r"),
           std::pair("https://[::1]/r", "https://[::1]/r"),
           std::pair("https:///h.example/r", "https://h.example/r"),
           std::pair("https://u:P@H.example/r/", "https://u:P@h.example/r"),
           std::pair("https://h.example/x/../r/./", "https://h.example/r"),
           std::pair("https://h.example/../r", "https://h.example/r"),
           std::pair("https://h.example/a//b", "https://h.example/a//b"),
           std::pair("https://h.example/%72", "https://h.example/r"),
           std::pair("https://h.example/x/%2e%2E/r", "https://h.example/r"),
           std::pair("https://h.example/a%2f../r/", "https://h.example/a%2f../r/"),
           std::pair("https://h.example/r/?x=/", "https://h.example/r/?x=/"),
           std::pair("https://good.example\\@evil.example/r/", "https://good.example\\@evil.example/r/"),
           std::pair("a name/", "a name/"),
           std::pair("", ""),
       }) {
    EXPECT_EQ(plain_location(written), plain) << written;
    EXPECT_EQ(plain_location(plain), plain) << "a second time";
  }
}

TEST(Location, EverySpellingOfAFolderIsTheSame) {
  for (const char* written :
       {"/srv/r", "/srv/r/", "/srv/r/.", "/srv/./r", "/srv//r", "/srv/x/../r", "/srv/r//", "/../srv/r"}) {
    EXPECT_EQ(plain_location(folder(written)), plain_location(folder("/srv/r"))) << written;
    EXPECT_EQ(identity_of_location(folder(written)), folder("/srv/r")) << written;
  }
  EXPECT_EQ(identity_of_location(folder("/")), folder("/"));
  EXPECT_EQ(identity_of_location(folder("/.")), folder("/"));
  EXPECT_NE(identity_of_location(folder("/srv/r2")), folder("/srv/r"));
}

#ifndef _WIN32  // Windows removes ".." before it resolves links
TEST(Location, DotsAreResolvedBehindLinks) {
  const TemporaryFolder place;
  const std::filesystem::path root = std::filesystem::canonical(place.path());
  const auto at = [&](const char* path) { return path_text(root / path); };
  for (const char* made : {"srv/x", "mnt/a/b"}) std::filesystem::create_directories(root / made);
  std::filesystem::create_directory_symlink("../mnt/a/b", root / "srv/current");
  EXPECT_EQ(plain_location(at("srv/current/../r/")), at("mnt/a/r"));
  EXPECT_EQ(identity_of_location(at("srv/current/../r")), at("mnt/a/r"));
  EXPECT_EQ(plain_location(at("srv/current/../../r")), at("mnt/r"));
  EXPECT_EQ(plain_location(at("srv/current/x/../r")), at("srv/current/r")) << "no link is left there";
  EXPECT_EQ(plain_location(at("srv/x/../current/r")), at("srv/current/r"));
}
#endif

TEST(Location, EverySpellingOfAUrlIsTheSame) {
  for (const char* written :
       {"https://h.example/a/r", "https://h.example/a/r/", "https://h.example//a//r//",
        "hTTps://H.EXAMPLE/a/r", "https://h.example./a/r", "https://h.example.:443/a/r",
        "https://h.example/a/%72", "https://h.example/%61/r", "https://h.example/a/x/%2e%2E/r",
        "https://h.example/a/./r/.", "https://someone:secret@h.example/a/r", "https://h%2eexample/a/r",
        "https:///h.example/a/r", "https:///someone:secret@h.example/a/r"})
    EXPECT_EQ(identity_of_location(written), "https://h.example/a/r") << written;
  for (const char* other :
       {"http://h.example/a/r", "https://h.example:8443/a/r", "https://h.example/A/r", "https://h.example/r",
        "https://h.example.evil/a/r", "https://h.example/a%2Fr", "https://evil.example/a/r"})
    EXPECT_NE(identity_of_location(other), "https://h.example/a/r") << other;
  EXPECT_EQ(identity_of_location("https://h.example/a%2fr"), "https://h.example/a%2Fr");
  EXPECT_EQ(identity_of_location("https://h.example/100%"), "https://h.example/100%");
}

TEST(Location, AUrlThatServersReadInSeveralWaysIsAmbiguous) {
  for (const char* path :
       {"e2/..%2fe",         "e2/..%2Fe",         "e2/%2e%2e%2fe",  "e2/..%5ce", "e2/..\\e",
        "e2/%252e%252e/e",   "e2/..%252fe",       "e2/..;/e",       "e2/.;x/e",  "e2/..%3b/e",
        "e2/%2e.;a=b/e",     "e2/..%20/e",        "e2/.../e",       "e2/. ./e",  "e2/..%c0%afe",
        "e2/%c0%ae%c0%ae/e", "e2/%u002e%u002e/e", "e2/%2",          "e2/100%",   "e2/..%00/e",
        "e2/%0d%0ae",        "e2?/../e",          "e2/?x=/../../e", "e2#/../e"})
    EXPECT_NE(ambiguity_of("https://h.example/" + std::string(path)), "") << path;
  for (const char* url :
       {"https://good.example\\@evil.example/r", "https://", "https:///", "https://h%2eexample/r",
        "https://h.example:port/r", "https://me:se/cret@h.example/r", "https://a:b:80/r"})
    EXPECT_NE(ambiguity_of(url), "") << url;
}

TEST(Location, AnOrdinaryUrlNamesOnePlace) {
  for (const char* url :
       {"https://h.example", "https://h.example/r/", "https://u:p%2Fw@h.example:8443/r", "https://[::1]:80/r",
        "https://h.example/torch-2.0.1%2Bcpu", "https://h.example/a%20b/%C3%A4", "https://h.example/a;b=1/r",
        "https://h.example/x/../r/./", "https://h.example/%2e%2e/r", "https://h.example/.well-known/..a",
        "https://h.example/a//b", "https://h.example./r", "/srv/..;/r", "a name"})
    EXPECT_EQ(ambiguity_of(url), "") << url;
}

TEST(Location, TheRestBelowAFolderIsWhatStandsBehindIt) {
  const std::string folder = "https://files.example/whl/";
  EXPECT_EQ(rest_below("https://files.example/whl/a/b.whl?x=1", folder), "a/b.whl?x=1");
  EXPECT_EQ(rest_below("HTTPS://Files.Example:443/whl/./a%2Bb.whl", folder), "a%2Bb.whl");
  EXPECT_EQ(rest_below("https://me:secret@files.example/whl/a", folder), "a");
  for (const char* other : {"https://files.example/whl", "https://files.example/whl2/a",
                            "https://files.example/whl/../a", "https://files.example/whl/%2e%2e/a",
                            "https://files.example/whl/..%2fa", "https://files.example/whl/..;/a",
                            "http://files.example/whl/a", "https://evil.example/whl/a", "/whl/a"})
    EXPECT_EQ(rest_below(other, folder), std::nullopt) << other;
}

TEST(Location, AUrlIsRecognizedInAnyCase) {
  EXPECT_TRUE(is_url("http://h"));
  EXPECT_TRUE(is_url("HTTPS://h"));
  EXPECT_FALSE(is_url("https:/h"));
  EXPECT_FALSE(is_url("ftp://h"));
  EXPECT_FALSE(is_url("/https://h"));
}

}  // namespace
}  // namespace enginehost
