// Arguments that cannot be read: status 2, said on standard error or in one document.
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
    {"TwoEngines", "engine-info", {"reference", "onnxruntime"}},
    {"UnknownCode", "engine-info", {"--code", "EH-Q77"}},
    {"PlatformFileThatIsMissing", "engine-info", {"reference", "--platform", "/nonexistent/machine.json"}},
    {"InspectOfNothing", "engine-info", {"--inspect", "/nonexistent/library.so"}},
    {"PlotWithoutBench", "engine-info", {"reference", "--plot", "figures.png"}},
    {"PlotOfAnotherKind", "engine-info", {"reference", "--bench", "--plot", "figures.bmp"}},
    {"RunWithoutModel", "engine-run", {"reference"}},
    {"RunRepeatedNoTimes", "engine-run", {"reference", "model", "--repeat", "-1"}},
    {"CacheWithoutSubcommand", "engine-cache", {}},
    {"CacheUnknownSubcommand", "engine-cache", {"polish"}},
    {"CacheRemoveWithoutId", "engine-cache", {"remove"}},
    {"QuarantineClearWithoutId", "engine-cache", {"quarantine", "clear"}},
};

class WrongUsage : public testing::TestWithParam<Usage> {};

TEST_P(WrongUsage, EndsWithTwoAndOneDocument) {
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
