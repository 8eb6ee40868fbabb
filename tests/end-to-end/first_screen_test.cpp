// Bare engine-info: it answers for every engine, and fits into a terminal of 80 columns and 24 lines.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// The columns of a line: continuation bytes of UTF-8 take none.
std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

std::string shipped() { return build_path("/share/enginehost/repository"); }

std::vector<std::string> lines_of(const Ended& run) { return split(trim(run.output), '\n'); }

// The row of an engine; empty if there is none.
std::string row_of(const Ended& run, const std::string& engine) {
  for (const std::string& line : lines_of(run))
    if (line.starts_with(engine + " ")) return line;
  return {};
}

void expect_one_screen(const Ended& run) {
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_LE(lines_of(run).size(), 24u) << run.output;
  for (const std::string& line : lines_of(run)) EXPECT_LE(width_of(line), 80u) << line;
  for (const char* engine : {"cuda", "mxnet", "onnxruntime", "pytorch", "reference", "tensorflow"})
    EXPECT_NE(row_of(run, engine), "") << engine << "\n" << run.output;
  EXPECT_THAT(run.output, HasSubstr("engine-info ENGINE "));
  EXPECT_THAT(run.output, HasSubstr("engine-info --verbose "));
}

class FirstScreenOf : public testing::TestWithParam<const char*> {};

TEST_P(FirstScreenOf, ARecordedMachineHasARowPerEngine) {
  const Workplace workplace;
  const std::string machine = source_path("/tests/profiles/") + GetParam() + ".json";
  const Ended run = workplace.info({"--platform", machine, "--repository", shipped()});
  expect_one_screen(run);
  EXPECT_THAT(run.output, Not(HasSubstr("installed"))) << "that is known of this machine only";
}

INSTANTIATE_TEST_SUITE_P(
    RecordedMachines, FirstScreenOf,
    testing::Values("linux-alpine-musl", "linux-arm64-jetson-agx-orin-l4t36",
                    "linux-arm64-server-gh200-driver570", "linux-arm64-server-gh200-driver580",
                    "linux-centos7-no-gpu", "linux-container-without-gpus", "linux-driver-timed-out",
                    "linux-fedora41-nouveau-rtx3060", "linux-laptop-toolkit129-driver535-rtx4060",
                    "linux-rhel9-driver580-v100", "linux-rocm62-rx7900xtx", "linux-toolkit-without-driver",
                    "linux-ubuntu2004-driver470-gtx1080ti", "linux-ubuntu2204-driver525-rtx3090",
                    "linux-ubuntu2204-driver535-a100x2-one-hidden", "linux-ubuntu2204-stub-library",
                    "linux-ubuntu2404-driver580-h100", "linux-ubuntu2404-driver580-rtx4090",
                    "linux-ubuntu2404-driver580-rtx5090", "linux-ubuntu2404-driver580-gtx1080-rtx4090",
                    "linux-ubuntu2404-arc-a770", "linux-rhel8-no-gpu", "macos-arm64-m2", "macos12-arm64-m1",
                    "macos-x86_64-intel", "macos-x86_64-rosetta-m2", "windows11-cuda118-driver522-rtx3060",
                    "windows11-cudart65-driver595-rtx5090", "windows11-driver527-rtx3060",
                    "windows11-rx7900xtx", "wsl2-ubuntu2204-rtx4070"),
    [](const auto& machine) {
      std::string name = machine.param;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

class FirstScreen : public testing::Test {
 protected:
  Ended of(const std::string& machine) {
    return workplace.info(
        {"--platform", source_path("/tests/profiles/") + machine + ".json", "--repository", shipped()});
  }
  Workplace workplace;
};

TEST_F(FirstScreen, NamesTheDriverThatABetterBuildNeeds) {
  const Ended run = of("linux-ubuntu2204-driver525-rtx3090");
  EXPECT_THAT(
      run.output,
      ContainsRegex("\nonnxruntime +1[.]26[.]0 cu128 +[0-9.]+ GiB +asks: license NVIDIA-CUDA-EULA, 1 other"
                    "\n +1[.]31[.]1 cu130: needs driver 580"));
}

TEST_F(FirstScreen, NamesTheGpuThatABuildHasNoCodeFor) {
  const Ended run = of("linux-rhel9-driver580-v100");
  EXPECT_THAT(run.output,
              ContainsRegex("\nonnxruntime [^\n]*\n +1[.]31[.]1 cu130: no code for compute 7[.]0\n"));
}

TEST_F(FirstScreen, ExplainsWhyThereIsNoGpu) {
  const Ended run = of("linux-toolkit-without-driver");
  EXPECT_THAT(run.output, HasSubstr("no GPU: no NVIDIA device and no driver (engine-info --code EH-G01)"));
  EXPECT_THAT(row_of(run, "tensorflow"), HasSubstr("cu125: needs an NVIDIA GPU"));
  EXPECT_THAT(row_of(run, "cuda"), ContainsRegex("^cuda +none +EH-(G01|S12) ")) << run.output;
}

TEST_F(FirstScreen, NamesTheSystemThatHasNoBuild) {
  EXPECT_THAT(row_of(of("macos-x86_64-intel"), "tensorflow"),
              ContainsRegex("^tensorflow +none +EH-S03 no build is for macos x86_64$"));
  EXPECT_THAT(row_of(of("macos-arm64-m2"), "cuda"), HasSubstr("EH-S03 no build is for macos arm64"));
}

TEST_F(FirstScreen, DecidesAsAnOpenDoes) {
  const std::string machine = source_path("/tests/profiles/linux-ubuntu2404-driver580-h100.json");
  const Ended screen = of("linux-ubuntu2404-driver580-h100");
  for (const char* engine : {"cuda", "mxnet", "onnxruntime", "pytorch", "reference", "tensorflow"}) {
    const Ended plan =
        workplace.info({engine, "--plan", "--json", "--platform", machine, "--repository", shipped()});
    const std::string build = plan.outcome()["build"].as_string();
    std::string text = "none";
    if (!build.empty())
      text = plan.candidate(build)["version"].as_string() + " " + plan.candidate(build)["flavor"].as_string();
    EXPECT_THAT(row_of(screen, engine), ContainsRegex("^" + std::string(engine) + " +" + text + "( |$)"))
        << screen.output;
  }
}

TEST_F(FirstScreen, ShowsWhatIsInstalled) {
  TestRepository repository(workplace.folder() / "repository");
  TestBuild newer = good_build("reference-newer");
  newer.version = "2.0.0";
  newer.requirements.set("glibc", ">=99.0");
  repository.add(good_build());
  repository.add(newer);
  repository.write();
  const std::vector<std::string> asked{"--repository", repository.root().native()};
  const Ended before = workplace.info(asked);
  EXPECT_THAT(row_of(before, "reference"),
              ContainsRegex("^reference +1[.]0[.]0 cpu +in a folder +2[.]0[.]0 cpu: "
                            "needs glibc >= 99[.]0$"))
      << before.said();
  EXPECT_FALSE(std::filesystem::exists(workplace.cache() / "refs/reference-good.ref"))
      << "nothing is fetched";
  ASSERT_EQ(workplace.info({"reference", "--repository", repository.root().native()}).status, 0);
  EXPECT_THAT(row_of(workplace.info(asked), "reference"),
              ContainsRegex("^reference +1[.]0[.]0 cpu +installed "));
  ASSERT_EQ(workplace.run("engine-cache", {"quarantine", "disable", "reference-good"}).status, 0);
  const Ended disabled = workplace.info(asked);
  EXPECT_EQ(disabled.status, 0);
  EXPECT_THAT(row_of(disabled, "reference"),
              ContainsRegex("^reference +none +EH-S14 1[.]0[.]0 cpu is disabled"))
      << disabled.said();
}

TEST_F(FirstScreen, TheRepositoryThatComesAlongIsBuiltIn) {
  workplace.configure(Json::object().set("repositories_default", true));
  const Ended run = workplace.info({});
  EXPECT_THAT(row_of(run, "reference"), HasSubstr("built in")) << run.said();
  expect_one_screen(run);
}

TEST_F(FirstScreen, ReportsARepositoryThatCannotBeRead) {
  const Ended run = workplace.info({"--repository", (workplace.folder() / "none").native()});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_THAT(run.output, ContainsRegex("EH-[A-Z][0-9]+"));
  for (const std::string& line : lines_of(run))
    if (line.find(workplace.folder().native()) == std::string::npos) {
      EXPECT_LE(width_of(line), 80u) << line;
    }
}

TEST_F(FirstScreen, WithoutARepositoryItSaysSo) {
  const Ended run = workplace.info({});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.output, HasSubstr("no repository is configured")) << run.said();
}

TEST_F(FirstScreen, AnUnreadableRepositoryIsNotCalledUnconfigured) {
  const std::string nowhere = (workplace.folder() / "none").native();
  const Ended unread = workplace.info({"--repository", nowhere});
  EXPECT_THAT(unread.output, Not(HasSubstr("no repository is configured"))) << unread.said();
  EXPECT_THAT(unread.output, HasSubstr("nothing could be read of"));
  const std::filesystem::path empty = workplace.folder() / "empty";
  std::filesystem::create_directories(empty);
  write_text(empty / "index.json", R"({"format": 1, "name": "none", "manifests": []})");
  const Ended listed = workplace.info({"--repository", empty.native()});
  EXPECT_THAT(listed.output, HasSubstr("no engine is listed in")) << listed.said();
}

TEST_F(FirstScreen, HasColorsOnATerminalOnly) {
  RunOptions terminal;
  terminal.launcher = on_a_terminal();
  terminal.environment = {"TERM=xterm"};
  const Ended colored = workplace.info({"--repository", shipped()}, terminal);
  EXPECT_THAT(colored.output, AllOf(HasSubstr("\x1b[1mreference\x1b[0m"), HasSubstr("\x1b[32m")));
  for (const char* variable : {"TERM=dumb", "NO_COLOR=1"}) {
    terminal.environment = {variable};
    EXPECT_THAT(workplace.info({"--repository", shipped()}, terminal).output, Not(HasSubstr("\x1b[")))
        << variable;
  }
}

TEST_F(FirstScreen, VerboseListsTheFacts) {
  const Ended run = workplace.info({"--verbose"});
  EXPECT_EQ(run.status, 0);
  for (const char* part :
       {"machine\nos ", "\nengines\n", "\ninstalled\n", "\nquarantined\n", "\nconfiguration\n"})
    EXPECT_THAT(run.output, HasSubstr(part));
}

TEST_F(FirstScreen, AnOpenedEngineHasShortPaths) {
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::string location = repository.root().native();
  const Ended run = workplace.info({"reference", "--repository", location});
  EXPECT_THAT(run.output, ContainsRegex("library +CACHE/views/[0-9a-f]{8}…/"));
  EXPECT_THAT(run.output, HasSubstr("cache         " + workplace.cache().native()));
  EXPECT_THAT(workplace.info({"reference", "--repository", location, "--verbose"}).output,
              AllOf(ContainsRegex("library +" + workplace.cache().native() + "/views/[0-9a-f]{64}/"),
                    Not(HasSubstr("CACHE/"))));
}

TEST_F(FirstScreen, APlanShowsDownloadAndLicense) {
  const std::string machine = source_path("/tests/profiles/linux-ubuntu2404-driver580-h100.json");
  const std::vector<std::string> plan{"onnxruntime", "--plan",       "--platform",
                                      machine,       "--repository", shipped()};
  EXPECT_THAT(
      workplace.info(plan).output,
      ContainsRegex("[0-9] GiB to download [(]folder, package index[)], licenses Apache-2[.]0, MIT, "));
  std::vector<std::string> as_json = plan;
  as_json.push_back("--json");
  const Ended run = workplace.info(as_json);
  EXPECT_GT(run.outcome()["download"]["bytes"].as_integer(), 100'000'000) << run.said();
  const Json& chosen = run.candidate(run.outcome()["build"].as_string())["download"];
  EXPECT_EQ(chosen["bytes"].as_integer(), run.outcome()["download"]["bytes"].as_integer());
  EXPECT_TRUE(chosen["unpacked"].is_null());
  EXPECT_FALSE(chosen["licenses"].as_array().empty());
}

TEST_F(FirstScreen, ANewerVersionIsReportedWithItsReason) {
  TestRepository repository(workplace.folder() / "repository");
  TestBuild newer = good_build("reference-newer");
  newer.version = "2.0.0";
  newer.not_built = "there is no adapter";
  repository.add(good_build());
  repository.add(newer);
  repository.write();
  const std::string location = repository.root().native();
  const auto named = HasSubstr("newer, but    2.0.0 cpu: there is no adapter\n");
  EXPECT_THAT(workplace.info({"reference", "--plan", "--repository", location}).output, named);
  EXPECT_THAT(workplace.info({"reference", "--repository", location}).output, named);
  EXPECT_THAT(workplace.info({"reference@1", "--repository", location}).output, Not(named));
  const Ended run = workplace.info({"reference", "--repository", location, "--json"});
  ASSERT_EQ(run.outcome()["newer"].as_array().size(), 1u) << run.said();
  const Json& passed_over = run.outcome()["newer"].as_array()[0];
  EXPECT_EQ(passed_over["version"].as_string(), "2.0.0");
  EXPECT_EQ(passed_over["build"].as_string(), "reference-newer");
  EXPECT_EQ(passed_over["code"].as_string(), "EH-S12");
  EXPECT_EQ(passed_over["reason"].as_string(), "there is no adapter");
  EXPECT_FALSE(run.outcome()["fallback"].as_bool());
}

TEST_F(FirstScreen, AnUpdateIsReportedAndFetchedOnRequest) {
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const std::string location = repository.root().native();
  const auto screen = [&](std::vector<std::string> more = {}, const std::string& command = "engine-info") {
    more.insert(more.end(), {"--repository", location});
    return workplace.run(command, std::move(more));
  };
  ASSERT_EQ(screen({"reference"}).status, 0);
  TestBuild newer = good_build("reference-newer");
  newer.version = "2.0.0";
  repository.add(newer);
  repository.write();
  const auto named = HasSubstr("2.0.0 cpu: not installed (--update open)\n");
  EXPECT_THAT(screen().output, named) << "the first screen";
  EXPECT_THAT(screen({"reference"}).output, named);
  EXPECT_THAT(screen({"reference", "--plan"}).output, named);
  EXPECT_THAT(screen({"reference", "--update", "never"}).output, Not(HasSubstr("2.0.0")));
  EXPECT_THAT(screen({"--update", "never"}).output, Not(HasSubstr("2.0.0")));
  RunOptions by_variable;
  by_variable.environment = {"ENGINEHOST_UPDATE=never"};
  EXPECT_THAT(workplace.info({"reference", "--repository", location}, by_variable).output,
              Not(HasSubstr("2.0.0")));
  const Ended plan = screen({"reference", "--plan", "--json"});
  EXPECT_EQ(plan.outcome()["build"].as_string(), "reference-good") << plan.said();
  EXPECT_EQ(plan.outcome()["update"]["build"].as_string(), "reference-newer") << plan.said();
  EXPECT_EQ(screen({"reference", "--plan", "--update", "open", "--json"}).outcome()["build"].as_string(),
            "reference-newer");
  const Ended wrong = screen({"reference", "--update", "always"});
  EXPECT_EQ(wrong.status, 2) << wrong.said();
  EXPECT_THAT(wrong.said(), HasSubstr("\"always\" is none of report, open, never"));
  const Ended elsewhere = screen({"reference", "--update", "open", "--platform",
                                  source_path("/tests/profiles/linux-ubuntu2204-driver525-rtx3090.json")});
  EXPECT_EQ(elsewhere.status, 2) << elsewhere.said();
  EXPECT_THAT(elsewhere.said(), HasSubstr("--platform names another one"));
  // fetch is the update itself, whatever the setting.
  ASSERT_EQ(screen({"fetch", "reference"}, "engine-cache").status, 0);
  EXPECT_THAT(screen({"reference"}).output, HasSubstr("reference 2.0.0 cpu is open"));
}

// Each command that asks a repository reports what it left out, and opens what remains.
TEST_F(FirstScreen, M07ATooLargeManifestIsReportedByEachCommand) {
  TestRepository repository(workplace.folder() / "repository"), other(workplace.folder() / "other");
  TestBuild newer = good_build("reference-newer");
  newer.version = "2.0.0";
  repository.add(newer);
  repository.write();
  other.add(good_build());
  other.write();
  const std::string manifest = read_text(repository.root() / "reference.json") + std::string(9u << 20, ' ');
  write_text(repository.root() / "reference.json", manifest);
  write_text(repository.root() / "index.json",
             Json::object()
                 .set("format", 1)
                 .set("name", "large")
                 .set("serial", 1)
                 .set("manifests", Json::array().push(Json::object()
                                                          .set("path", "reference.json")
                                                          .set("sha256", sha256_hex(manifest))
                                                          .set("size", manifest.size())))
                 .dump());
  const std::vector<std::string> both = {"--repository", repository.root().native(), "--repository",
                                         other.root().native()};
  const auto said = HasSubstr("reference.json has 9.0 MiB, and at most 8.0 MiB are read");
  for (const auto& [command, arguments] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"engine-info", {"reference", "--plan"}},
           {"engine-info", {}},
           {"engine-info", {"reference"}},
           {"engine-cache", {"fetch", "reference"}}}) {
    std::vector<std::string> whole = arguments;
    whole.insert(whole.end(), both.begin(), both.end());
    const Ended run = workplace.run(command, whole);
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_THAT(run.said(), said) << command;
  }
  const Ended alone = Workplace().info({"reference", "--repository", repository.root().native()});
  EXPECT_NE(alone.status, 0) << alone.said();
  EXPECT_THAT(alone.said(), said);
}

}  // namespace
}  // namespace enginehost::test
