// Builds that come over HTTP: from manifest to open engine, and every way in which a network fails.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "base/files.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/fault_server.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

Json source(const std::string& url) { return Json::object().set("url", url); }

// Limits with which a server that does not answer is given up after two seconds.
Json impatient() {
  return Json::object().set("connect_timeout_seconds", 1).set("stall_timeout_seconds", 1).set("retries", 0);
}

void expect_opened(const Ended& run) {
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["state"].as_string(), "opened");
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
}

void expect_failed(const Ended& run, const std::string& code, int status) {
  EXPECT_EQ(run.code(), code) << run.said();
  EXPECT_EQ(run.status, status);
  EXPECT_EQ(run.outcome()["state"].as_string(), "failed");
}

// The part of the file that the request asks for.
std::string range_of(const FaultServer::Request& request, const std::string& bytes) {
  return request.range_start ? bytes.substr(static_cast<std::size_t>(*request.range_start)) : bytes;
}

TEST(Network, LeadsFromAManifestToAnOpenEngine) {
  Served served;
  served.publish();
  const Workplace workplace;
  const Ended run = workplace.info(served.arguments());
  expect_opened(run);
  EXPECT_GE(run.outcome()["download"]["bytes"].as_integer(),
            static_cast<std::int64_t>(served.archive.size()));
  EXPECT_TRUE(run.outcome()["proven"].as_bool());
  EXPECT_THAT(run.outcome()["library"].as_string(), HasSubstr(workplace.cache().native()));

  const Ended again = workplace.info(served.arguments());
  expect_opened(again);
  EXPECT_EQ(again.outcome()["download"]["bytes"].as_integer(), 0);
  EXPECT_EQ(served.server.requests("GET " + served.path()), 1);
}

TEST(Network, APasswordInARepositoryUrlIsNeitherPrintedNorKept) {
  Served served;
  served.publish(Json::array().push(Json::object().set("file", "files/" + served.digest)));
  const Workplace workplace;
  RunOptions behind_proxy;
  behind_proxy.environment = {"https_proxy=joe:geheim@proxy.example:3128"};
  std::string location = served.location();
  location.insert(location.find("://") + 3, "joe:geheim@");
  for (int i = 0; i < 3; ++i) {
    const Ended run =
        workplace.info({"reference", "--allow-unsigned", "--repository", location, "--json"}, behind_proxy);
    expect_opened(run);
    EXPECT_THAT(run.said(), Not(HasSubstr("geheim")));
    std::this_thread::sleep_for(1s);  // so that the decision is stored
  }
  const Ended missing =
      workplace.info({"reference", "--allow-unsigned", "--repository", location + "/not-there", "--json"});
  EXPECT_THAT(missing.said(), HasSubstr("not-there"));
  EXPECT_THAT(missing.said(), Not(HasSubstr("geheim")));
  EXPECT_THAT(workplace.run("engine-cache", {"list", "--json"}, behind_proxy).said(),
              Not(HasSubstr("geheim")));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(workplace.cache())) {
    if (!entry.is_regular_file()) continue;
    EXPECT_THAT(read_file(entry.path(), 64u << 20).value(), Not(HasSubstr("geheim"))) << entry.path();
  }
}

// Unlike a dead repository, this one answers and never finishes.
TEST(Network, AStalledRepositoryDelaysNoInstalledBuild) {
  Served served;
  served.publish();
  const Workplace workplace;
  served.install(workplace);
  workplace.configure(Json::object()
                          .set("repositories_default", false)
                          .set("downloads", Json::object().set("stall_timeout_seconds", 4)));
  const auto drip = [](std::string_view first, std::string_view piece) {
    return [=](const FaultServer::Request&, FaultServer::Connection& connection) {
      connection.send(first);
      for (int i = 0; i < 2000 && connection.send(piece); ++i) std::this_thread::sleep_for(100ms);
    };
  };
  FaultServer body(drip("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", "x"));
  FaultServer header(drip("HTTP/1.1 200 OK\r\n", "X-A: b\r\n"));
  FaultServer silent(
      [](const FaultServer::Request&, FaultServer::Connection& connection) { connection.stall(60s); });
  for (const FaultServer* server : {&body, &header, &silent}) {
    const auto began = std::chrono::steady_clock::now();
    const Ended run = workplace.info(
        {"reference", "--allow-unsigned", "--repository", server->url("repository"), "--json"});
    expect_opened(run);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 30s);
    EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("was not sent in time (EH-N03)"));
  }
}

// Beside a readable repository in which nothing fits: the content of the other one is unknown.
TEST(Network, AnUnreachableRepositoryIsWhyNothingFits) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::string dead = "http://127.0.0.1:" + std::to_string(free_port()) + "/engines";
  const auto asked = [&](const std::string& engine, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        engine,         "--json", "--allow-unsigned", "--repository", repository.root().native(),
        "--repository", dead};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace.info(arguments);
  };
  expect_opened(asked("reference"));
  for (const char* engine : {"reference@9.9", "refrence"}) {
    const Ended run = asked(engine);
    expect_failed(run, "EH-N02", 4);
    EXPECT_THAT(evidence_list(run.diagnosis(), "also"), HasSubstr("EH-S0"));
    EXPECT_EQ(run.document["warnings"].as_array().size(), 1u) << "that nobody signed it: " << run.said();
  }
  // The same for a repository whose list cannot be read.
  FaultServer damaged([](const FaultServer::Request&, FaultServer::Connection& connection) {
    connection.answer("200 OK", "{\"format\": 1, \"manif");
  });
  const Ended run = workplace.info({"reference@9.9", "--json", "--allow-unsigned", "--repository",
                                    repository.root().native(), "--repository", damaged.url("engines")});
  expect_failed(run, "EH-M01", 5);
  // Offline by request: the known builds decide.
  expect_failed(asked("reference@9.9", {"--offline"}), "EH-S01", 3);
}

// A laptop on a train: an installed build opens at once, and each open reports that the repository was not
// asked.
TEST(Network, AnUnreachedRepositoryIsNotAskedAtEachOpen) {
  Served served;
  served.publish();
  const Workplace workplace;
  served.install(workplace);
  std::atomic<bool> back = false;
  FaultServer server([&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (!back) return connection.stall(60s);
    connection.answer("302 Found", "", "Location: " + served.server.url(request.path.substr(1)));
  });
  const std::string location = server.url("/repository");
  workplace.configure(
      Json::object()
          .set("repositories_default", false)
          .set("repositories",
               Json::array().push(Json::object().set("location", location).set("unsigned", true)))
          .set("downloads", Json::object().set("stall_timeout_seconds", 4)));
  // The number of requests to the server during one open.
  const auto asked_by = [&](const char* command, std::vector<std::string> arguments) {
    const int before = server.requests();
    const Ended run = workplace.run(command, std::move(arguments));
    EXPECT_THAT(run.said(), HasSubstr("reference-good"));
    EXPECT_EQ(run.said().find("was not sent in time (EH-N03)") == std::string::npos, back) << run.said();
    return server.requests() - before;
  };
  const std::vector<std::string> model = {"reference", source_path("/examples/two-layers.model"), "--json"};
  EXPECT_GT(asked_by("engine-run", model), 0);
  EXPECT_EQ(asked_by("engine-run", model), 0);
  // engine-info asks the repository each time.
  EXPECT_GT(asked_by("engine-info", {"reference", "--json"}), 0);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(workplace.cache() / "repositories"))
    if (entry.path().filename() == "unreached.json")
      std::filesystem::last_write_time(entry.path(), std::filesystem::file_time_type::clock::now() - 301s);
  EXPECT_GT(asked_by("engine-run", model), 0);
  // A build that is not installed has to be fetched.
  back = true;
  EXPECT_EQ(workplace.run("engine-cache", {"remove", "reference-good"}).status, 0);
  EXPECT_GT(asked_by("engine-run", model), 0);
  EXPECT_EQ(served.server.requests("GET " + served.path()), 2);
}

// The same for the server of the best build's files, where another build is installed and proven.
TEST(Network, AnUnreachedServerOfFilesIsNotAskedAtEachOpen) {
  const Workplace workplace;
  std::atomic<bool> back = false;
  const std::string archive = zip_of({{plugin_name, reference_plugin()}});
  FaultServer server([&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    if (!back) return connection.stall(60s);
    connection.answer("200 OK", request.method == "HEAD" ? "" : archive);
  });
  TestRepository repository(workplace.folder() / "repository");
  TestBuild better = good_build("reference-better");
  better.version = "2.0.0";
  Json artifact = Json::object().set("sha256", sha256_hex(archive)).set("size", archive.size());
  artifact.set("archive", "zip")
      .set("sources", Json::array().push(Json::object().set("url", server.url("better.zip"))));
  repository.add(good_build());
  repository.add_with_artifacts(better, Json::array().push(std::move(artifact)));
  repository.write();
  workplace.configure(
      Json::object()
          .set("repositories_default", false)
          .set("repositories",
               Json::array().push(
                   Json::object().set("location", repository.root().native()).set("unsigned", true)))
          .set("update", "open")
          .set("downloads", impatient()));
  const auto asked_by = [&](const char* command, std::vector<std::string> arguments, const char* opened) {
    const int before = server.requests();
    const Ended run = workplace.run(command, std::move(arguments));
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_EQ(run.outcome()["build"].as_string(), opened) << run.said();
    EXPECT_EQ(run.outcome()["fallback"].as_bool(), !back) << run.said();
    return server.requests() - before;
  };
  const std::vector<std::string> model = {"reference", source_path("/examples/two-layers.model"), "--json"};
  EXPECT_GT(asked_by("engine-run", model, "reference-good"), 0);
  EXPECT_EQ(asked_by("engine-run", model, "reference-good"), 0);
  EXPECT_GT(asked_by("engine-info", {"reference", "--json"}, "reference-good"), 0) << "it asks each time";
  std::vector<std::string> forced = model;
  forced.insert(forced.end(), {"--force", "reference-better"});
  EXPECT_GT(asked_by("engine-run", forced, "reference-good"), 0) << "and so does a request that names it";
  back = true;
  EXPECT_EQ(workplace.run("engine-run", model).outcome()["build"].as_string(), "reference-good");
  int notes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(workplace.cache() / "state"))
    if (entry.path().parent_path().filename() == "unreached") {
      std::filesystem::last_write_time(entry.path(), std::filesystem::file_time_type::clock::now() - 301s);
      ++notes;
    }
  EXPECT_EQ(notes, 1);
  EXPECT_GT(asked_by("engine-run", model, "reference-better"), 0);
}

// Two builds on a server that does not answer, and one elsewhere. None is installed.
TEST(Network, ASilentServerIsNotAskedForTheNextBuild) {
  FaultServer server(
      [&](const FaultServer::Request&, FaultServer::Connection& connection) { connection.stall(60s); });
  enum class From { url, url_of_unknown_size, index };
  for (const From from : {From::url, From::url_of_unknown_size, From::index})
    for (const char* command : {"engine-info", "engine-cache"}) {
      const Workplace workplace;
      TestRepository repository(workplace.folder() / "repository");
      for (const std::string version : {"3.0.0", "2.0.0"}) {
        TestBuild build = good_build("reference-" + version);
        build.version = version;
        const Json on_index = Json::object()
                                  .set("project", "runtime-" + version.substr(0, 1))
                                  .set("file", "runtime-" + version + "-py3-none-any.whl");
        const Json source = from == From::index ? Json::object().set("package_index", on_index)
                                                : Json::object().set("url", server.url(version));
        Json artifact = Json::object()
                            .set("sha256", sha256_hex(version))
                            .set("archive", "zip")
                            .set("sources", Json::array().push(source));
        if (from != From::url_of_unknown_size) artifact.set("size", 1000);
        repository.add_with_artifacts(build, Json::array().push(std::move(artifact)));
      }
      repository.add(good_build());
      repository.write();
      workplace.configure(Json::object().set("downloads", impatient()));
      std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                            "--package-index", server.url("simple")};
      if (command == std::string("engine-cache")) arguments.insert(arguments.begin(), "fetch");
      const std::size_t before = server.seen().size();
      const Ended run = workplace.run(command, arguments);
      EXPECT_EQ(run.status, 0) << run.said();
      EXPECT_THAT(run.said(), HasSubstr("reference-good"));
      const auto seen = server.seen();
      ASSERT_GT(seen.size(), before);
      const char* const first = from == From::index ? "/simple/runtime-3/" : "/3.0.0";
      for (std::size_t i = before; i < seen.size(); ++i) EXPECT_EQ(seen[i].path, first) << command;
    }
}

TEST(Network, ACutConnectionIsResumedWhereItEnded) {
  Served served;
  FaultServer cutting([&](const FaultServer::Request& request, FaultServer::Connection& connection) {
    const std::string rest = range_of(request, served.archive);
    const std::size_t whole = served.archive.size(), begin = whole - rest.size();
    std::string head = request.range_start
                           ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " + std::to_string(begin) +
                                 "-" + std::to_string(whole - 1) + "/" + std::to_string(whole) + "\r\n"
                           : "HTTP/1.1 200 OK\r\n";
    head += "Accept-Ranges: bytes\r\nETag: \"one\"\r\nContent-Length: " + std::to_string(rest.size()) +
            "\r\n\r\n";
    connection.send(head);
    if (request.method == "HEAD") return;
    // The first two answers end in the middle.
    connection.send(request.number <= 2 ? rest.substr(0, rest.size() / 2) : rest);
  });
  served.publish(Json::array().push(source(cutting.url("/archive.zip"))));
  const Workplace workplace;
  expect_opened(workplace.info(served.arguments()));
  bool resumed = false;
  for (const auto& request : cutting.seen()) resumed = resumed || request.range_start.value_or(0) > 0;
  EXPECT_TRUE(resumed);
}

TEST(Network, ProgressOfASlowServerIsNotPartOfTheDocument) {
  Served served("limit_rate 1m;", 2u << 20);
  served.publish();
  const Workplace workplace;
  const Ended run = workplace.info(served.arguments());
  expect_opened(run);
  EXPECT_GT(run.outcome()["download"]["seconds"].as_number(), 0.5);
  EXPECT_THAT(run.error, testing::Not(HasSubstr("\x1b[")));
}

TEST(Network, OnlyATerminalGetsAProgressBar) {
  Served served("limit_rate 2m;");
  served.publish();
  const Workplace workplace;
  ChildRequest request =
      workplace.request("engine-info", {"reference", "--allow-unsigned", "--repository", served.location()});
  std::string line;
  for (const std::string& argument : request.argv) line += "'" + argument + "' ";
  request.argv = {"script", "-qec", line, "/dev/null"};
  const auto child = run_child(request);
  ASSERT_TRUE(child);
  EXPECT_EQ(child->exit_code, 0) << child->output;
  EXPECT_THAT(child->output, HasSubstr("\r"));
  EXPECT_THAT(child->output, HasSubstr("/s"));
  EXPECT_THAT(child->output, HasSubstr("MiB"));

  const Ended piped = Workplace().info({"reference", "--allow-unsigned", "--repository", served.location()});
  EXPECT_EQ(piped.status, 0) << piped.said();
  EXPECT_THAT(piped.output + piped.error, testing::Not(HasSubstr("\r")));
}

TEST(Network, AMissingFileIsReportedWithItsUrl) {
  Served served;
  served.publish(Json::array().push(source(served.server.url("nowhere.zip"))));
  const Workplace workplace;
  const Ended run = workplace.info(served.arguments());
  expect_failed(run, "EH-N04", 4);
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr("nowhere.zip"));
}

TEST(Network, ASignInPageIsReportedByItsTitle) {
  Served served;
  write_text(served.server.root() / "login.html",
             "<!DOCTYPE html><html><head><title>Hotel Wi-Fi: please sign in</title></head></html>");
  served.publish(Json::array().push(source(served.server.url("login.html"))));
  const Workplace workplace;
  const Ended run = workplace.info(served.arguments());
  expect_failed(run, "EH-N06", 5);
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr("Hotel Wi-Fi: please sign in"));
}

TEST(Network, Case29WrongBytesAreNeverUsed) {
  Served served;
  std::string other = served.archive;
  other[other.size() / 2] ^= 1;
  write_text(served.server.root() / "other.zip", other);
  served.publish(Json::array().push(source(served.server.url("other.zip"))));
  const Workplace workplace;
  const Ended run = workplace.info(served.arguments());
  expect_failed(run, "EH-N08", 5);
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr(served.digest));
  const Ended list = workplace.run("engine-cache", {"list", "--json"});
  EXPECT_TRUE(list.document["builds"].as_array().empty());
}

TEST(Network, ARedirectIsFollowed) {
  Served served("location = /old.zip { return 302 /repository/files/moved.zip; }");
  write_text(served.repository.root() / "files" / "moved.zip", served.archive);
  served.publish(Json::array().push(source(served.server.url("old.zip"))));
  const Workplace workplace;
  expect_opened(workplace.info(served.arguments()));
}

TEST(Network, AServerThatIsDownIsReported) {
  Served served;
  const std::string closed = "http://127.0.0.1:" + std::to_string(free_port()) + "/archive.zip";
  served.publish(Json::array().push(source(closed)));
  const Workplace workplace;
  const Ended run = workplace.info(served.arguments());
  expect_failed(run, "EH-N02", 4);
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr("127.0.0.1"));
}

TEST(Network, FailedSourcesAreReportedAsWarnings) {
  Served served;
  write_text(served.server.root() / "login.html", "<html><head><title>Sign in</title></head></html>");
  served.publish(Json::array()
                     .push(source(served.server.url("gone.zip")))
                     .push(source(served.server.url("login.html")))
                     .push(served.repository.source_of(served.digest)));
  const Workplace workplace;
  const Ended run = workplace.info(served.arguments());
  expect_opened(run);
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("EH-N04"));
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("EH-N06"));
}

TEST(Network, AnUnreachableRepositoryIsAWarning) {
  Served served;
  served.publish();
  const std::string closed = "http://127.0.0.1:" + std::to_string(free_port());
  const Workplace workplace;
  const Ended run = workplace.info({"reference", "--allow-unsigned", "--repository", closed,
                                    "--allow-unsigned", "--repository", served.location(), "--json"});
  expect_opened(run);
  const Ended alone = Workplace().info({"reference", "--allow-unsigned", "--repository", closed, "--json"});
  EXPECT_EQ(alone.status, 4) << alone.said();
}

TEST(Network, Case19SixteenProcessesDownloadOnceAndAllOpen) {
  Served served;
  served.publish();
  const Workplace workplace;
  std::vector<Ended> runs(16);
  std::vector<std::thread> threads;
  for (Ended& run : runs) threads.emplace_back([&] { run = workplace.info(served.arguments()); });
  for (std::thread& thread : threads) thread.join();
  for (const Ended& run : runs) expect_opened(run);
  EXPECT_EQ(served.server.requests("GET " + served.path()), 1) << served.server.log();
}

TEST(Network, Case19AProcessKilledAtAnyMomentLosesNothing) {
  Served served("limit_rate 6m;");
  served.publish();
  const Workplace workplace;
  unsigned seed = 7;
  for (int i = 0; i < 20; ++i) {
    seed = seed * 1103515245 + 12345;
    ChildRequest request = workplace.request(
        "engine-info", served.arguments(),
        {.environment = {},
         .launcher = {"timeout", "-s", "KILL", std::to_string(0.02 + 0.05 * ((seed >> 16) % 32))},
         .input = {}});
    ASSERT_TRUE(run_child(request));
    if (i % 5 != 4) continue;
    // Between the kills, and at the end, an ordinary open succeeds and the next one starts from an empty
    // cache.
    expect_opened(workplace.info(served.arguments()));
    if (i != 19) std::filesystem::remove_all(workplace.cache());
  }
  const Ended verified = workplace.run("engine-cache", {"verify", "--deep", "--json"});
  EXPECT_EQ(verified.status, 0) << verified.said();
}

TEST(Network, ATerminationRequestEndsAnOpenAsInterrupted) {
  Served served("limit_rate 100k;");
  served.publish();
  const Workplace workplace;
  RunOptions options;
  options.launcher = {"timeout", "--foreground", "--preserve-status", "-s", "INT", "1"};
  const Ended run = workplace.info(served.arguments(), options);
  EXPECT_EQ(run.status, 130) << run.said();
  EXPECT_LT(run.duration, 10s);
}

// The server is not blamed for a file that this machine's configuration names.
TEST(Network, AWrongCertificateFileIsReportedWithItsSetting) {
  Served served;
  served.publish();
  const Workplace workplace;
  workplace.configure(
      Json::object().set("repositories_default", false).set("extra_ca", "/no/such/laboratory.pem"));
  const Ended run = workplace.info(served.arguments());
  EXPECT_EQ(run.code(), "EH-N05") << run.said();
  EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("extra_ca, set by "));
  EXPECT_THAT(run.diagnosis()["cause"].as_string(),
              HasSubstr("config.json, names /no/such/laboratory.pem, which cannot be read: "));
  ASSERT_EQ(run.diagnosis()["remedy"].as_array().size(), 1u) << run.said();
  EXPECT_THAT(run.diagnosis()["remedy"].as_array()[0].as_string(),
              HasSubstr("config.json, which names that file"));
}

}  // namespace
}  // namespace enginehost::test
