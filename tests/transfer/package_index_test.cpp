// The package index through a pip that is a script: it prints what pip's own commands print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/child_process.hpp"
#include "base/sha256.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::transfer {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

const std::string file_name = "sample_engine-1.0-py3-none-manylinux_2_17_x86_64.whl";

class PackageIndexTest : public testing::Test {
 protected:
  // `config` is what "pip config list" prints; `fallback` is the index in the text of "pip install --help".
  void make_pip(const std::string& config, const std::string& fallback) {
    const std::string script =
        "#!/bin/sh\n[ \"$1\" = -m ] && shift 2\ncase \"$1\" in\nconfig) cat <<'EOF'\n" + config +
        "\nEOF\n;;\ninstall) cat <<'EOF'\n\nPackage Index Options:\n"
        "  -i, --index-url <url>  Base URL of the Python Package Index (default " +
        fallback + "). This should point to a repository\nEOF\n;;\n*) exit 1;;\nesac\n";
    for (const char* name : {"python3", "pip3", "pip"}) {
      test::write_text(folder / "bin" / name, script);
      ::chmod((folder / "bin" / name).c_str(), 0755);
    }
  }
  std::string ask(std::vector<std::string> extra = {}, const std::string& project = "Sample_Engine") {
    ChildRequest request;
    request.argv = {test::build_path("/tests/package_index_child"), project, file_name, digest};
    request.argv.insert(request.argv.end(), extra.begin(), extra.end());
    request.environment = {"PATH=" + (folder / "bin").native() + ":/usr/bin:/bin",
                           "http_proxy",
                           "HTTP_PROXY",
                           "https_proxy",
                           "HTTPS_PROXY",
                           "all_proxy",
                           "ALL_PROXY"};
    if (only_scripts) request.environment[0] = "PATH=" + (folder / "bin").native() + ":/nowhere";
    const auto outcome = run_child(request);
    memory_kib = outcome ? std::atol(outcome->error.c_str()) : 0;
    return outcome ? outcome->output : "";
  }
  void serve_json(const std::string& sha256) {
    test::write_text(
        server.root() / "simple/sample-engine/index.html",
        R"({"meta":{"api-version":"1.1"},"files":[{"filename":"other.whl","url":"x","hashes":{}},)"
        R"({"filename":")" +
            file_name + R"(","url":"../../files/engine.whl","size":10,"hashes":{"sha256":")" + sha256 +
            R"("}}]})");
  }

  test::TemporaryFolder folder;
  test::NginxServer server;
  const std::string digest = sha256_hex("wheel");
  bool only_scripts = false;
  long memory_kib = 0;  // the most that the last ask() used
};

TEST_F(PackageIndexTest, TakesTheIndexThatPipsHelpNamesWhenNoneIsConfigured) {
  make_pip("", server.url("simple"));
  serve_json(digest);
  EXPECT_EQ(ask(), server.url("files/engine.whl") + " pip install --help\n");
}

TEST_F(PackageIndexTest, TakesTheConfiguredIndexFirst) {
  make_pip("global.timeout='5'\nglobal.index-url='" + server.url("simple/") + "'",
           "http://unused.invalid/simple");
  serve_json(digest);
  EXPECT_EQ(ask(), server.url("files/engine.whl") + " pip config\n");
}

TEST_F(PackageIndexTest, TheEnvironmentBeatsTheFiles) {
  make_pip("global.index-url='http://unused.invalid/simple'\n:env:.index-url='" + server.url("simple") + "'",
           "http://unused.invalid/simple");
  serve_json(digest);
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
}

TEST_F(PackageIndexTest, ReadsThePageOfAnIndexWithoutJson) {
  make_pip("", server.url("simple"));
  test::write_text(server.root() / "simple/sample-engine/index.html",
                   "<!DOCTYPE html><html><body><a href=\"/files/old.whl\">old.whl</a>\n<a href=\"" +
                       std::string("/files/engine.whl?a=1&amp;b=2#sha256=") + digest +
                       "\" data-requires-python=\"&gt;=3\">" + file_name + "</a></body></html>");
  EXPECT_EQ(ask(), server.url("files/engine.whl?a=1&b=2") + " pip install --help\n");
}

TEST_F(PackageIndexTest, NamesTheIndexThatDoesNotListTheFile) {
  make_pip("", server.url("simple"));
  serve_json(digest);
  const std::string answer = ask({}, "unknown-project");
  EXPECT_THAT(answer, StartsWith("EH-N13\n"));
  EXPECT_THAT(answer, HasSubstr("index=" + server.url("simple")));
  EXPECT_THAT(answer, HasSubstr("file=" + file_name));
}

TEST_F(PackageIndexTest, DistinguishesASignInPageFromAnIndexWithoutTheFile) {
  make_pip("", server.url("simple"));
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
  make_pip("", server.url("simple"));
  serve_json(sha256_hex("another wheel"));
  const std::string answer = ask();
  EXPECT_THAT(answer, StartsWith("EH-N13\n"));
  EXPECT_THAT(answer, HasSubstr("listed_sha256=" + sha256_hex("another wheel")));
}

TEST_F(PackageIndexTest, SearchesExtraIndexesToo) {
  make_pip("global.index-url='" + server.url("empty") + "'\nglobal.extra-index-url='" + server.url("none") +
               " " + server.url("simple") + "'",
           "http://unused.invalid/simple");
  serve_json(digest);
  EXPECT_THAT(ask(), StartsWith(server.url("files/engine.whl")));
}

TEST_F(PackageIndexTest, TakesAFileOfAFindLinksFolder) {
  make_pip("global.no-index='true'\nglobal.find-links='" + (folder / "wheels").native() + "'",
           "http://unused.invalid/simple");
  test::write_text(folder / ("wheels/" + file_name), "wheel");
  EXPECT_THAT(ask(), StartsWith((folder / ("wheels/" + file_name)).native()));
}

TEST_F(PackageIndexTest, ReportsAnUnreachableIndex) {
  make_pip("", "http://127.0.0.1:" + std::to_string(test::free_port()) + "/simple");
  const std::string answer = ask();
  EXPECT_THAT(answer, StartsWith("EH-N12\n"));
  EXPECT_THAT(answer, HasSubstr("failure=EH-N02"));
}

TEST_F(PackageIndexTest, AnIndexThatPolicyForbidsIsNotUsedAndReported) {
  make_pip(
      "global.index-url='http://127.0.0.1:9/simple'\nglobal.extra-index-url='" + server.url("simple") + "'",
      "http://unused.invalid/simple");
  EXPECT_THAT(ask({"", "http://"}), StartsWith("EH-P01\n"));
  EXPECT_EQ(server.log(), "");
  // A problem that the network may solve comes first.
  EXPECT_THAT(ask({"", server.url("simple")}), StartsWith("EH-N12\n"));
  serve_json(digest);
  EXPECT_THAT(ask({"", "http://127.0.0.1:9/"}), StartsWith(server.url("files/engine.whl")));
}

TEST_F(PackageIndexTest, WithoutPipTheConfigurationServes) {
  only_scripts = true;
  serve_json(digest);
  const std::string without = ask();
  EXPECT_THAT(without, StartsWith("EH-N12\n"));
  EXPECT_THAT(without, HasSubstr("problem="));
  EXPECT_EQ(ask({server.url("simple")}), server.url("files/engine.whl") + " configuration\n");
}

// A page of 48 MiB, whose values would take a gigabyte.
TEST_F(PackageIndexTest, ALargePageTakesNoMoreMemoryThanTwiceItsText) {
  make_pip("", server.url("simple"));
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
  make_pip("", server.url("simple"));
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
  make_pip(
      "global.index-url='" + server.url("simple") + "'\nglobal.extra-index-url='" + server.url("other") + "'",
      "http://unused.invalid/simple");
  test::write_text(server.root() / "other/sample-engine/index.html",
                   "{\"files\":[{\"filename\":\"" + file_name + "\",\"url\":\"x\"}]}");
  EXPECT_THAT(ask(), StartsWith(server.url("other/sample-engine/x")));
}

}  // namespace
}  // namespace enginehost::transfer
