// Decisions of the recorded Macs about every engine's builds for macOS: those for the process's processor
// fit, and only their plugins are not compiled here (EH-S12). The others are refused with both processors
// (EH-S03). A build that has to be requested (EH-S26) is planned again with its flavor.
#include <gmock/gmock.h>

#include <cctype>
#include <map>

#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

struct Mac {
  const char *machine, *processor;
  std::map<std::string, int> fitting;  // engine -> how many of its builds
};

class MacDecisions : public testing::TestWithParam<Mac> {};

const Json& candidate_in(const Json& plan, const std::string& build) {
  for (const Json& candidate : plan["candidates"].as_array())
    if (candidate["build"].as_string() == build) return candidate;
  ADD_FAILURE() << build << " is not in the plan";
  return plan;
}

// Returns the checks that do not hold, as "EH-S12: a plugin, none".
std::vector<std::string> against(const Json& candidate) {
  std::vector<std::string> found;
  for (const Json& check : candidate["checks"].as_array())
    if (check["result"].as_string() != "yes")
      found.push_back(check["code"].as_string() + ": " + check["requirement"].as_string() + ", " +
                      check["observed"].as_string());
  return found;
}

TEST_P(MacDecisions, HaveOneReasonForEachBuildForMacOs) {
  const Workplace workplace;
  const std::string repository = build_path("/share/enginehost/repository");
  const std::string machine = source_path("/tests/profiles/") + GetParam().machine + ".json";
  for (const auto& [engine, expected] : GetParam().fitting) {
    const Ended planned =
        workplace.info({engine, "--json", "--plan", "--repository", repository, "--platform", machine});
    int fitting = 0, others = 0;
    for (const Json& candidate : planned.document["candidates"].as_array()) {
      const std::string build = candidate["build"].as_string();
      const std::size_t at = build.find("-macos-");
      if (at == std::string::npos) continue;
      const std::string processor = build.substr(at + 7);
      const bool fits = processor == GetParam().processor;
      ++(fits ? fitting : others);
      const std::string flavor = candidate["flavor"].as_string();
      Json decided = candidate;
      if (against(candidate) ==
          std::vector<std::string>{"EH-S26: a request for flavor " + flavor + ", no flavor"}) {
        EXPECT_EQ(candidate["verdict"].as_string(), "rejected") << build;
        decided = candidate_in(workplace
                                   .info({engine, "--json", "--plan", "--repository", repository,
                                          "--platform", machine, "--flavor", flavor})
                                   .document,
                               build);
      }
      EXPECT_EQ(decided["verdict"].as_string(), fits ? "unavailable" : "rejected") << build;
      EXPECT_THAT(against(decided), testing::ElementsAre(fits ? "EH-S12: a plugin, none"
                                                              : "EH-S03: system macos " + processor +
                                                                    ", macos " + GetParam().processor))
          << build;
    }
    EXPECT_EQ(fitting, expected) << engine << "\n" << planned.said();
    EXPECT_GT(fitting + others, 0) << engine << " has no build for macOS";
    EXPECT_EQ(planned.document["diagnosis"]["code"].as_string(), fitting > 0 ? "EH-S12" : "EH-S01") << engine;
    EXPECT_EQ(planned.status, 3) << engine;
  }
}

// A program under Rosetta is an Intel one: no build for mps fits, although the device exists. PyTorch and
// TensorFlow have ended their builds for Intel, MXNet's never came to Apple silicon, and one wheel of ONNX
// Runtime is for both.
const std::map<std::string, int> of_intel = {
    {"mxnet", 1}, {"onnxruntime", 1}, {"pytorch", 0}, {"reference", 1}, {"tensorflow", 0}};
INSTANTIATE_TEST_SUITE_P(
    RecordedMachines, MacDecisions,
    testing::Values(
        Mac{"macos-arm64-m2",
            "arm64",
            {{"mxnet", 0}, {"onnxruntime", 12}, {"pytorch", 8}, {"reference", 1}, {"tensorflow", 1}}},
        Mac{"macos-x86_64-intel", "x86_64", of_intel}, Mac{"macos-x86_64-rosetta-m2", "x86_64", of_intel}),
    [](const auto& instance) {
      std::string name;
      for (const char* at = instance.param.machine; *at != '\0'; ++at)
        if (std::isalnum(static_cast<unsigned char>(*at)) != 0) name += *at;
      return name;
    });

}  // namespace
}  // namespace enginehost::test
