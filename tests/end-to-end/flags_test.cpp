// Flags work wherever they stand, and every lost argument or output is reported.
#include <gmock/gmock.h>

#include <filesystem>
#include <thread>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "tests/end-to-end/interrupted.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;
using testing::HasSubstr;
using testing::Not;

class Flags : public testing::Test {
 protected:
  void SetUp() override {
    repository.add(good_build());
    repository.write();
  }
  std::string location() const { return path_text(repository.root()); }
  Ended cache(std::vector<std::string> arguments, const RunOptions& options = {}) const {
    return workplace.run("engine-cache", std::move(arguments), options);
  }
  void install() const { ASSERT_EQ(cache({"fetch", "reference", "--repository", location()}).status, 0); }
  // Runs a command whose document cannot be written.
  Ended without_reading(const std::string& command, std::vector<std::string> arguments,
                        const std::vector<std::string>& launcher) const {
    RunOptions options;
    options.launcher = launcher;
    const auto child = run_child(workplace.request(command, std::move(arguments), options));
    Ended ended;
    EXPECT_TRUE(child);
    if (child) ended.status = child->exit_code, ended.output = child->output, ended.error = child->error;
    return ended;
  }

  Workplace workplace;
  TestRepository repository{workplace.folder() / "repository"};
};

TEST_F(Flags, ARepeatableFlagTakesOneValueEachTime) {
  for (const std::vector<std::string>& flag :
       {std::vector<std::string>{"--repository", location()},
        {"--repository=" + location()},
        {"--repository", location(), "--accept-license", "X"},
        {"--repository", location(), "--installation", path_text(workplace.folder())}}) {
    std::vector<std::string> arguments = flag;
    arguments.insert(arguments.end(), {"reference", "--plan", "--json"});
    const Ended planned = workplace.info(arguments);
    EXPECT_EQ(planned.status, 0) << planned.said();
    EXPECT_EQ(planned.outcome()["state"].as_string(), "planned") << planned.said();
  }
  EXPECT_EQ(cache({"fetch", "--repository", location(), "reference"}).status, 0);
  const std::vector<std::pair<std::string, std::vector<std::string>>> others = {
      {"engine-cache", {"import", "--accept-license", "X", "/nonexistent.bundle"}},
      {"engine-cache", {"trust", "add", "--repository", location(), "/nonexistent.pub"}},
      {"engine-cache", {"licenses", "accept", "--repository", location(), "nonsense"}},
      {"engine-cache", {"push", "--accept-license", "X", "no-build", "127.0.0.1:1/nowhere"}},
      {"engine-cache", {"fetch", "--platform", "/nonexistent.json", "reference"}},
      {"engine-cache", {"export", "--redistribute", "X", "/nonexistent/x.bundle", "no-build"}},
      {"engine-cache", {"fulfil", "--redistribute", "X", "/nonexistent.request"}},
      {"engine-run", {"--input", "x=/nonexistent.npy", "reference", "model"}},
      {"engine-manifest",
       {"sign", "--key", "/nonexistent.key", "--add-key", "/nonexistent.pub", "/nonexistent"}},
      {"engine-manifest",
       {"sign", "--key", "/nonexistent.key", "--remove-key", "X", "--revoke-key", "Y", "/nonexistent"}}};
  for (const auto& [command, arguments] : others)
    EXPECT_THAT(workplace.run(command, arguments).error,
                testing::AllOf(Not(HasSubstr("required")), Not(HasSubstr("not expected"))));
  for (const char* flag : {"--url=https://engines.example/x", "--select", "--lazy", "--capability"}) {
    std::vector<std::string> arguments = {"add", "--engine", "toy", "--version",
                                          "1",   "--flavor", "cpu", flag};
    if (!std::string_view(flag).starts_with("--url")) arguments.emplace_back("x");
    arguments.insert(arguments.end(), {"/nonexistent", "/nonexistent.zip"});
    EXPECT_THAT(workplace.run("engine-manifest", arguments).error, Not(HasSubstr("required"))) << flag;
  }
}

// engine-info takes one machine.
TEST_F(Flags, ARemedyNamesOnlyTheMachineThatWasDecidedFor) {
  const std::string profiles = source_path("/tests/profiles/"), mac = profiles + "macos-arm64-m2.json";
  const Ended fetched = cache({"fetch", "reference", "--repository", location(), "--platform", mac,
                               "--platform", profiles + "windows11-cuda118-driver522-rtx3060.json"});
  EXPECT_EQ(fetched.status, 3) << fetched.said();
  EXPECT_THAT(fetched.error, HasSubstr(" --platform " + mac + " reference --plan --explain"));
  EXPECT_THAT(fetched.error, Not(HasSubstr("windows11")));
}

TEST_F(Flags, OutputThatCannotBeWrittenIsAnError) {
  const std::vector<std::string> full = {"sh", "-c", R"(exec "$@" >/dev/full)", "sh"},
                                 closed = {"sh", "-c", R"(exec "$@" >&-)", "sh"};
  const std::vector<std::pair<std::string, std::vector<std::string>>> commands = {
      {"engine-info", {"--platform-json"}},
      {"engine-info", {"--json"}},
      {"engine-info", {"--code", "L01"}},
      {"engine-info", {"--version"}},
      {"engine-info", {"reference", "--json", "--repository", location()}},
      {"engine-run", {"--help"}},
      {"engine-cache", {"path"}},
      {"engine-cache", {"list", "--json"}},
      {"engine-manifest", {"--help"}}};
  for (const auto& [command, arguments] : commands)
    for (const auto& launcher : {full, closed}) {
      const Ended ended = without_reading(command, arguments, launcher);
      EXPECT_EQ(ended.status, 7) << command << " " << arguments.front() << " " << ended.said();
      EXPECT_THAT(ended.error, HasSubstr("standard output could not be written"));
      EXPECT_THAT(ended.error, HasSubstr(launcher == closed ? "it is closed" : "free space for the output"));
    }
  // A reader that closed the pipe, where the signal is ignored.
  const Ended piped =
      without_reading("engine-info", {"--platform-json"},
                      {"sh", "-c", R"(trap "" PIPE; { sleep 1; "$@"; echo "status $?" >&2; } | true)", "sh"});
  EXPECT_THAT(piped.error, HasSubstr("status 7"));
}

// The next file that is opened gets the descriptor number of a stream that the caller closed.
TEST_F(Flags, ClosedOutputIsNotPrintedIntoTheCache) {
  const Ended fetched = without_reading("engine-cache", {"fetch", "reference", "--repository", location()},
                                        {"sh", "-c", R"(exec "$@" <&- >&- 2>&-)", "sh"});
  EXPECT_EQ(fetched.status, 7) << fetched.said();
  const Ended verified = cache({"verify", "--deep"});
  EXPECT_EQ(verified.status, 0) << verified.said();
}

TEST_F(Flags, AnEmptyValueIsRefusedWithThePossibleValues) {
  const Ended run = workplace.info({"reference", "--device", "", "--json"});
  EXPECT_EQ(run.status, 2) << run.said();
  const std::string& cause = run.diagnosis()["cause"].as_string();
  EXPECT_THAT(cause, HasSubstr("--device \"\""));
  EXPECT_THAT(cause, HasSubstr("the device that must be opened"));
  EXPECT_THAT(cause, HasSubstr("leave --device out"));
  // An empty id is neither the manifest's nor a missing one.
  const Ended added =
      workplace.run("engine-manifest", {"add", "repository", "toy", "--engine", "toy", "--version", "1",
                                        "--flavor", "cpu", "--license", "toy", "--license-id", "", "--json"});
  EXPECT_EQ(added.status, 2) << added.said();
  EXPECT_THAT(added.diagnosis()["cause"].as_string(), HasSubstr("--license-id \"\" is empty"));
  EXPECT_THAT(added.diagnosis()["cause"].as_string(), HasSubstr("its SPDX id"));
}

TEST_F(Flags, ABlankValueIsRefusedWithTheRule) {
  const auto refused = [&](std::vector<std::string> arguments, const std::string& said) {
    SCOPED_TRACE(said);
    arguments.push_back("--json");
    const Ended run = workplace.run("engine-manifest", std::move(arguments));
    EXPECT_EQ(run.status, 2) << run.said();
    EXPECT_THAT(run.diagnosis()["cause"].as_string(), HasSubstr(said));
  };
  const std::string folder = (workplace.folder() / "blank").native();
  refused({"init", folder, "--name", " "},
          "--name \" \" is blank: give it a value, or leave --name out (--name: the name that users see)");
  refused({"init", folder, "--name", "Toy "},
          "--name \"Toy \" is not one line of UTF-8 text without blanks at its ends");
  refused({"init", folder, "--name", "Toy\nengines"}, "is not one line of UTF-8 text");
  refused({"init", folder, "--name", "T\xff"}, "is not one line of UTF-8 text");
  EXPECT_FALSE(std::filesystem::exists(folder));
  // Adds with one wrong value among correct ones.
  const auto add = [&](const std::string& flag, const std::string& value, const std::string& said) {
    std::vector<std::string> arguments = {"add", folder, "toy"};
    std::map<std::string, std::string> flags = {
        {"--engine", "toy"}, {"--version", "1"}, {"--flavor", "cpu"}, {"--license", "toy"}};
    flags[flag] = value;
    for (const auto& [name, given] : flags) arguments.insert(arguments.end(), {name, given});
    refused(std::move(arguments), said);
  };
  for (const char* flag : {"--engine", "--version", "--flavor", "--license", "--license-id", "--id",
                           "--plugin", "--url", "--select", "--lazy", "--capability"})
    add(flag, " \t", std::string(flag) + " \" ");
  add("--license-id", "Apache-2.0 ", "--license-id \"Apache-2.0 \" is not one line");
  add("--capability", " device.cuda", "--capability \" device.cuda\" is not one line");
  add("--url", "https://files.example/a toy.whl",
      "--url \"https://files.example/a toy.whl\" is not an http or https URL");
  add("--url", "files/toy.whl", "is not an http or https URL");
  for (const char* flag :
       {"--key", "--add-key", "--add-index-key", "--add-root-key", "--remove-key", "--revoke-key"})
    refused({"sign", folder, "--key", "k", flag, "  "}, std::string(flag) + " \"  \" is blank");
  refused({"publish", folder, " "}, "OUT \" \" is blank");
  refused({"lint", " "}, "DIR \" \" is blank");
}

TEST_F(Flags, TheProgressBarIsErasedBeforeTheResult) {
  RunOptions terminal;
  terminal.launcher = on_a_terminal();
  const Ended info = workplace.info({"reference", "--repository", location()}, terminal);
  EXPECT_EQ(info.status, 0) << info.said();
  ASSERT_THAT(info.output, HasSubstr("["));
  EXPECT_THAT(info.output, HasSubstr("checking  loads in a child process"));
  EXPECT_THAT(info.output, testing::ContainsRegex("\r\x1b\\[Kready     reference 1.0.0 cpu   [0-9.]+ s\r\n"
                                                  "\x1b\\[32mreference 1.0.0 cpu is open"));
  const Workplace second, third;
  const Ended fetched =
      second.run("engine-cache", {"fetch", "reference", "--repository", location()}, terminal);
  EXPECT_THAT(fetched.output, testing::ContainsRegex("\r\x1b\\[Kready     reference 1.0.0 cpu   [0-9.]+ s\r\n"
                                                     "reference-good  fetched"));
  const Ended ran = third.run(
      "engine-run", {"reference", source_path("/examples/two-layers.model"), "--repository", location()},
      terminal);
  EXPECT_THAT(ran.output, testing::ContainsRegex("\r\x1b\\[Kready     reference 1.0.0 cpu   [0-9.]+ s\r\n"
                                                 "reference-good"));
}

TEST_F(Flags, ProgressWithoutATerminalIsALineForEachStep) {
  const Ended info = workplace.info({"reference", "--repository", location()});
  EXPECT_THAT(info.error, testing::MatchesRegex("reference 1.0.0 cpu  [0-9.]+ [KM]iB in 1 file\n"
                                                "fetching  [^\n]+\n"
                                                "checking  loads in a child process\n"
                                                "ready     reference 1.0.0 cpu   [0-9.]+ s\n"))
      << info.said();
  EXPECT_EQ(workplace.info({"reference"}).error, "") << "nothing was fetched or checked";
  for (const char* flag : {"--quiet", "--json"}) {
    const Workplace other;
    EXPECT_EQ(other.info({"reference", "--repository", location(), flag}).error, "") << flag;
  }
}

TEST_F(Flags, AnUnusedForcedBuildIsReported) {
  TestBuild foreign = good_build("reference-foreign");
  foreign.arch = "s390x";
  repository.add(foreign);
  repository.write();
  for (const char* forced : {"nosuch", "reference-foreign"}) {
    RunOptions options;
    options.environment = {std::string("ENGINEHOST_FORCE=") + forced};
    for (const char* way : {"--plan", "--no-probe"}) {
      const Ended run = workplace.info({"reference", "--repository", location(), way, "--json"}, options);
      EXPECT_EQ(run.status, 0) << run.said();
      EXPECT_TRUE(run.outcome()["fallback"].as_bool()) << run.said();
      EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("EH-S22"));
      EXPECT_THAT(run.document["warnings"].dump(), HasSubstr(forced));
    }
    const Ended text = workplace.info({"reference", "--repository", location()}, options);
    EXPECT_THAT(text.error, HasSubstr(std::string(forced) + " was forced")) << text.said();
  }
}

// The build works; its manifest asks for more memory than any machine has.
TEST_F(Flags, ForceOpensWhatDetectionRejectsAndReportsIt) {
  TestBuild large = good_build("reference-large");
  large.requirements = Json::object().set("memory", std::int64_t{1} << 50);
  repository.add(large);
  repository.write();
  RunOptions variable;
  variable.environment = {"ENGINEHOST_FORCE=reference-large"};
  const std::vector<std::string> plain = {"reference", "--repository", location(), "--json"};
  std::vector<std::string> flag = plain;
  flag.insert(flag.end(), {"--force", "reference-large"});
  EXPECT_EQ(workplace.info(plain).candidate("reference-large")["verdict"].as_string(), "rejected");
  for (const Ended& run : {workplace.info(flag), workplace.info(plain, variable)}) {
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_EQ(run.outcome()["build"].as_string(), "reference-large") << run.said();
    EXPECT_EQ(run.outcome()["state"].as_string(), "opened");
    EXPECT_TRUE(run.outcome()["forced"].as_bool());
    EXPECT_EQ(run.document["request"]["force"].as_string(), "reference-large");
    EXPECT_TRUE(run.candidate("reference-large")["forced"].as_bool());
    EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("EH-S25"));
  }
  const Ended text = workplace.info({"reference", "--repository", location(), "--force", "reference-large"});
  EXPECT_THAT(text.output, HasSubstr("forced        although it needs memory >= ")) << text.said();
  EXPECT_THAT(text.error, HasSubstr("reference-large is forced, although it needs memory >= "));
  const Ended after = workplace.info(plain);
  EXPECT_EQ(after.outcome()["build"].as_string(), "reference-good") << "force is for one run";
  EXPECT_FALSE(after.outcome()["forced"].as_bool());
}

TEST_F(Flags, ForceAcceptsNoLicense) {
  TestBuild licensed = good_build("reference-licensed");
  licensed.license = "invented-1.0";
  repository.add(licensed);
  repository.write();
  const Ended run =
      workplace.info({"reference", "--repository", location(), "--json", "--force", "reference-licensed"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.outcome()["build"].as_string(), "reference-good") << run.said();
  EXPECT_TRUE(run.outcome()["fallback"].as_bool());
  EXPECT_EQ(run.candidate("reference-licensed")["diagnosis"]["code"].as_string(), "EH-P03") << run.said();
  EXPECT_THAT(run.document["warnings"].dump(), HasSubstr("EH-S22"));
}

TEST_F(Flags, AForcedBuildThatIsUsedIsNoFallback) {
  RunOptions options;
  options.environment = {"ENGINEHOST_FORCE=reference-good"};
  const Ended run = workplace.info({"reference", "--repository", location(), "--plan", "--json"}, options);
  EXPECT_FALSE(run.outcome()["fallback"].as_bool()) << run.said();
  EXPECT_THAT(run.document["warnings"].dump(), Not(HasSubstr("EH-S22")));
}

TEST_F(Flags, FetchTakesTheBuildThatOpenWouldTake) {
  TestBuild last = good_build("reference-last");
  last.version = "0.9.0";
  repository.add(last);
  repository.write();
  RunOptions forced;
  forced.environment = {"ENGINEHOST_FORCE=reference-last"};
  const Ended run = cache({"fetch", "reference", "--repository", location(), "--json"}, forced);
  ASSERT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.document["fetched"].as_array().at(0)["build"].as_string(), "reference-last");
  forced.environment = {"ENGINEHOST_FORCE=nosuch"};
  const Ended in_vain = cache({"fetch", "reference", "--repository", location()}, forced);
  EXPECT_EQ(in_vain.status, 0);
  EXPECT_THAT(in_vain.output, HasSubstr("reference-good"));
  EXPECT_THAT(in_vain.error, HasSubstr("nosuch was forced"));
}

TEST_F(Flags, TheMachineIsReportedWithAnUnusableCache) {
  RunOptions options;
  options.launcher = {"env", "ENGINEHOST_CACHE=relative"};  // replaces the workplace's
  const Ended text = workplace.info({}, options);
  EXPECT_EQ(text.status, 2) << text.said();
  EXPECT_THAT(text.output, HasSubstr("which engines open here is not known"));
  EXPECT_THAT(text.error, HasSubstr("\"relative\" is not an absolute folder"));
  const Ended json = workplace.info({"--json"}, options);
  EXPECT_EQ(json.status, 2) << json.said();
  EXPECT_THAT(json.document["failures"].dump(), HasSubstr("ENGINEHOST_CACHE"));
}

TEST_F(Flags, ABundleDoesNotOverwriteTheOneItExtends) {
  install();
  const fs::path folder = workplace.folder();
  const std::string bundle = path_text(folder / "x.bundle"), link = path_text(folder / "link.bundle");
  ASSERT_EQ(cache({"export", bundle, "reference-good"}).status, 0);
  const std::string before = read_text(bundle);
  fs::create_symlink(bundle, link);
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{bundle, bundle}, {bundle, link}, {link, bundle}}) {
    const Ended run = cache({"export", names[0], "reference-good", "--base", names[1], "--json"});
    EXPECT_EQ(run.status, 2) << run.said();
    EXPECT_EQ(read_text(bundle), before);
  }
  TestBuild large = good_build("reference-large");
  large.files.push_back({"large.bin", noise(3u << 20)});
  repository.add(large);
  repository.write();
  RunOptions that_one;
  that_one.environment = {"ENGINEHOST_FORCE=reference-large"};
  ASSERT_EQ(cache({"fetch", "reference", "--repository", location()}, that_one).status, 0);
  const std::string parts = path_text(folder / "parts.bundle");
  ASSERT_EQ(cache({"export", parts, "reference-large", "--max-part", "1M"}).status, 0);
  ASSERT_TRUE(fs::exists(parts + ".002"));
  for (const char* part : {"", ".parts", ".001"})
    EXPECT_EQ(cache({"export", parts, "reference-large", "--max-part", "1M", "--base", parts + part}).status,
              2)
        << part;
  EXPECT_EQ(cache({"export", path_text(folder / "more.bundle"), "reference-good", "--base", bundle}).status,
            0);
}

TEST_F(Flags, AnInterruptedMeasurementEndsWith130) {
  install();
  const fs::path said = workplace.folder() / "said.json";
  Running running(
      workplace.request("engine-info", {"reference", "--bench", "--repository", location(), "--json"}), said);
  // The proof is recorded once the engine is open. Then the arrays are made and the first operation is timed.
  const auto proven = [&] {
    std::error_code error;
    for (fs::recursive_directory_iterator at(workplace.cache() / "state", error), end; !error && at != end;
         at.increment(error))
      if (at->path().parent_path().filename() == "history") return true;
    return false;
  };
  for (int looks = 0; looks < 6'000 && !proven(); ++looks) std::this_thread::sleep_for(10ms);
  EXPECT_FALSE(running.ended_within(100ms));
  running.interrupt();
  const auto status = running.ended_within(60s);
  ASSERT_TRUE(status);
  EXPECT_EQ(*status, 130);
  const auto document = parse_json(read_text(said), "stdout");
  ASSERT_TRUE(document) << read_text(said);
  EXPECT_EQ((*document)["diagnosis"]["code"].as_string(), "EH-P10");
}

TEST_F(Flags, VersionAndHelpAreAlsoDocuments) {
  for (const char* command : {"engine-info", "engine-run", "engine-cache", "engine-manifest"}) {
    const Ended version = workplace.run(command, {"--json", "--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_EQ(version.document["tool"]["version"].as_string(), ENGINEHOST_VERSION) << version.said();
    const Ended help = workplace.run(command, {"--help", "--json"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.document["help"].as_string(), HasSubstr("--quiet")) << help.said();
    EXPECT_THAT(help.document["help"].as_string(), HasSubstr("--offline"));
  }
  const Ended wrong = workplace.info({"--json=true", "--bogus"});
  EXPECT_EQ(wrong.status, 2);
  const auto document = parse_json(wrong.output, "stdout");
  ASSERT_TRUE(document) << wrong.said();
  EXPECT_EQ((*document)["diagnosis"]["code"].as_string(), "EH-P40");
}

TEST_F(Flags, DisablingAnUnknownNameIsQuestioned) {
  const Ended slip = cache({"quarantine", "disable", "refrence-good", "--repository", location()});
  EXPECT_EQ(slip.status, 0);
  EXPECT_THAT(slip.error, HasSubstr("no build called refrence-good is known here"));
  EXPECT_THAT(slip.error, HasSubstr("did you mean reference-good?"));
  const Ended known = cache({"quarantine", "disable", "reference-good", "--repository", location()});
  EXPECT_THAT(known.error, Not(HasSubstr("no build called")));
  EXPECT_THAT(cache({"quarantine", "enable", "reference-good"}).output,
              HasSubstr("reference-good may be used again"));
}

TEST_F(Flags, APinIsListed) {
  install();
  EXPECT_THAT(cache({"list"}).output, Not(HasSubstr("pinned")));
  ASSERT_EQ(cache({"pin", "reference-good"}).status, 0);
  EXPECT_THAT(cache({"list"}).output, HasSubstr("(pinned)"));
  const Ended list = cache({"list", "--json"});
  EXPECT_TRUE(list.document["builds"].as_array().at(0)["pinned"].as_bool()) << list.said();
}

TEST_F(Flags, VerboseCutsNoLongValue) {
  const std::string value(2000, 'x');
  RunOptions options;
  options.environment = {"NVIDIA_REQUIRE_CUDA=" + value};
  EXPECT_THAT(workplace.info({}, options).output, Not(HasSubstr("xxx")));
  EXPECT_THAT(workplace.info({"--verbose"}, options).output, HasSubstr("NVIDIA_REQUIRE_CUDA=" + value));
  const Ended json = workplace.info({"--json"}, options);
  EXPECT_EQ(json.document["platform"]["loader_environment"]["value"]["NVIDIA_REQUIRE_CUDA"].as_string(),
            value);
}

TEST_F(Flags, MessagesNameTheGivenArgument) {
  const Ended verbose = workplace.info({"--verbose"});
  EXPECT_THAT(verbose.output, HasSubstr("info  (--verbose)"));
  EXPECT_EQ(cache({"trust", "add", "/nonexistent.pub", "--json"}).code(), "EH-P47");
  EXPECT_THAT(workplace.info({"--inspect", "/dev/null"}).error, HasSubstr("/dev/null is a device"));
  EXPECT_THAT(workplace.info({"@1"}).error, HasSubstr("names a version and no engine"));
}

// A malformed device is the same error wherever it is written; the remedy names that place.
TEST_F(Flags, AMalformedDeviceGetsTheRemedyOfItsSource) {
  const Ended flag = workplace.info({"reference", "--device", "cuda:first", "--json"});
  EXPECT_EQ(flag.status, 2) << flag.said();
  EXPECT_EQ(flag.code(), "EH-P40");
  EXPECT_THAT(flag.diagnosis()["cause"].as_string(), HasSubstr("\"cuda:first\" is no device"));
  EXPECT_THAT(flag.diagnosis()["remedy"].dump(), HasSubstr("engine-info --help"));
  RunOptions options;
  options.environment = {"ENGINEHOST_DEVICE=cuda:first"};
  const Ended variable = workplace.info({"reference", "--json"}, options);
  EXPECT_EQ(variable.status, 2) << variable.said();
  EXPECT_EQ(variable.code(), "EH-P02");
  EXPECT_THAT(variable.diagnosis()["cause"].as_string(), HasSubstr("\"cuda:first\" is no device"));
  EXPECT_THAT(variable.diagnosis()["remedy"].dump(), HasSubstr("correct ENGINEHOST_DEVICE, or unset it"));
  workplace.configure(Json::object().set("device", "cuda:first"));
  const Ended file = workplace.info({"reference", "--json"});
  EXPECT_EQ(file.status, 2) << file.said();
  EXPECT_EQ(file.code(), "EH-P02");
  EXPECT_THAT(file.diagnosis()["cause"].as_string(), HasSubstr("\"cuda:first\" is no device"));
  EXPECT_THAT(file.diagnosis()["remedy"].dump(), HasSubstr("correct device in /"));
}

TEST_F(Flags, ADeviceSetByAVariableIsCorrectedThere) {
  RunOptions options;
  options.environment = {"ENGINEHOST_DEVICE=mps:0"};
  const Ended fetched = workplace.run(
      "engine-cache", {"fetch", "reference", "--repository", repository.root().native(), "--json"}, options);
  EXPECT_EQ(fetched.status, 3) << fetched.said();
  EXPECT_THAT(fetched.diagnosis()["remedy"].dump(), HasSubstr("leave the device out (ENGINEHOST_DEVICE)"));
  EXPECT_THAT(fetched.diagnosis()["remedy"].dump(), Not(HasSubstr("--device")));
}

}  // namespace
}  // namespace enginehost::test
