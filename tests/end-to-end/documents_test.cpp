// The JSON documents that scripts rely on: which members there are and of which type.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

// "a.b" for every member that is missing, along paths like "outcome.timings_ms"; "[]" is the first element of
// a list.
std::vector<std::string> missing(const Json& document, const std::vector<std::string>& paths) {
  std::vector<std::string> absent;
  for (const std::string& path : paths) {
    const Json* at = &document;
    std::size_t begin = 0;
    while (at != nullptr && begin < path.size()) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      const std::string name = path.substr(begin, end - begin);
      if (name == "[]")
        at = at->as_array().empty() ? nullptr : &at->as_array().front();
      else
        at = at->find(name);
      begin = end + 1;
    }
    if (at == nullptr) absent.push_back(path);
  }
  return absent;
}

bool is_fact(const Json& value) {
  if (value["absent"].as_bool()) return value["source"].is_string();
  if (value["unknown"].as_bool()) return value["why"].is_string();
  return value.find("value") != nullptr && value["source"].is_string();
}

// Every member of the platform, and of its "cuda", is a fact: a value with its source, absent, or unknown and
// why.
void expect_facts(const Json& platform) {
  for (const char* name :
       {"os", "distribution", "arch", "kernel", "libc", "libstdcxx", "cpu", "memory", "disk", "cuda", "rocm",
        "metal", "vcruntime", "conda", "container", "wsl", "loader_environment"})
    EXPECT_NE(platform.find(name), nullptr) << name;
  for (const char* name : {"driver", "driver_cuda", "devices", "visible_devices", "toolkits", "cudnn"})
    EXPECT_NE(platform["cuda"].find(name), nullptr) << name;
  for (const auto& [name, value] : platform.as_object()) {
    EXPECT_TRUE(name == "cuda" || is_fact(value)) << name << " " << value.dump();
  }
  for (const auto& [name, value] : platform["cuda"].as_object())
    EXPECT_TRUE(is_fact(value)) << name << value.dump();
}

class Documents : public testing::Test {
 protected:
  Documents() : repository(workplace.folder() / "repository") {
    repository.add(faulty_build({{"libengine_reference.so", plugin_that_needs({"libmissing_math.so.3"})}}));
    repository.add(good_build());
    repository.write();
  }
  Workplace workplace;
  TestRepository repository;
};

TEST_F(Documents, OfAnOpenedEngineHoldWhatTheContractNames) {
  const Ended run = workplace.info({"reference", "--repository", repository.root().native(), "--json"});
  EXPECT_EQ(run.status, 0) << run.said();
  EXPECT_EQ(run.document["format"].as_integer(), 1);
  EXPECT_THAT(missing(run.document, {"tool.name",
                                     "tool.version",
                                     "tool.plugin_abi",
                                     "request",
                                     "config.[].key",
                                     "config.[].value",
                                     "config.[].source",
                                     "candidates.[].build",
                                     "candidates.[].engine",
                                     "candidates.[].version",
                                     "candidates.[].flavor",
                                     "candidates.[].rank",
                                     "candidates.[].verdict",
                                     "candidates.[].checks.[].requirement",
                                     "candidates.[].checks.[].observed",
                                     "candidates.[].checks.[].source",
                                     "candidates.[].checks.[].result",
                                     "outcome.state",
                                     "outcome.build",
                                     "outcome.flavor",
                                     "outcome.fallback",
                                     "outcome.devices.[]",
                                     "outcome.capabilities.[]",
                                     "outcome.library",
                                     "outcome.loaded.[].soname",
                                     "outcome.loaded.[].path",
                                     "outcome.loaded.[].origin",
                                     "outcome.download.bytes",
                                     "outcome.download.seconds",
                                     "outcome.timings_ms",
                                     "diagnosis.code",
                                     "diagnosis.title",
                                     "diagnosis.cause",
                                     "diagnosis.evidence.[].what",
                                     "diagnosis.evidence.[].value",
                                     "diagnosis.evidence.[].source",
                                     "diagnosis.remedy.[]",
                                     "diagnosis.context"}),
              testing::IsEmpty())
      << run.said();
  expect_facts(run.document["platform"]);
  for (const Json& candidate : run.document["candidates"].as_array())
    for (const Json& check : candidate["checks"].as_array())
      EXPECT_THAT(check["result"].as_string(), testing::AnyOf("yes", "no", "unknown"));
  for (const Json& library : run.outcome()["loaded"].as_array())
    EXPECT_THAT(library["origin"].as_string(), testing::AnyOf("cache", "system", "environment"));
}

TEST_F(Documents, OfAMachineCanBeReadBack) {
  const Ended run = workplace.info({"--platform-json"});
  EXPECT_EQ(run.status, 0);
  const auto document = parse_json(run.output, "stdout");
  ASSERT_TRUE(document) << run.said();
  EXPECT_EQ((*document)["format"].as_integer(), 1);
  expect_facts((*document)["platform"]);
}

TEST_F(Documents, OfAnInspectionHoldWhatTheContractNames) {
  write_text(workplace.folder() / "fails.so", plugin_that_needs({"libmissing_math.so.3"}));
  const Ended run = workplace.info({"--inspect", (workplace.folder() / "fails.so").native(), "--json"});
  EXPECT_THAT(
      missing(run.document, {"format", "file", "kind", "verdict", "missing.[].name", "missing.[].needed_by",
                             "missing.[].searched.[]", "rejected", "closure.[].name", "closure.[].path",
                             "closure.[].needed_by", "versions", "gpu_code", "warnings", "diagnosis.code",
                             "binary.machine", "binary.needed", "binary.needed_size", "binary.flags"}),
      testing::IsEmpty())
      << run.said();
}

}  // namespace
}  // namespace enginehost::test
