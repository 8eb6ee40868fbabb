#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "host/transfer/connection_settings.hpp"
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

TEST(Urls, HaveTheOriginThatCredentialsAreBoundTo) {
  EXPECT_EQ(origin_of("https://me:se@cret@A.example/x?token=1#f"), "https://a.example:443");
  EXPECT_EQ(origin_of("http://a.example?http://b.example:9/"), "http://a.example:80");
  EXPECT_EQ(origin_of("https://a.example:80@b.example:8443"), "https://b.example:8443");
  EXPECT_EQ(origin_of("http://[::1]/x"), "http://[::1]:80");
}

TEST(Urls, OfFilesGiveTheirPath) {
  EXPECT_EQ(path_of_file_url("file:///srv/a%20b/c%2Bd?x#y"), "/srv/a b/c+d");
  EXPECT_EQ(path_of_file_url("FILE://LOCALHOST/srv"), "/srv");
  EXPECT_EQ(path_of_file_url("file:/srv/100%"), "/srv/100%");
  for (const char* other : {"file://host/srv", "file:srv", "https://a.example/x", "/srv", "fil", ""})
    EXPECT_EQ(path_of_file_url(other), std::nullopt) << other;
  EXPECT_EQ(join_url("file:///srv/simple/x/index.html", "../../files/y%20z.whl"),
            "file:///srv/files/y%20z.whl");
  for (const char* path : {"/srv/a b/ä#?%41", "/"})
    EXPECT_EQ(path_of_file_url(file_url_of(path)), path) << path;
  EXPECT_EQ(file_name_of("../a/torch-2.0.1%2Bcpu.whl?x=/y#sha256=1/2"), "torch-2.0.1+cpu.whl");
}

TEST(Urls, GetCredentialsOfTheirOwnOriginOnly) {
  const char* from = "https://me:p%40ss@a.example/simple/x/";
  EXPECT_EQ(with_credentials_of("https://a.example:443/f", from), "https://me:p%40ss@a.example:443/f");
  EXPECT_EQ(with_credentials_of("https://A.example/f", from), "https://me:p%40ss@A.example/f");
  for (const char* other : {"http://a.example/f", "https://a.example:8443/f", "https://b.example/f",
                            "https://you:x@a.example/f", "https://a.example.evil.example/f", "file:///f"})
    EXPECT_EQ(with_credentials_of(other, from), other);
  EXPECT_EQ(with_credentials_of("https://a.example/f", "https://a.example/@x"), "https://a.example/f");
}

TEST(Urls, TrustedHostsAreComparedWithHostAndPort) {
  TransferOptions options;
  options.trusted_hosts = {"A.example", "b.example:8443", "[::1]"};
  for (const char* trusted : {"https://a.example/x", "https://a.example:9443/x",
                              "https://me:x@b.example:8443/x", "https://[::1]:444/x"})
    EXPECT_TRUE(is_trusted_host(trusted, options)) << trusted;
  for (const char* other :
       {"https://b.example/x", "https://b.example:84/x", "https://a.example.evil.example/",
        "https://evil.example/a.example", "https://a.example@evil.example/"})
    EXPECT_FALSE(is_trusted_host(other, options)) << other;
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

TEST(ProgressLine, KeepsItsPartsInPlace) {
  const auto place = [](std::uint64_t done, double rate, const char* part) {
    return progress_line({Progress::Phase::downloading, done, 1200u << 20, rate, "https://a.example/b.whl"},
                         79)
        .find(part);
  };
  for (const char* part : {"[", "]", " / ", "GiB", "/s", "left"}) {
    const std::size_t usual = place(600u << 20, 9.0 * (1 << 20), part);
    EXPECT_NE(usual, std::string::npos) << part;
    EXPECT_EQ(place(1u << 20, 2.5 * (1 << 20), part), usual) << part;
    EXPECT_EQ(place(1100u << 20, 120.0 * (1 << 20), part), usual) << part;
    EXPECT_EQ(place(500, 900, part), usual) << part;
  }
}

TEST(ProgressLine, NamesTheFileOfAUrl) {
  const Progress progress{Progress::Phase::downloading, 1, 2, 3, "https://a.example/x/b.whl"};
  EXPECT_EQ(progress_line(progress, 79).substr(0, 16), "fetching  b.whl ");
}

TEST(ProgressLine, NamesTheFileOfAPackageIndex) {
  const Progress progress{Progress::Phase::downloading, 1u << 20, 9u << 20, 1 << 20,
                          "package index: torch, torch-2.9.whl"};
  EXPECT_EQ(progress_line(progress, 79).substr(0, 26), "fetching  torch-2.9.whl  [");
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

std::string printed(bool quiet, const std::function<void(ProgressBar&)>& body) {
  std::FILE* file = std::tmpfile();
  {
    ProgressBar bar(file, quiet, true);
    body(bar);
  }
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(ProgressBar, PrintsALineForEachStepWithoutATerminal) {
  const auto body = [](ProgressBar& bar) {
    bar.line("toy 1.0 cpu  2 MiB in 1 file");
    for (std::uint64_t done = 0; done < 5; ++done)
      bar.show({Progress::Phase::downloading, done, 5, 3, "https://a.example/toy.whl"});
    bar.show({Progress::Phase::publishing, 5, 5, 0, "toy"});
    bar.step("checking", "loads in a child process");
    bar.ready("toy 1.0 cpu");
  };
  const std::string text = printed(false, body);
  EXPECT_EQ(text.substr(0, text.find("ready")),
            "toy 1.0 cpu  2 MiB in 1 file\nfetching  toy.whl\nchecking  loads in a child process\n");
  EXPECT_NE(text.find("ready     toy 1.0 cpu   0.0 s\n"), std::string::npos) << text;
  EXPECT_EQ(printed(true, body), "");
}

TEST(ProgressBar, IsReadyOnlyAfterAStep) {
  EXPECT_EQ(printed(false, [](ProgressBar& bar) { bar.ready("toy"); }), "");
}

}  // namespace
}  // namespace enginehost::transfer
