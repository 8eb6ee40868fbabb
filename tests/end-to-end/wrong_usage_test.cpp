// Invalid arguments: status 2, reported on standard error or in one document.
#include <gmock/gmock.h>

#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

struct Usage {
  const char* name;
  std::string command;
  std::vector<std::string> arguments;
};

const std::vector<Usage> wrong_usages = {
    {"UnknownFlag", "engine-info", {"--no-such-flag"}},
    {"FlagWithoutValue", "engine-info", {"reference", "--flavor"}},
    {"FlagForAValue", "engine-info", {"--code", "--offline", "EH-L01"}},
    {"FlagForAFolder", "engine-info", {"--cache", "--offline"}},
    {"FlagOfARunThatIsUnknown", "engine-run", {"--nonsense"}},
    {"FlagOfACacheThatIsUnknown", "engine-cache", {"--nonsense"}},
    {"QuarantineOfAnUnknownSubcommand", "engine-cache", {"quarantine", "nosuch"}},
    {"TwoEngines", "engine-info", {"reference", "onnxruntime"}},
    {"UnknownCode", "engine-info", {"--code", "EH-Q77"}},
    {"PlatformFileThatIsMissing", "engine-info", {"reference", "--platform", "/nonexistent/machine.json"}},
    {"InspectOfNothing", "engine-info", {"--inspect", "/nonexistent/library.so"}},
    {"PlotWithoutBench", "engine-info", {"reference", "--plot", "figures.png"}},
    {"PlotOfAnotherKind", "engine-info", {"reference", "--bench", "--plot", "figures.bmp"}},
    {"InspectOfAnEmptyName", "engine-info", {"--inspect", ""}},
    {"UpdateOfAnUnknownValue", "engine-info", {"reference", "--update", "always"}},
    {"PlatformOfAnEmptyName", "engine-info", {"reference", "--platform", ""}},
    {"RequireOfNothing", "engine-info", {"reference", "--require", ""}},
    {"FlavorOfNothing", "engine-info", {"reference", "--flavor", ""}},
    {"FlavorEqualToNothing", "engine-info", {"--flavor=", "reference"}},
    {"DeviceOfNothing", "engine-info", {"reference", "--device", ""}},
    {"DeviceOfCommas", "engine-info", {"reference", "--plan", "--device", ","}},
    {"DeviceWithoutANumber", "engine-info", {"reference", "--plan", "--device", "cpu:x"}},
    {"DeviceBelowNull", "engine-info", {"reference", "--plan", "--device", "cpu:-1"}},
    {"DeviceWithASpace", "engine-info", {"reference", "--plan", "--device", "cpu: 0"}},
    {"PluginOfAnEmptyName", "engine-info", {"--plugin", ""}},
    {"CacheOfAnEmptyName", "engine-info", {"--cache", ""}},
    {"RepositoryOfAnEmptyName", "engine-info", {"--repository", ""}},
    {"EngineOfAnEmptyName", "engine-info", {""}},
    {"EngineWithoutTheVersion", "engine-info", {"reference@"}},
    {"VersionWithoutTheEngine", "engine-info", {"@1"}},
    {"VersionThatIsNone", "engine-info", {"reference@latest", "--plan"}},
    {"VersionWithHalfAComparison", "engine-info", {"reference>=", "--plan"}},
    {"VersionWithAComparisonTurnedRound", "engine-run", {"reference@=>1", "model"}},
    {"VersionInBrackets", "engine-cache", {"fetch", "reference[1.0]"}},
    {"RequestOfAVersionThatIsNone", "engine-cache", {"request", "lab.request", "reference@1.x"}},
    {"RequireAgainstFlavor", "engine-info", {"reference", "--require", "cpu", "--flavor", "cu118"}},
    {"PlanWithSelfTest", "engine-info", {"reference", "--plan", "--self-test"}},
    {"PlanWithBench", "engine-info", {"reference", "--plan", "--bench"}},
    {"PlanWithoutEngine", "engine-info", {"--plan"}},
    {"ExplainWithoutEngine", "engine-info", {"--explain"}},
    {"SelfTestWithoutEngine", "engine-info", {"--self-test"}},
    {"BenchWithoutEngine", "engine-info", {"--bench"}},
    {"NoProbeWithoutEngine", "engine-info", {"--no-probe"}},
    {"SymbolsOfAnEngine", "engine-info", {"reference", "--symbols"}},
    {"InstallationsOfAnEngine", "engine-info", {"--installations", "reference"}},
    {"PlatformJsonOfAnEngine", "engine-info", {"--platform-json", "reference"}},
    {"PluginWithAnEngine", "engine-info", {"reference", "--plugin", "/nonexistent.so"}},
    {"PluginWithPlan", "engine-info", {"--plugin", "/nonexistent.so", "--plan"}},
    {"PluginForAnotherMachine",
     "engine-info",
     {"--plugin", "/nonexistent.so", "--platform", "/nonexistent.json"}},
    {"RunIntoAnEmptyName", "engine-run", {"reference", "model", "--output", ""}},
    {"RunOfAnEmptyModel", "engine-run", {"reference", ""}},
    {"RunOfAnInputWithoutFile", "engine-run", {"reference", "model", "--input", "points="}},
    {"RunWithRequireAgainstFlavor",
     "engine-run",
     {"reference", "model", "--require", "cpu", "--flavor", "cu118"}},
    {"RunWithoutModel", "engine-run", {"reference"}},
    {"RunRepeatedNoTimes", "engine-run", {"reference", "model", "--repeat", "-1"}},
    {"CacheWithoutSubcommand", "engine-cache", {}},
    {"CacheUnknownSubcommand", "engine-cache", {"polish"}},
    {"CacheRemoveWithoutId", "engine-cache", {"remove"}},
    {"QuarantineClearWithoutId", "engine-cache", {"quarantine", "clear"}},
    {"QuarantineClearOfOneAndAll", "engine-cache", {"quarantine", "clear", "--all", "some-build"}},
    {"QuarantineDisableOfNothing", "engine-cache", {"quarantine", "disable", ""}},
    {"GcToNoSize", "engine-cache", {"gc", "--max-size", ""}},
    {"FetchWithoutTheVersion", "engine-cache", {"fetch", "reference@"}},
    {"TrustInAFileThatIsMissing", "engine-cache", {"trust", "add", "/nonexistent.pub"}},
    {"ManifestInNoFolder", "engine-manifest", {"init", "", "--name", "x"}},
    {"LintOfNoFolder", "engine-manifest", {"lint", ""}},
    {"PublishingIntoNoFolder", "engine-manifest", {"publish", "/nonexistent", ""}},
    {"RootThatNobodyHasToSign",
     "engine-manifest",
     {"sign", "/nonexistent", "--key", "/nonexistent", "--root-threshold", "0"}},
    {"IndexThatLessThanNobodySigns",
     "engine-manifest",
     {"sign", "/nonexistent", "--key", "/nonexistent", "--index-threshold", "-1"}},
    {"LicenseIdWithoutLicense",
     "engine-manifest",
     {"add", "/nonexistent", "/nonexistent.zip", "--engine", "toy", "--version", "1", "--flavor", "cpu",
      "--license-id", "MIT"}},
    {"EngineThatNoManifestHolds",
     "engine-manifest",
     {"add", "/nonexistent", "/nonexistent.zip", "--engine", "Toy", "--version", "1", "--flavor", "cpu"}},
    {"VersionThatNoManifestHolds",
     "engine-manifest",
     {"add", "/nonexistent", "/nonexistent.zip", "--engine", "toy", "--version", "1 2", "--flavor", "cpu"}},
    {"PriorityThatNoManifestHolds",
     "engine-manifest",
     {"add", "/nonexistent", "/nonexistent.zip", "--engine", "toy", "--version", "1", "--flavor", "cpu",
      "--priority", "5000000"}},
    {"StripOfLessThanNothing",
     "engine-manifest",
     {"add", "/nonexistent", "/nonexistent.zip", "--engine", "toy", "--version", "1", "--flavor", "cpu",
      "--strip", "-1"}},
    {"LazyLibraryInAFolder",
     "engine-manifest",
     {"add", "/nonexistent", "/nonexistent.zip", "--engine", "toy", "--version", "1", "--flavor", "cpu",
      "--lazy", "a/b"}},
    {"UrlThatIsNone",
     "engine-manifest",
     {"add", "/nonexistent", "/nonexistent.zip", "--engine", "toy", "--version", "1", "--flavor", "cpu",
      "--url", "notaurl"}},
    {"UrlOfAFolder",
     "engine-manifest",
     {"add", "/nonexistent", ".", "--engine", "toy", "--version", "1", "--flavor", "cpu", "--url",
      "https://engines.example/toy"}},
};

class WrongUsage : public testing::TestWithParam<Usage> {};

TEST_P(WrongUsage, EndsWith2AndOneDocument) {
  const Workplace workplace;
  std::vector<std::string> arguments = GetParam().arguments;
  const Ended plain = workplace.run(GetParam().command, arguments);
  EXPECT_EQ(plain.status, 2) << plain.said();
  EXPECT_EQ(plain.output, "");
  EXPECT_NE(plain.error, "");
  arguments.insert(arguments.begin(), "--json");
  const Ended json = workplace.run(GetParam().command, arguments);
  EXPECT_EQ(json.status, 2) << json.said();
  EXPECT_THAT(json.code(), HasSubstr("EH-")) << json.said();
  EXPECT_FALSE(json.diagnosis()["cause"].as_string().empty());
}

INSTANTIATE_TEST_SUITE_P(OfEachCommand, WrongUsage, testing::ValuesIn(wrong_usages),
                         [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace enginehost::test
