// Without a network, without disk space, without write permission.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <optional>

#include "base/paths.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> offline(std::vector<std::string> arguments) {
  arguments.push_back("--offline");
  return arguments;
}

TEST(Offline, FailsWithoutAskingWhenNothingIsInstalled) {
  Served served;
  served.publish();
  const Workplace workplace;
  // The repository is unknown, so no build is known.
  const Ended run = workplace.info(offline(served.arguments()));
  EXPECT_TRUE(run.status == 3 || run.status == 4) << run.said();
  EXPECT_EQ(served.server.log(), "");
  EXPECT_FALSE(run.diagnosis()["remedy"].as_array().empty()) << run.said();
}

TEST(Offline, DoesNotFetchAKnownBuild) {
  Served served;
  served.publish();
  const Workplace workplace;
  ASSERT_EQ(
      workplace.info({"reference", "--plan", "--allow-unsigned", "--repository", served.location(), "--json"})
          .status,
      0);
  const Ended run = workplace.info(offline(served.arguments()));
  EXPECT_TRUE(run.status == 3 || run.status == 4) << run.said();
  EXPECT_EQ(served.server.requests("GET " + served.path()), 0);
}

TEST(Offline, Case11OpensAnInstalledBuildWithoutASocket) {
  Served served;
  served.publish();
  const Workplace workplace;
  ASSERT_EQ(workplace.info(served.arguments()).status, 0);
  const std::string before = served.server.log();
  const std::string trace = (workplace.folder() / "trace").native();
  RunOptions options;
  options.launcher = {"strace", "-f", "-qq", "-e", "trace=%network", "-o", trace};
  const Ended run = workplace.info(offline(served.arguments()), options);
  if (run.error.find("strace") != std::string::npos)
    GTEST_SKIP() << "strace cannot trace here: " << run.error;
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["state"].as_string(), "opened");
  EXPECT_EQ(served.server.log(), before);
  EXPECT_EQ(read_text(trace).find("socket"), std::string::npos) << read_text(trace);
  // The same for requests that need more than is installed, and for the administrator's commands.
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"engine-info", "--json"},
           {"engine-info", "reference", "--flavor", "cu118", "--require", "cu118", "--json"},
           {"engine-cache", "fetch", "reference", "--flavor", "cu118", "--json"},
           {"engine-cache", "list", "--json"},
           {"engine-cache", "verify", "--deep", "--json"},
           {"engine-cache", "licenses", "list", "--json"}}) {
    const std::vector<std::string> more(command.begin() + 1, command.end());
    workplace.run(command[0], offline(more), options);
    EXPECT_EQ(read_text(trace).find("socket"), std::string::npos) << command[1] << "\n" << read_text(trace);
  }
}

// Files show whether a folder's group contains only its user; the system's calls may ask a daemon. Root's
// group needs no look-up, so this test uses other users: one of /etc/passwd with a group of the same name
// there, and one that no file knows.
TEST(Offline, LooksUpAGroupWithoutASocket) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may become another user";
  for (const std::string& user : {std::string("33"), std::string("54321")}) {
    const Workplace workplace;
    TestRepository repository(workplace.folder() / "repository");
    repository.add(good_build());
    repository.write();
    const auto number = static_cast<unsigned>(std::stoul(user));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(workplace.folder()))
      ASSERT_EQ(::lchown(entry.path().c_str(), number, number), 0);
    ASSERT_EQ(::chown(workplace.folder().c_str(), number, number), 0);
    const std::vector<std::string> as_user{"setpriv",
                                           "--reuid=" + user,
                                           "--regid=" + user,
                                           "--clear-groups",
                                           "sh",
                                           "-c",
                                           "umask 002; exec \"$@\"",
                                           "sh"};
    const std::vector<std::string> from{"--repository", repository.root().native(), "--json"};
    RunOptions options;
    options.launcher = as_user;
    const Ended installed = workplace.info({"reference", from[0], from[1], from[2]}, options);
    if (installed.error.find("setpriv") != std::string::npos)
      GTEST_SKIP() << "no other user here: " << installed.error;
    ASSERT_EQ(installed.status, 0) << installed.said();
    // A cache's folders are not created with group write permission, but somebody may have added it.
    for (const auto& entry : std::filesystem::recursive_directory_iterator(workplace.cache()))
      if (entry.is_directory())
        std::filesystem::permissions(entry.path(), std::filesystem::perms::group_write,
                                     std::filesystem::perm_options::add);
    std::filesystem::permissions(workplace.cache(), std::filesystem::perms::group_write,
                                 std::filesystem::perm_options::add);
    const std::string trace = (workplace.folder() / "trace").native();
    options.launcher.insert(options.launcher.end(),
                            {"strace", "-f", "-qq", "-e", "trace=%network", "-o", trace});
    for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
             {"engine-info", "reference", from[0], from[1], "--json"},
             {"engine-info", "--platform-json"},
             {"engine-cache", "verify", "--deep", "--json"},
             {"engine-cache", "request", "reference", from[0], from[1], "--json"}}) {
      const std::vector<std::string> more(command.begin() + 1, command.end());
      const Ended run = workplace.run(command[0], offline(more), options);
      if (run.error.find("strace") != std::string::npos)
        GTEST_SKIP() << "strace cannot trace here: " << run.error;
      EXPECT_EQ(read_text(trace).find("socket"), std::string::npos) << user << " " << command[1] << "\n"
                                                                    << read_text(trace);
    }
  }
}

// An engine was downloaded for one toolkit, another toolkit was detected, and the cached engine was not even
// tried.
TEST(Offline, Case12OpensTheBestInstalledBuildAndListsMissingOnes) {
  Served served;
  TestBuild better = good_build("reference-better");
  better.priority = 90;
  better.version = "1.1.0";
  better.files = {{better.plugin, reference_plugin() + "better"}};
  served.repository.add(better);
  TestBuild middle = good_build("reference-middle");
  middle.priority = 50;
  served.repository.add(middle);
  served.publish();
  const Workplace workplace;
  const auto fetch = [&](const std::string& version) {
    return workplace
        .run("engine-cache", {"fetch", "reference@" + version, "--flavor", "cpu", "--allow-unsigned",
                              "--repository", served.location(), "--json"})
        .status;
  };
  ASSERT_EQ(fetch("1.0.0"), 0);
  const Ended run = workplace.info(offline(served.arguments()));
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-middle") << "the best of what is installed";
  const Json& missing = run.candidate("reference-better");
  EXPECT_EQ(missing["verdict"].as_string(), "unavailable");
  EXPECT_EQ(missing["diagnosis"]["code"].as_string(), "EH-S13");
  EXPECT_EQ(evidence(missing["diagnosis"], "command"), "engine-cache fetch reference@1.1.0 --flavor cpu");
  // The text names the same command, but not unasked beside an open engine.
  const std::vector<std::string> in_words =
      offline({"reference", "--allow-unsigned", "--repository", served.location()});
  EXPECT_THAT(workplace.info(in_words).output, Not(HasSubstr("engine-cache fetch")));
  std::vector<std::string> explained = in_words;
  explained.push_back("--explain");
  const Ended text = workplace.info(explained);
  EXPECT_THAT(text.output, HasSubstr("reference-better  engine-cache fetch --allow-unsigned --repository " +
                                     served.location() + " reference@1.1.0 --flavor cpu\n"));
  ASSERT_EQ(fetch("1.1.0"), 0);
  const Ended after = workplace.info(offline(served.arguments()));
  EXPECT_EQ(after.outcome()["build"].as_string(), "reference-better") << after.said();
}

TEST(Offline, ListsMissingBuildsWithTheirCommands) {
  Served served;
  served.publish();
  const Workplace workplace;
  ASSERT_EQ(
      workplace.info({"reference", "--plan", "--allow-unsigned", "--repository", served.location(), "--json"})
          .status,
      0);
  const Ended run = workplace.info(offline(served.arguments()));
  EXPECT_EQ(run.status, 4) << run.said();
  EXPECT_EQ(run.code(), "EH-S13");
  ASSERT_FALSE(run.diagnosis()["remedy"].as_array().empty()) << run.said();
  EXPECT_THAT(run.diagnosis()["remedy"].as_array()[0].as_string(),
              HasSubstr("engine-cache fetch --allow-unsigned --repository " + served.location() +
                        " reference@1.0.0 --flavor cpu; on another machine also --platform"));
  // For a recorded machine it names that record.
  const std::string record = source_path("/tests/profiles/linux-ubuntu2404-driver580-rtx4090.json");
  const Ended recorded =
      workplace.run("engine-cache", {"fetch", "reference", "--offline", "--platform", record,
                                     "--allow-unsigned", "--repository", served.location(), "--json"});
  EXPECT_EQ(recorded.code(), "EH-S13") << recorded.said();
  EXPECT_THAT(recorded.said(), HasSubstr("--flavor cpu --platform " + record));
}

// Another build than the best one is never brought without a message.
TEST(Offline, FulfillReportsWhatTheRequestingMachineQuarantined) {
  const Workplace workplace, lab;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  TestBuild better = good_build("reference-better");
  better.version = "1.1.0";
  repository.add(better);
  repository.write();
  const std::string asked = (workplace.folder() / "lab.request").native();
  ASSERT_EQ(lab.run("engine-cache", {"quarantine", "disable", better.id}).status, 0);
  ASSERT_EQ(lab.run("engine-cache", {"request", asked, "reference"}).status, 0);
  const std::vector<std::string> fulfil = {"fulfil", asked, "--repository", repository.root().native()};
  const Ended text = workplace.run("engine-cache", fulfil);
  EXPECT_EQ(text.status, 0) << text.said();
  EXPECT_THAT(text.output,
              HasSubstr("reference-better  is quarantined on the machine that asks (it failed there, "
                        "or was disabled): reference-good instead\n"));
  std::vector<std::string> again = fulfil;
  again.insert(again.end(), {"--output", (workplace.folder() / "again.bundle").native(), "--json"});
  const Json answer = workplace.run("engine-cache", again).document["answers"].as_array().at(0);
  EXPECT_EQ(answer["build"].as_string(), "reference-good");
  EXPECT_EQ(answer["passed_over"].dump(), "[\"reference-better\"]");
}

TEST(Offline, AnAnswerOverwritesNeitherRequestNorAnswer) {
  const Workplace workplace, lab;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const auto run = [&](std::vector<std::string> arguments) {
    if (arguments[0] == "fulfil")
      arguments.insert(arguments.end(), {"--repository", repository.root().native()});
    arguments.emplace_back("--json");
    return (arguments[0] == "request" ? lab : workplace).run("engine-cache", arguments);
  };
  const auto answer_of = [&](const std::string& name) {
    const std::string request = (workplace.folder() / name).native();
    EXPECT_EQ(run({"request", request, "reference"}).status, 0);
    const std::string asked = read_text(request);
    const Ended ended = run({"fulfil", request});
    EXPECT_EQ(ended.status, 0) << ended.said();
    EXPECT_EQ(read_text(request), asked);
    return path_of(ended.document["parts"].as_array().at(0)["file"].as_string()).filename();
  };
  EXPECT_EQ(answer_of("lab.request"), "lab.bundle");
  EXPECT_EQ(answer_of("lab.bundle"), "lab.bundle.bundle");
  EXPECT_EQ(answer_of("v1.2"), "v1.2.bundle");
  EXPECT_EQ(answer_of("v1.3"), "v1.3.bundle");
  const std::string request = (workplace.folder() / "v1.2").native(), asked = read_text(request);
  const Ended refused = run({"fulfil", request, "--output", request});
  EXPECT_EQ(refused.status, 2) << refused.said();
  EXPECT_EQ(refused.code(), "EH-P40");
  EXPECT_EQ(read_text(request), asked);
}

// The request also lists files of the user's cache.
TEST(Offline, AnAnswerIsImportedIntoTheLayer) {
  const Workplace workplace, lab;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::string location = repository.root().native(), layer = (lab.folder() / "layer").native(),
                    asked = (workplace.folder() / "lab.request").native(),
                    bundle = (workplace.folder() / "lab.bundle").native();
  ASSERT_EQ(lab.run("engine-cache", {"fetch", "reference", "--repository", location}).status, 0);
  ASSERT_EQ(lab.run("engine-cache", {"request", asked, "reference"}).status, 0);
  TestBuild better = good_build("reference-better");
  better.version = "1.1.0";
  better.files.push_back({"share/more.bin", "more"});
  repository.add(better);
  repository.write();
  ASSERT_EQ(workplace.run("engine-cache", {"fulfil", asked, "--repository", location}).status, 0);
  lab.configure(
      Json::object().set("repositories_default", false).set("system_layers", Json::array().push(layer)));
  const std::vector<std::string> import = {"import", bundle, "--layer", "system", "--unsigned", "--json"};
  std::vector<std::string> elsewhere = import;
  elsewhere.insert(elsewhere.end(), {"--cache", (lab.folder() / "empty").native()});
  const Ended lacking = lab.run("engine-cache", elsewhere);
  EXPECT_EQ(lacking.code(), "EH-F44") << lacking.said();
  EXPECT_THAT(lacking.diagnosis()["remedy"].dump(),
              HasSubstr("engine-cache request --cache " + layer + " FILE ENGINE"));
  const Ended imported = lab.run("engine-cache", import);
  EXPECT_EQ(imported.status, 0) << imported.said();
  EXPECT_EQ(imported.document["builds"].as_array().at(0)["layer"].as_string(), layer) << imported.said();
  EXPECT_EQ(lab.run("engine-cache", {"verify", "--deep", "--json"}).status, 0);
}

// The list of missing builds names the recorded machine too.
TEST(Offline, CommandsForARecordedMachineNameItsRecord) {
  Served served;
  served.publish();
  const Workplace workplace;
  ASSERT_EQ(
      workplace.info({"reference", "--plan", "--allow-unsigned", "--repository", served.location(), "--json"})
          .status,
      0);
  // Also a file whose name a shell would split in two.
  const std::string record = (workplace.folder() / "my machine's.json").native();
  std::filesystem::copy_file(source_path("/tests/profiles/linux-ubuntu2404-driver580-rtx4090.json"), record);
  const Ended text = workplace.info(offline({"reference", "--allow-unsigned", "--repository",
                                             served.location(), "--platform", record, "--explain"}));
  const std::string command = "reference-good  engine-cache fetch --allow-unsigned --repository " +
                              served.location() + " reference@1.0.0 --flavor cpu";
  EXPECT_THAT(text.output, HasSubstr(command + " --platform '" +
                                     (workplace.folder() / "my machine'\\''s.json'\n").native()));
  const Ended here = workplace.info(
      offline({"reference", "--allow-unsigned", "--repository", served.location(), "--explain"}));
  EXPECT_THAT(here.output, HasSubstr(command + "\n"));
}

// Offline by request gives no warning that the repository could not be asked.
TEST(Offline, UsesAnOldCopyOfAnIndexWithoutAWarning) {
  std::optional<Served> served(std::in_place);
  served->publish();
  const std::vector<std::string> arguments = served->arguments();
  const Workplace workplace;
  ASSERT_EQ(workplace.info(arguments).status, 0);
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(30);
  for (const auto& file : std::filesystem::recursive_directory_iterator(workplace.cache() / "repositories"))
    if (file.is_regular_file()) std::filesystem::last_write_time(file.path(), old);
  const Ended ordered = workplace.info(offline(arguments));
  EXPECT_EQ(ordered.status, 0) << ordered.said();
  EXPECT_THAT(ordered.document["warnings"].dump(), testing::Not(HasSubstr("could not be asked")));
  EXPECT_EQ(ordered.document["warnings"].as_array().size(), 1u) << "nobody signed it: " << ordered.said();
  // An open that may ask warns.
  served.reset();
  const Ended alone = workplace.info(arguments);
  EXPECT_EQ(alone.status, 0) << alone.said();
  EXPECT_THAT(alone.document["warnings"].dump(), HasSubstr("could not be asked"));
  EXPECT_THAT(alone.document["warnings"].dump(), HasSubstr("30 hours"));
}

TEST(Offline, Case11OpensAnImportedBundleSilently) {
  const Workplace connected, lab;
  TestRepository repository(connected.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::string bundle = (lab.folder() / "site.bundle").native();
  const std::vector<std::string> from = {"--repository", repository.root().native()};
  ASSERT_EQ(connected.run("engine-cache", {"fetch", "reference", from[0], from[1]}).status, 0);
  const Ended written = connected.run("engine-cache", {"export", bundle, "reference-good", from[0], from[1]});
  ASSERT_EQ(written.status, 0) << written.said();
  const std::string trace = (lab.folder() / "trace").native();
  RunOptions options;
  options.launcher = {"strace", "-f",          "-qq", "-e", "trace=socket,connect,sendto,sendmsg",
                      "-e",     "signal=none", "-o",  trace};
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"engine-cache", "import", bundle, "--json"},
        std::vector<std::string>{"engine-info", "reference", "--offline", "--json"}}) {
    const Ended run = lab.run(command[0], {command.begin() + 1, command.end()}, options);
    if (run.error.find("strace") != std::string::npos)
      GTEST_SKIP() << "strace cannot trace here: " << run.error;
    ASSERT_EQ(run.status, 0) << run.said();
    EXPECT_EQ(read_text(trace), "") << command[0];
  }
  const Ended opened = lab.info({"reference", "--offline", "--json"});
  EXPECT_EQ(opened.outcome()["state"].as_string(), "opened") << opened.said();
  EXPECT_EQ(opened.outcome()["build"].as_string(), "reference-good");
  EXPECT_TRUE(opened.document["diagnosis"].is_null());
}

TEST(Offline, ATruncatedBundleEndsWith5) {
  const Workplace connected;
  TestRepository repository(connected.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::string bundle = (connected.folder() / "site.bundle").native();
  const std::vector<std::string> from = {"--repository", repository.root().native()};
  ASSERT_EQ(connected.run("engine-cache", {"fetch", "reference", from[0], from[1]}).status, 0);
  ASSERT_EQ(connected.run("engine-cache", {"export", bundle, "reference-good", from[0], from[1]}).status, 0);
  const std::string bytes = read_text(bundle);
  write_text(bundle, bytes.substr(0, bytes.size() / 2));
  const Workplace lab;
  const Ended run = lab.run("engine-cache", {"import", bundle, "--json"});
  EXPECT_EQ(run.status, 5) << run.said();
  EXPECT_EQ(run.code(), "EH-F40");
  EXPECT_THAT(evidence(run.diagnosis(), "file"), HasSubstr("site.bundle"));
  EXPECT_EQ(lab.info({"reference", "--offline", "--json"}).status, 3);
}

TEST(Offline, AFolderRepositoryServes) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const Ended run =
      workplace.info(offline({"reference", "--repository", repository.root().native(), "--json"}));
  EXPECT_EQ(run.status, 0) << run.said();
}

TEST(Disks, OpenFromAReadOnlyCache) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                              "--json"};
  ASSERT_EQ(workplace.info(arguments).status, 0);
  RunOptions options;
  options.launcher = with_read_only(workplace.cache());
  const Ended run = workplace.info(arguments, options);
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good");
}

TEST(Disks, ReportF16WithTheFolderOfAReadOnlyEmptyCache) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  std::filesystem::create_directories(workplace.cache());
  RunOptions options;
  options.launcher = with_tmpfs(workplace.cache(), "ro");
  const Ended run =
      workplace.info({"reference", "--repository", repository.root().native(), "--json"}, options);
  EXPECT_EQ(run.code(), "EH-F16") << run.said();
  EXPECT_EQ(run.status, 7);
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr(workplace.cache().native()));
}

// As in a container with a read-only root: the remedy is a command, and it works.
TEST(Disks, F16NamesAFolderThatCanBeWrittenHere) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  std::filesystem::create_directories(workplace.cache());
  const std::filesystem::path usable = workplace.folder() / "usable";
  std::filesystem::create_directories(usable);
  RunOptions options;
  options.launcher = with_tmpfs(workplace.cache(), "ro");
  options.environment = {"TMPDIR=" + usable.native()};
  std::vector<std::string> open = {"reference", "--repository", repository.root().native(), "--json"};
  const Ended refused = workplace.info(open, options);
  ASSERT_EQ(refused.code(), "EH-F16") << refused.said();
  const std::string remedies = refused.diagnosis()["remedy"].dump();
  EXPECT_THAT(remedies, HasSubstr("$(mktemp -d " + usable.native() + "/enginehost.XXXXXX)")) << remedies;
  EXPECT_THAT(remedies, HasSubstr("docker run --volume"));
  EXPECT_THAT(remedies, Not(HasSubstr("cache's owner")));
  // A folder that cannot be written is no place for engines.
  options.environment = {"TMPDIR=" + workplace.cache().native()};
  EXPECT_THAT(workplace.info(open, options).diagnosis()["remedy"].dump(),
              Not(HasSubstr(workplace.cache().native() + "/enginehost")));
  open.insert(open.end(), {"--cache", (usable / "enginehost.1").native()});
  EXPECT_EQ(workplace.info(open, options).status, 0);
}

TEST(Disks, ReportF15WithTheSpaceThatIsNeeded) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  Served served;
  served.publish();
  const Workplace workplace;
  std::filesystem::create_directories(workplace.cache());
  RunOptions options;
  options.launcher = with_tmpfs(workplace.cache(), "size=1m");
  const Ended run = workplace.info(served.arguments(), options);
  EXPECT_EQ(run.code(), "EH-F15") << run.said();
  EXPECT_EQ(run.status, 7);
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr(workplace.cache().native()));
}

// Space is left, but no file can be created any more.
TEST(Disks, ReportF15WithoutAFreeInodeAndTheNextRunSucceeds) {
  if (!can_mount()) GTEST_SKIP() << "mounting needs root with CAP_SYS_ADMIN";
  Served served;
  served.publish();
  for (const char* entries : {"8", "24", "32"}) {
    SCOPED_TRACE(entries);
    const Workplace workplace;
    std::filesystem::create_directories(workplace.cache());
    RunOptions options;
    options.launcher = with_tmpfs(workplace.cache(), std::string("size=64m,nr_inodes=") + entries);
    const Ended run = workplace.info(served.arguments(), options);
    EXPECT_EQ(run.code(), "EH-F15") << run.said();
    EXPECT_EQ(run.status, 7);
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr("no inodes left")) << run.said();
    EXPECT_THAT(run.diagnosis().dump(), HasSubstr(workplace.cache().native()));
    EXPECT_EQ(workplace.info(served.arguments()).status, 0) << "on a disk that has some";
  }
}

}  // namespace
}  // namespace enginehost::test
