// The JSON documents that scripts rely on: their members and the types of these.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/shapes.hpp"

namespace enginehost::test {
namespace {

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

TEST_F(Documents, OpenHasThePromisedMembers) {
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
                                     "outcome.stand_ins",
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

TEST_F(Documents, MachineReportCanBeReadBack) {
  const Ended run = workplace.info({"--platform-json"});
  EXPECT_EQ(run.status, 0);
  const auto document = parse_json(run.output, "stdout");
  ASSERT_TRUE(document) << run.said();
  EXPECT_EQ((*document)["format"].as_integer(), 1);
  expect_facts((*document)["platform"]);
}

TEST_F(Documents, InspectionHasThePromisedMembers) {
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
