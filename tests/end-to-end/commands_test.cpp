// Promises of every command: exit statuses, one document, and answers when everything is broken.
#include <gmock/gmock.h>

#include <fstream>
#include <thread>

#include "base/paths.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/played_plugin.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Commands, VersionAndHelpEndWithZero) {
  const Workplace workplace;
  for (const char* command : {"engine-info", "engine-run", "engine-cache"}) {
    const Ended version = workplace.run(command, {"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_THAT(version.output, HasSubstr("enginehost"));
    const Ended help = workplace.run(command, {"--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.output, HasSubstr("--json"));
  }
}

// Log lines go to standard error, so that a document stays one.
TEST(Commands, PrintEngineLogsFromTheConfiguredLevel) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  TestBuild build = good_build();
  build.files = {{build.plugin, played_plugin()}};
  repository.add(build);
  repository.write();
  const auto said = [&](std::vector<std::string> arguments, const std::string& level = {}) {
    arguments.insert(arguments.begin(), {"reference", "--repository", repository.root().native()});
    RunOptions options;
    options.environment = {"DEVICE_BEHAVIOR=logs"};
    if (!level.empty()) options.environment.push_back("ENGINEHOST_LOG=" + level);
    const Ended run = workplace.info(arguments, options);
    EXPECT_EQ(run.status, 0) << run.said();
    return run.error;
  };
  const std::string first = said({"--json"});
  EXPECT_THAT(first, HasSubstr("warning: played (in the probe): made\n"));
  EXPECT_THAT(first, HasSubstr("warning: played: made\n"));
  EXPECT_THAT(first, Not(HasSubstr("details")));
  EXPECT_THAT(said({"--self-test"}), HasSubstr("warning: engine: tested\n"));
  EXPECT_THAT(said({}, "debug"), HasSubstr("debug: played: details\n"));
  EXPECT_THAT(said({}, "error"), Not(HasSubstr("played: made")));
  EXPECT_THAT(said({"--quiet"}), Not(HasSubstr("played: made")));
  write_text(workplace.folder() / "any.played", "");
  RunOptions options;
  options.environment = {"DEVICE_BEHAVIOR=logs"};
  const Ended run = workplace.run("engine-run",
                                  {"reference", path_text(workplace.folder() / "any.played"), "--repository",
                                   repository.root().native(), "--json"},
                                  options);
  EXPECT_THAT(run.error, HasSubstr("warning: played: made\n")) << run.said();
}

// Known before a byte is fetched: which builds need a library that this system lacks.
TEST(Commands, DoNotFetchABuildThatNeedsAMissingLibrary) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  TestBuild lacking = good_build("reference-lacking");
  lacking.priority = 90;
  lacking.requirements.set("libraries", Json::strings({"libcudnn.so.7"}));
  repository.add(lacking);
  TestBuild served = good_build("reference-served");
  served.priority = 80;
  served.requirements.set("libraries", Json::strings({"libc.so.6"}));
  repository.add(served);
  repository.write();
  const Ended run = workplace.info({"reference", "--repository", repository.root().native(), "--json"});
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-served");
  EXPECT_EQ(run.candidate("reference-lacking")["verdict"].as_string(), "rejected");
  const Json& why = run.candidate("reference-lacking")["diagnosis"];
  EXPECT_EQ(why["code"].as_string(), "EH-L01") << run.said();
  EXPECT_THAT(why["cause"].as_string(), HasSubstr("libcudnn.so.7"));
  EXPECT_THAT(why["remedy"].dump(), HasSubstr("cuDNN 7"));
  EXPECT_EQ(run.document["platform"]["libraries"]["value"]["libcudnn.so.7"].as_string(), "");
  EXPECT_THAT(run.document["platform"]["libraries"]["value"]["libc.so.6"].as_string(),
              HasSubstr("/libc.so.6"));
}

TEST(Commands, DecideAgainOnceALibraryIsInstalled) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  TestBuild asking = good_build("reference-asking");
  asking.version = "1.1.0";
  asking.requirements.set("libraries", Json::strings({"libasked_for.so.1"}));
  repository.add(asking);
  repository.write();
  const auto folder = workplace.folder() / "libraries";
  std::filesystem::create_directory(folder);
  RunOptions options;
  options.environment = {"LD_LIBRARY_PATH=" + folder.native(), "ENGINEHOST_UPDATE=open"};
  const auto opened = [&] {
    const Ended run = workplace.run("engine-run",
                                    {"reference", source_path("/examples/two-layers.model"), "--repository",
                                     repository.root().native(), "--json"},
                                    options);
    return run.document["build"].as_string() + run.outcome()["build"].as_string();
  };
  EXPECT_THAT(opened(), HasSubstr("reference-good"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // a decision is remembered of files at rest
  for (int i = 0; i < 2; ++i) EXPECT_THAT(opened(), HasSubstr("reference-good"));
  write_text(folder / "libasked_for.so.1", reference_plugin());
  EXPECT_THAT(opened(), HasSubstr("reference-asking"));
}

TEST(Commands, DrawTheFiguresOfABench) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs gnuplot";
  const Workplace workplace;
  const std::string repository = build_path("/share/enginehost/repository");
  const std::string drawing = (workplace.folder() / "figures.svg").string();
  const Ended run = workplace.info(
      {"reference", "--bench", "--plot", drawing, "--json", "--require", "cpu", "--repository", repository});
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.document["bench"]["plot"].as_string(), drawing);
  ASSERT_EQ(run.document["bench"]["lines"].as_array().size(), 2u);
  std::ifstream file(drawing);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  for (const char* text : {"<svg", "Add, 99 000 000 floats", "MatMul, 2048 x 2048", "cpu:0", "milliseconds",
                           "reference 0.1.0 cpu", " GB/s", " GFLOP/s"})
    EXPECT_THAT(svg, HasSubstr(text));
  EXPECT_THAT(svg, Not(HasSubstr("transfers"))) << "all of them are 0";
}

TEST(Commands, ReportAPictureThatCannotBeWritten) {
  if (std::system("gnuplot --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs gnuplot";
  const Workplace workplace;
  const std::string repository = build_path("/share/enginehost/repository");
  const Ended run =
      workplace.info({"reference", "--bench", "--plot", (workplace.folder() / "no/figures.svg").string(),
                      "--json", "--require", "cpu", "--repository", repository});
  EXPECT_EQ(run.status, 2) << run.said();
  EXPECT_EQ(run.code(), "EH-P48") << run.said();
  EXPECT_EQ(run.outcome()["state"].as_string(), "opened");
  EXPECT_TRUE(run.document["bench"]["plot"].is_null());
}

TEST(Commands, ReportAnUnknownPictureFormatBeforeMeasuring) {
  const Workplace workplace;
  RunOptions without_programs;
  without_programs.environment = {"PATH=/nonexistent"};
  const Ended run =
      workplace.info({"reference", "--bench", "--plot", "figures.png", "--json"}, without_programs);
  EXPECT_EQ(run.status, 2) << run.said();
  EXPECT_EQ(run.code(), "EH-P48");
  EXPECT_THAT(run.said(), HasSubstr("gnuplot-nox"));
}

TEST(Commands, NameTheDeviceThatWasRequestedFirst) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const auto opened = [&](const std::string& devices) {
    return workplace.info({"reference", "--device", devices, "--repository", repository.root().native()});
  };
  const Ended run = opened("cuda, cpu");
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.output, HasSubstr("instead of\n  the device cuda, which was requested first"));
  EXPECT_THAT(opened("cpu").output, Not(HasSubstr("instead of")));
}

TEST(Commands, NameTheEngineNearestToAnUnknownOne) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const Ended run = workplace.info({"refrence", "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(run.status, 3) << run.said();
  EXPECT_EQ(run.code(), "EH-S02");
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr("\"reference\""));
}

TEST(Commands, ExplainEveryCode) {
  const Workplace workplace;
  // The codes of the catalog as data: --code prints the title of each in either form.
  std::ifstream list(source_path("/tests/end-to-end/released_codes.txt"));
  int count = 0;
  for (std::string code; std::getline(list, code); ++count) {
    const Ended run = workplace.info({"--code", code, "--json"});
    EXPECT_EQ(run.status, 0) << code << run.said();
    EXPECT_EQ(run.document["code"].as_string(), code);
    EXPECT_FALSE(run.document["title"].as_string().empty()) << code;
    EXPECT_FALSE(run.document["meaning"].as_string().empty()) << code;
    EXPECT_TRUE(run.document["exit_status"].is_integer()) << code;
  }
  EXPECT_GT(count, 120);
  const Ended text = workplace.info({"--code", "l01"});
  EXPECT_EQ(text.status, 0);
  EXPECT_THAT(text.output, HasSubstr("EH-L01"));
}

TEST(Commands, ExplainSeveralCodesAtOnce) {
  const Workplace workplace;
  const Ended two = workplace.info({"--code", "L01", "eh-g03", "--json"});
  EXPECT_EQ(two.status, 0) << two.said();
  ASSERT_EQ(two.document["codes"].as_array().size(), 2u);
  EXPECT_EQ(two.document["codes"].as_array()[1]["code"].as_string(), "EH-G03");
  const Ended text = workplace.info({"--code", "L01,G03"});
  EXPECT_THAT(text.output, HasSubstr("EH-L01"));
  EXPECT_THAT(text.output, HasSubstr("EH-G03"));
}

TEST(Commands, NameTheCodeNearestToAnUnknownOne) {
  const Workplace workplace;
  const Ended run = workplace.info({"--code", "L01", "L1", "--json"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.code(), "EH-P41");
  EXPECT_THAT(run.diagnosis().dump(), HasSubstr("did you mean EH-L01?"));
}

TEST(Commands, InspectDistinguishesLoadableFailingAndForeignFiles) {
  const Workplace workplace;
  write_text(workplace.folder() / "fails.so", plugin_that_needs({"libmissing_math.so.3"}));
  const std::string plugin = build_path("/engines/libengine_reference.so");
  const Ended loads = workplace.info({"--inspect", plugin, "--json"});
  EXPECT_EQ(loads.status, 0) << loads.said();
  EXPECT_EQ(loads.document["verdict"].as_string(), "loads");
  EXPECT_EQ(loads.document["kind"].as_string(), "elf");
  EXPECT_THAT(workplace.info({"--inspect", plugin}).output, testing::Not(HasSubstr("no library provides")));
  EXPECT_THAT(workplace
                  .info({"--inspect", plugin, "--platform",
                         source_path("/tests/profiles/linux-ubuntu2404-driver580-rtx4090.json")})
                  .output,
              HasSubstr("symbols were not checked: --symbols"));
  EXPECT_THAT(workplace.info({"--inspect", plugin, "--symbols"}).output,
              testing::Not(HasSubstr("not checked")));
  const Ended fails = workplace.info({"--inspect", (workplace.folder() / "fails.so").native(), "--json"});
  EXPECT_EQ(fails.status, 6) << fails.said();
  EXPECT_EQ(fails.document["verdict"].as_string(), "fails");
  ASSERT_EQ(fails.document["missing"].as_array().size(), 1u);
  EXPECT_EQ(fails.document["missing"].as_array()[0]["name"].as_string(), "libmissing_math.so.3");
  EXPECT_FALSE(fails.document["missing"].as_array()[0]["searched"].as_array().empty());
  EXPECT_EQ(fails.document["diagnosis"]["code"].as_string(), "EH-L01");
  const Ended unreadable = workplace.info({"--inspect", "/nonexistent/library.so", "--json"});
  EXPECT_EQ(unreadable.status, 2) << unreadable.said();
}

TEST(Commands, Case17ReportTheMachineWhenEverythingIsBroken) {
  const Workplace workplace;
  write_text(workplace.folder() / "cache", "a file where the folder should be");
  const std::string closed = "http://127.0.0.1:" + std::to_string(free_port());
  const Ended run = workplace.info({"--json", "--repository", closed, "--repository", "/nonexistent"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_TRUE(run.document["platform"]["os"].is_object());
  EXPECT_EQ(run.document["failures"].as_array().size(), 3u) << run.said();
  EXPECT_THAT(run.document["failures"].dump(), HasSubstr("EH-F23"))
      << "the cache is a file, which is reported";
  const Ended text = workplace.info({"--repository", closed});
  EXPECT_EQ(text.status, 0) << text.said();
}

TEST(Commands, ReportTheMachineWithABrokenConfiguration) {
  const Workplace workplace;
  write_text(workplace.folder() / "config" / "enginehost" / "config.json", "{ this is not JSON");
  const Ended run = workplace.info({"--json"});
  EXPECT_EQ(run.status, 2) << run.said();
  EXPECT_TRUE(run.document["platform"].is_object());
  EXPECT_THAT(run.output, HasSubstr("config.json"));
  // Opening an engine with it must not guess the intended value.
  const Ended open = workplace.info({"reference", "--json"});
  EXPECT_EQ(open.status, 2) << open.said();
  EXPECT_THAT(open.diagnosis().dump(), HasSubstr("config.json"));
}

TEST(Commands, UseNoColorWithoutATerminalOrWithNoColor) {
  const Workplace workplace;
  for (const char* variable : {"NO_COLOR=1", "NO_COLOR"}) {
    RunOptions options;
    options.environment = {variable};
    const Ended run = workplace.info({}, options);
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.output + run.error, Not(HasSubstr("\x1b")));
  }
}

TEST(Commands, ListALaterRepositoryAsShadowed) {
  const Workplace workplace;
  TestRepository first(workplace.folder() / "first"), second(workplace.folder() / "second");
  TestBuild build = good_build();
  first.add(build);
  build.files.front().bytes += "other bytes";
  second.add(build);
  first.write();
  second.write();
  const Ended run = workplace.info(
      {"reference", "--repository", first.root().native(), "--repository", second.root().native(), "--json"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(read_text(run.outcome()["library"].as_string()), reference_plugin());
  EXPECT_THAT(run.output, HasSubstr("shadowed"));
  EXPECT_THAT(run.output, HasSubstr(second.root().native()));
}

TEST(Commands, NeverAcceptALicenseUnseen) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  TestBuild build = good_build();
  build.license = "vendor";
  repository.add(build);
  repository.write();
  const std::vector<std::string> arguments = {"reference", "--repository", repository.root().native(),
                                              "--json"};
  const Ended refused = workplace.info(arguments);
  EXPECT_EQ(refused.status, 8) << refused.said();
  EXPECT_EQ(refused.code(), "EH-P03");
  EXPECT_THAT(refused.diagnosis().dump(), HasSubstr("https://licenses.example/vendor"));
  std::vector<std::string> accepting = arguments;
  accepting.insert(accepting.end(), {"--accept-license", "LicenseRef-vendor"});
  const Ended accepted = workplace.info(accepting);
  EXPECT_EQ(accepted.status, 0) << accepted.said();
}

TEST(Commands, RunAModelFromFileToFile) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  // x = [[1, 2], [-1, 4]] as NumPy writes it.
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  header.resize(64 * 2 - 10 - 1, ' ');
  header += '\n';
  std::string npy = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header;
  const float values[] = {1, 2, -1, 4};
  npy.append(reinterpret_cast<const char*>(values), sizeof values);
  write_text(workplace.folder() / "x.npy", npy);
  const Ended run = workplace.run("engine-run", {"reference", source_path("/examples/two-layers.model"),
                                                 "--input", "x=" + (workplace.folder() / "x.npy").native(),
                                                 "--output", (workplace.folder() / "answer").native(),
                                                 "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(run.status, 0) << run.said();
  const std::string answer = read_text(workplace.folder() / "answer" / "y.npy");
  const float wanted[] = {2, 4, 0, 1, 8, 2};
  ASSERT_GE(answer.size(), sizeof wanted);
  EXPECT_EQ(answer.substr(answer.size() - sizeof wanted),
            std::string(reinterpret_cast<const char*>(wanted), sizeof wanted));
}

TEST(Commands, SeedListAndEmptyTheCache) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::string location = repository.root().native();
  const Ended fetched =
      workplace.run("engine-cache", {"fetch", "reference", "--repository", location, "--json"});
  EXPECT_EQ(fetched.status, 0) << fetched.said();
  Ended list = workplace.run("engine-cache", {"list", "--json"});
  ASSERT_EQ(list.document["builds"].as_array().size(), 1u) << list.said();
  EXPECT_EQ(list.document["builds"].as_array()[0]["build"].as_string(), "reference-good");
  // The seeded build opens although the repository is gone.
  std::filesystem::remove_all(repository.root());
  const Ended offline = workplace.info({"reference", "--offline", "--json"});
  EXPECT_EQ(offline.status, 0) << offline.said();
  EXPECT_THAT(workplace.run("engine-cache", {"path"}).output, HasSubstr(workplace.cache().native()));
  const Ended removed = workplace.run("engine-cache", {"remove", "reference-good", "--json"});
  EXPECT_EQ(removed.status, 0) << removed.said();
  list = workplace.run("engine-cache", {"list", "--json"});
  EXPECT_TRUE(list.document["builds"].as_array().empty());
}

TEST(Commands, ReplayADecisionFromThisMachinesReport) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const Ended report = workplace.info({"--platform-json"});
  ASSERT_EQ(report.status, 0) << report.said();
  write_text(workplace.folder() / "machine.json", report.output);
  const Ended plan =
      workplace.info({"reference", "--platform", (workplace.folder() / "machine.json").native(),
                      "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(plan.status, 0) << plan.said();
  EXPECT_EQ(plan.outcome()["state"].as_string(), "planned");
  EXPECT_EQ(plan.outcome()["build"].as_string(), "reference-good");
}

TEST(Commands, DecideEveryRecordedMachineWithoutADownload) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  int machines = 0;
  for (const auto& profile : std::filesystem::directory_iterator(source_path("/tests/profiles"))) {
    if (profile.path().extension() != ".json") continue;
    ++machines;
    const Ended run = workplace.info({"reference", "--platform", profile.path().native(), "--explain",
                                      "--repository", repository.root().native(), "--json"});
    EXPECT_TRUE(run.status == 0 || run.status == 3) << profile.path() << run.said();
    EXPECT_EQ(run.outcome()["download"]["seconds"].as_integer(), 0);
    EXPECT_FALSE(run.candidate("reference-good").is_null());
  }
  EXPECT_GE(machines, 12);
  EXPECT_TRUE(workplace.run("engine-cache", {"list", "--json"}).document["builds"].as_array().empty());
}

}  // namespace
}  // namespace enginehost::test
