// The package index of a configuration in a folder of the test. Python is a script that prints what Python
// and pip print. pip_settings_test.py compares the reading of the configuration with the real pip.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/transfer/package_index_fixture.hpp"

namespace enginehost::transfer {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(PackageIndexTest, TakesPipsDefaultWhenNoneIsConfigured) {
  make_pip(server.url("simple"));
  serve_json(digest);
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl") + "\n"));
  EXPECT_THAT(ask({}, "unknown-project"),
              HasSubstr("index=" + server.url("simple") + " [pip install --help]"));
}

// A script hides its folder, so that it is asked for that too.
TEST_F(PackageIndexTest, AsksPipOnceAndKeepsTheAnswer) {
  make_pip(server.url("simple"));
  serve_json(digest);
  const std::string answers = (folder / "answers").native();
  for (int process = 0; process < 3; ++process)
    EXPECT_THAT(ask({"", "none", answers}), StartsWith(server.url("files/engine.whl")));
  EXPECT_EQ(times_asked(), 1);
  // Another pip may have another default.
  test::write_text(folder / "pip/__init__.py", "a newer version");
  EXPECT_THAT(ask({"", "none", answers}), StartsWith(server.url("files/engine.whl")));
  EXPECT_EQ(times_asked(), 2);
  make_pip("http://unused.invalid/simple");
  EXPECT_THAT(ask({"", "none", answers}), StartsWith("EH-N01\n"));
  EXPECT_EQ(times_asked(), 3);
  // An answer that is damaged, or that another user could have written, is asked for again.
  make_pip(server.url("simple"));
  test::write_text(folder / "answers/pip.json", "{");
  EXPECT_THAT(ask({"", "none", answers}), StartsWith(server.url("files/engine.whl")));
  ::chmod((folder / "answers/pip.json").c_str(), 0666);
  EXPECT_THAT(ask({"", "none", answers}), StartsWith(server.url("files/engine.whl")));
  EXPECT_EQ(times_asked(), 5);
}

TEST_F(PackageIndexTest, RunsNoPipWhenAnIndexIsConfigured) {
  set("VIRTUAL_ENV", (folder / "environment").native());
  test::write_text(folder / "environment/pyvenv.cfg", "");
  make_pip("http://unused.invalid/simple");
  serve_json(digest);
  set("PIP_INDEX_URL", server.url("simple/"));
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
  variables.erase("PIP_INDEX_URL");
  write_user_file("[global]\ntimeout = 5\nindex-url = " + server.url("simple") + "\n");
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
  EXPECT_THAT(ask({}, "unknown-project"),
              HasSubstr("[" + (folder / "home/.config/pip/pip.conf").native() + "]"));
  EXPECT_EQ(times_asked(), 0);
}

TEST_F(PackageIndexTest, WorksWithoutAnyPython) {
  serve_json(digest);
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N12\n"), HasSubstr("asked=python3 -m pip"), HasSubstr("problem=")));
  EXPECT_THAT(ask({server.url("simple")}), StartsWith(server.url("files/engine.whl")));
  set("PIP_INDEX_URL", server.url("simple"));
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
}

TEST_F(PackageIndexTest, ReadsTheFileOfTheVirtualEnvironmentLast) {
  const fs::path environment = folder / "environment";
  test::write_text(environment / "pyvenv.cfg", "home = /usr/bin\n");
  test::write_text(environment / "pip.conf", "[global]\nindex-url = " + server.url("simple") + "\n");
  serve_json(digest);
  write_user_file("[global]\nindex-url = http://unused.invalid/simple\n");
  EXPECT_THAT(ask(), StartsWith("EH-N01\n"));
  // An active one, or the Python of PATH in one, or a Python that says so.
  set("VIRTUAL_ENV", environment.native());
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
  variables.erase("VIRTUAL_ENV");
  test::write_text(environment / "bin/python3", "\177ELF");
  ::chmod((environment / "bin/python3").c_str(), 0755);
  set("PATH", (environment / "bin").native());
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
  set("PATH", (folder / "bin").native());
  make_pip("http://unused.invalid/simple");
  fs::rename(environment, folder / "prefix");
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
  EXPECT_EQ(times_asked(), 1);
}

TEST_F(PackageIndexTest, ReportsAConfigurationThatPipRefuses) {
  write_user_file("index-url = https://x.invalid\n");
  std::string answer = ask();
  EXPECT_THAT(answer, StartsWith("EH-N17\n"));
  EXPECT_THAT(answer, HasSubstr("set_by=" + (folder / "home/.config/pip/pip.conf").native()));
  EXPECT_THAT(answer, HasSubstr("problem=line 1 stands before the first section"));
  ignore_files();
  for (const auto& [name, value] : {std::pair{"PIP_NO_INDEX", "perhaps"}, std::pair{"PIP_CERT", "some.pem"},
                                    std::pair{"PIP_INDEX_URL", "x.invalid/simple"}}) {
    set(name, value);
    answer = ask();
    EXPECT_THAT(answer, StartsWith("EH-N17\n")) << name;
    EXPECT_THAT(answer, HasSubstr(std::string("set_by=") + name));
    EXPECT_THAT(answer, HasSubstr(std::string("value=") + value));
    variables.erase(name);
  }
}

TEST_F(PackageIndexTest, SkipsAFileThatOthersCanWrite) {
  serve_json(digest);
  write_user_file("[global]\nindex-url = " + server.url("simple") + "\n");
  ::chmod((folder / "home/.config/pip/pip.conf").c_str(), 0666);
  const std::string answer = ask();
  EXPECT_THAT(answer, StartsWith("EH-N12\n"));
  EXPECT_THAT(answer, HasSubstr("skipped=" + (folder / "home/.config/pip/pip.conf").native() +
                                ": everybody may write into it [pip's configuration]"));
}

TEST_F(PackageIndexTest, TakesThePlacesOfPipsFiles) {
  serve_json(digest);
  obey_files();
  const std::string right = "[global]\nindex-url = " + server.url("simple") + "\n";
  const std::string wrong = "[global]\nindex-url = http://unused.invalid/simple\n";
  // Each wins over those before it.
  const std::vector<fs::path> files = {folder / "xdg/pip/pip.conf", folder / "home/.pip/pip.conf",
                                       folder / "home/.config/pip/pip.conf"};
  for (const fs::path& file : files) {
    test::write_text(file, right);
    EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl"))) << file;
    test::write_text(file, wrong);
  }
  test::write_text(folder / "named.conf", right);
  set("PIP_CONFIG_FILE", (folder / "named.conf").native());
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
}

TEST_F(PackageIndexTest, PassesOnCertificatesAndProxy) {
  serve_json(digest);
  set("PIP_INDEX_URL", server.url("simple"));
  set("PIP_CERT", "/etc/ssl/index.pem");
  set("PIP_CLIENT_CERT", "/etc/ssl/me.pem");
  EXPECT_EQ(ask(), server.url("files/engine.whl") + "\n/etc/ssl/index.pem\n/etc/ssl/me.pem\n\n");
  // nginx answers a proxy's request for another host as its own.
  set("PIP_INDEX_URL", "http://index.invalid/simple");
  set("PIP_PROXY", server.url(""));
  EXPECT_EQ(ask(), "http://index.invalid/files/engine.whl\n/etc/ssl/index.pem\n/etc/ssl/me.pem\n" +
                       server.url("") + "\n");
}

TEST_F(PackageIndexTest, GivesTheIndexsCredentialsToItsOwnFilesOnly) {
  const std::string place = server.url("").substr(7);
  set("PIP_INDEX_URL", "http://user:pass%40word@" + place + "simple");
  serve_json(digest);
  EXPECT_THAT(ask(), StartsWith("http://user:pass%40word@" + place + "files/engine.whl\n"));
  const auto serve = [&](const std::string& url) {
    test::write_text(server.root() / "simple/sample-engine/index.html",
                     "<a href=\"" + url + "\">" + file_name + "</a>");
  };
  serve("http://" + place + "x.whl");
  EXPECT_THAT(ask(), StartsWith("http://user:pass%40word@" + place + "x.whl\n"));
  serve("http://files.invalid/x.whl");
  EXPECT_THAT(ask(), StartsWith("http://files.invalid/x.whl\n"));
  EXPECT_THAT(ask({}, "unknown-project"), Not(HasSubstr("word")));
}

TEST_F(PackageIndexTest, ReadsAnIndexInAFolder) {
  const fs::path index = folder / "an index";
  test::write_text(index / "sample-engine/index.html",
                   "<a href=\"../files/" + file_name + "#sha256=" + digest + "\">" + file_name + "</a>");
  test::write_text(index / ("files/" + file_name), "wheel");
  const std::string expected = (index / ("files/" + file_name)).native() + "\n";
  std::string url = "file://" + index.native();
  url.replace(url.find(' '), 1, "%20");
  for (const std::string& location : {index.native(), url, "file://localhost" + url.substr(7)}) {
    set("PIP_INDEX_URL", location);
    EXPECT_THAT(ask(), StartsWith(expected)) << location;
    variables.erase("PIP_INDEX_URL");
    EXPECT_THAT(ask({location}), StartsWith(expected)) << location;
  }
  EXPECT_THAT(ask({index.native()}, "other"), StartsWith("EH-N13\n"));
  // The page of a server cannot name a file of this machine.
  test::write_text(server.root() / "simple/sample-engine/index.html",
                   "<a href=\"" + url + "/files/" + file_name + "\">" + file_name + "</a>");
  EXPECT_THAT(ask({server.url("simple")}), StartsWith("EH-N13\n"));
}

TEST_F(PackageIndexTest, SearchesEveryKindOfFindLinks) {
  set("PIP_NO_INDEX", "1");
  const fs::path wheel = folder / ("wheels/" + file_name);
  test::write_text(wheel, "wheel");
  const std::string local = wheel.native() + "\n";
  test::write_text(folder / "links.html", "<A HREF=wheels/" + file_name + ">the engine</A>");
  test::write_text(folder / "pages/page.html", "<a href=\"../wheels/" + file_name + "\">x</a>");
  test::write_text(folder / ("home/mine/" + file_name), "wheel");
  test::write_text(server.root() / "links.html",
                   "<a href=\"a/b/" + file_name + "#sha256=" + digest + "\">x</a>");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {wheel.parent_path().native(), local},
      {"file://" + wheel.parent_path().native(), local},
      {wheel.native(), local},
      {"file://" + wheel.native(), local},
      {(folder / "links.html").native(), local},
      {"file://" + (folder / "links.html").native(), local},
      {(folder / "pages").native(), local},
      {"/nowhere " + wheel.parent_path().native(), local},
      {"~/mine", (folder / ("home/mine/" + file_name)).native() + "\n"},
      {server.url("links.html"), server.url("a/b/" + file_name) + "\n"},
      {server.url("files/" + file_name), server.url("files/" + file_name) + "\n"},
  };
  for (const auto& [links, expected] : cases) {
    set("PIP_FIND_LINKS", links);
    EXPECT_THAT(ask(), StartsWith(expected)) << links;
  }
  // A relative folder would be another one for every program.
  set("PIP_FIND_LINKS", "wheels");
  EXPECT_THAT(ask(), StartsWith("EH-N13\n"));
}

TEST_F(PackageIndexTest, TheNamedIndexReplacesAllOfPips) {
  serve_json(digest);
  set("PIP_INDEX_URL", server.url("other"));
  set("PIP_EXTRA_INDEX_URL", server.url("extra"));
  set("PIP_FIND_LINKS", (folder / "wheels").native());
  set("PIP_NO_INDEX", "1");
  test::write_text(folder / ("wheels/" + file_name), "wheel");
  EXPECT_THAT(ask({server.url("simple")}), StartsWith(server.url("files/engine.whl")));
  EXPECT_THAT(ask({server.url("nothing")}), StartsWith("EH-N13\n"));
  make_pip("http://unused.invalid/simple");
  EXPECT_THAT(ask({server.url("simple")}), StartsWith(server.url("files/engine.whl")));
  EXPECT_EQ(times_asked(), 0);
  EXPECT_EQ(server.requests("GET /other"), 0);
  EXPECT_EQ(server.requests("GET /extra"), 0);
}

TEST_F(PackageIndexTest, TakesCredentialsFromNetrc) {
  const test::NginxServer guarded("if ($http_authorization != \"Basic bWU6c2VjcmV0\") { return 401; }");
  test::write_text(guarded.root() / "simple/sample-engine/index.html", "<a href=\"x\">" + file_name + "</a>");
  set("PIP_INDEX_URL", guarded.url("simple"));
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N04\n"), HasSubstr("status=401")));
  test::write_text(folder / "mine", "machine 127.0.0.1 login me password secret\n");
  set("NETRC", (folder / "mine").native());
  EXPECT_THAT(ask(), StartsWith(guarded.url("simple/sample-engine/x")));
  variables.erase("NETRC");
  test::write_text(folder / "home/.netrc", test::read_text(folder / "mine"));
  EXPECT_THAT(ask(), StartsWith(guarded.url("simple/sample-engine/x")));
}

TEST_F(PackageIndexTest, NamesTheKeyringOnlyWhereTheIndexRefuses) {
  const test::NginxServer guarded("location /simple { return 401; }");
  set("PIP_INDEX_URL", guarded.url("simple"));
  EXPECT_THAT(ask(), AllOf(StartsWith("EH-N04\n"), HasSubstr("status=401"), Not(HasSubstr("keyring"))));
  set("PIP_KEYRING_PROVIDER", "subprocess");
  EXPECT_THAT(ask(), HasSubstr("keyring=subprocess"));
  set("PIP_INDEX_URL", server.url("simple"));
  serve_json(digest);
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
}

TEST_F(PackageIndexTest, ReadsThePageOfAnIndexWithoutJson) {
  make_pip(server.url("simple"));
  test::write_text(server.root() / "simple/sample-engine/index.html",
                   "<!DOCTYPE html><html><body><a href=\"/files/old.whl\">old.whl</a>\n<a href=\"" +
                       std::string("/files/engine.whl?a=1&amp;b=2#sha256=") + digest +
                       "\" data-requires-python=\"&gt;=3\">" + file_name + "</a></body></html>");
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl?a=1&b=2") + "\n"));
}

TEST_F(PackageIndexTest, NamesTheIndexThatDoesNotListTheFile) {
  make_pip(server.url("simple"));
  serve_json(digest);
  const std::string answer = ask({}, "unknown-project");
  EXPECT_THAT(answer, StartsWith("EH-N13\n"));
  EXPECT_THAT(answer, HasSubstr("index=" + server.url("simple")));
  EXPECT_THAT(answer, HasSubstr("file=" + file_name));
}

TEST_F(PackageIndexTest, DistinguishesASignInPageFromAnIndexWithoutTheFile) {
  make_pip(server.url("simple"));
  const auto serve = [&](const std::string& body) {
    test::write_text(
        server.root() / "simple/sample-engine/index.html",
        "<!DOCTYPE html><html><head><title>Guests</title></head><body>" + body + "</body></html>");
  };
  for (const char* body : {"<form action=\"/enter\"><input type=\"submit\"></form>",
                           "<input name=\"p\" type=\"password\">", "<script>location='/enter'</script>"}) {
    serve(body);
    const std::string answer = ask();
    EXPECT_THAT(answer, StartsWith("EH-N06\n")) << body;
    EXPECT_THAT(answer, HasSubstr("url=" + server.url("simple/sample-engine/"))) << body;
    EXPECT_THAT(answer, HasSubstr("title=Guests")) << body;
  }
  for (const char* body : {"", "<h1>Links for sample-engine</h1>", "<a href=\"x\">sample-0.1.tar.gz</a>",
                           "<form><input name=\"refresh\" type=\"submit\"></form>"}) {
    serve(body);
    EXPECT_THAT(ask(), StartsWith("EH-N13\n")) << body;
  }
}

TEST_F(PackageIndexTest, DoesNotTakeAFileThatIsListedWithAnotherDigest) {
  make_pip(server.url("simple"));
  serve_json(sha256_hex("another wheel"));
  const std::string answer = ask();
  EXPECT_THAT(answer, StartsWith("EH-N13\n"));
  EXPECT_THAT(answer, HasSubstr("listed_sha256=" + sha256_hex("another wheel")));
}

TEST_F(PackageIndexTest, SearchesExtraIndexesToo) {
  set("PIP_INDEX_URL", server.url("empty"));
  set("PIP_EXTRA_INDEX_URL", server.url("none") + " " + server.url("simple"));
  serve_json(digest);
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
}

TEST_F(PackageIndexTest, AnIndexThatPolicyForbidsIsNotUsedAndReported) {
  set("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
  set("PIP_EXTRA_INDEX_URL", server.url("simple"));
  EXPECT_THAT(ask({"", "http://"}), StartsWith("EH-P01\n"));
  EXPECT_EQ(server.log(), "");
  // A problem that the network may solve comes first.
  EXPECT_THAT(ask({"", server.url("simple")}), StartsWith("EH-N02\n"));
  serve_json(digest);
  EXPECT_THAT(ask({"", "http://127.0.0.1:9/"}), StartsWith(server.url("files/engine.whl")));
}

// A page of 48 MiB, whose values would take a gigabyte.
TEST_F(PackageIndexTest, ALargePageTakesNoMoreMemoryThanTwiceItsText) {
  make_pip(server.url("simple"));
  std::string entries;
  for (std::size_t i = 0; entries.size() < (48u << 20); ++i)
    entries +=
        "{\"filename\":\"" + std::to_string(i) + "\",\"url\":\"" + std::string(150, 'u') +
        R"(","yanked":false,"hashes":{},"a":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]},)";
  const fs::path page = server.root() / "simple/sample-engine/index.html";
  test::write_text(page, "{\"files\":[{\"filename\":\"" + file_name + "\",\"url\":\"x\"}]}");
  ASSERT_THAT(ask(), StartsWith(server.url("simple/sample-engine/x")));
  const long small = memory_kib;
  test::write_text(page, "{\"files\":[" + entries + "{\"filename\":\"" + file_name + "\",\"url\":\"x\"}]}");
  const long text = static_cast<long>(fs::file_size(page) >> 10);
  EXPECT_THAT(ask(), StartsWith(server.url("simple/sample-engine/x")));
#ifdef ENGINEHOST_SANITIZED
  GTEST_SKIP() << "a sanitizer keeps freed memory";
#endif
  EXPECT_LT(memory_kib - small, 2 * text + 8192) << small << " KiB for a page of one file";
}

TEST_F(PackageIndexTest, APageBeyondItsLimitsIsReportedWithThem) {
  make_pip(server.url("simple"));
  const fs::path page = server.root() / "simple/sample-engine/index.html";
  for (const char* begin : {"{", "<!DOCTYPE html><html>"}) {
    test::write_text(page, begin + std::string(65u << 20, ' '));
    const std::string answer = ask();
    EXPECT_THAT(answer, StartsWith("EH-N13\n")) << begin;
    EXPECT_THAT(answer, HasSubstr("problem=it is longer than 64 MiB, which is the limit")) << begin;
    EXPECT_THAT(answer, HasSubstr("limit=67108864")) << begin;
    EXPECT_THAT(answer, HasSubstr("index=" + server.url("simple"))) << begin;
    EXPECT_THAT(answer, HasSubstr("file=" + file_name)) << begin;
  }
  test::write_text(page, "{\"files\":[");
  EXPECT_THAT(ask(), HasSubstr("problem=parse error at line 1"));
  EXPECT_THAT(ask(), HasSubstr("position="));
  // Another index may have the file.
  set("PIP_INDEX_URL", server.url("simple"));
  set("PIP_EXTRA_INDEX_URL", server.url("other"));
  test::write_text(server.root() / "other/sample-engine/index.html",
                   "{\"files\":[{\"filename\":\"" + file_name + "\",\"url\":\"x\"}]}");
  EXPECT_THAT(ask(), StartsWith(server.url("other/sample-engine/x")));
}

}  // namespace
}  // namespace enginehost::transfer
