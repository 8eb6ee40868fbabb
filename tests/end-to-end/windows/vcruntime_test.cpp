// A Windows without Visual C++'s runtime, as after a fresh installation: which file is missing, which file
// needs it, which folders were searched, what to install. Run by without_vcruntime.sh.
#include <gmock/gmock.h>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* redistributable = "Visual C++ Redistributable for Visual Studio 2015-2022";

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> all;
  for (const Json& one : list.as_array()) all.push_back(one.as_string());
  return all;
}

TEST(WithoutVisualCxxRuntime, ReportsW01WithBothFilesAndTheFolders) {
  const Workplace workplace;
  const Ended run = workplace.info({"--inspect", ENGINEHOST_NEEDS_VCRUNTIME, "--json"});
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_EQ(run.document["verdict"].as_string(), "fails");
  std::vector<std::string> missing;
  for (const Json& one : run.document["missing"].as_array()) {
    missing.push_back(one["name"].as_string());
    EXPECT_THAT(one["needed_by"].as_string(), HasSubstr("needs_vcruntime.dll"));
    EXPECT_THAT(to_lower(one["searched"].dump(0)), HasSubstr("system32"));
  }
  EXPECT_THAT(missing, testing::UnorderedElementsAre("MSVCP140.dll", "VCRUNTIME140.dll")) << run.said();
  EXPECT_EQ(run.code(), "EH-W01");
  EXPECT_THAT(texts_of(run.diagnosis()["remedy"]),
              Contains(AllOf(HasSubstr(redistributable), HasSubstr("learn.microsoft.com"))));
}

TEST(WithoutVisualCxxRuntime, ReportsW01BeforeLoadingAnUndeclaredNeed) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  TestBuild build;
  build.id = "reference-visual";
  build.files = {{build.plugin, read_text(ENGINEHOST_NEEDS_VCRUNTIME)}};
  repository.add(build);
  repository.write();
  const Ended run = workplace.info({"reference", "--repository", path_text(repository.root()), "--json"});
  EXPECT_EQ(run.status, 6) << run.said();
  EXPECT_EQ(run.code(), "EH-W01");
  EXPECT_THAT(evidence_list(run.diagnosis(), "library"),
              AllOf(HasSubstr("MSVCP140.dll"), HasSubstr("VCRUNTIME140.dll")));
  EXPECT_THAT(evidence(run.diagnosis(), "needed_by"), HasSubstr("engine_reference.dll"));
  EXPECT_THAT(to_lower(evidence_list(run.diagnosis(), "searched")), HasSubstr("system32"));
  ASSERT_FALSE(run.diagnosis()["remedy"].as_array().empty());
  EXPECT_THAT(run.diagnosis()["remedy"].as_array()[0].as_string(), HasSubstr(redistributable));
}

TEST(WithoutVisualCxxRuntime, S15RefusesADeclaredNeedBeforeTheDownload) {
  const Workplace workplace;
  TestRepository repository(workplace.folder() / "repository");
  TestBuild build = good_build();
  build.requirements.set("vcruntime", ">=14.20");
  repository.add(build);
  repository.write();
  const Ended run = workplace.info({"reference", "--repository", path_text(repository.root()), "--json"});
  EXPECT_EQ(run.status, 3) << run.said();
  EXPECT_EQ(evidence(run.diagnosis(), "first_code"), "EH-S15");
  EXPECT_THAT(run.diagnosis().dump(0),
              HasSubstr("vcruntime140.dll, msvcp140.dll: not in the program's folder, System32, PATH"));
  EXPECT_THAT(run.diagnosis()["remedy"].as_array()[0].as_string(), HasSubstr(redistributable));
}

// The manifest of the build tree declares that these builds need it, so none of their 13 MB is fetched.
TEST(WithoutVisualCxxRuntime, OnnxRuntimesWheelIsRefusedWithTheRemedy) {
  const std::string repository = ENGINEHOST_WHEEL_REPOSITORY;
  if (!fs::exists(path_of(repository) / "index.json")) GTEST_SKIP() << "there is no wheel at " << repository;
  const Workplace workplace;
  const Ended run = workplace.info({"onnxruntime", "--repository", repository, "--json"});
  EXPECT_EQ(run.status, 3) << run.said();
  EXPECT_EQ(evidence(run.diagnosis(), "first_code"), "EH-S15");
  EXPECT_THAT(run.diagnosis().dump(0), HasSubstr("vcruntime140.dll, msvcp140.dll: not in"));
  EXPECT_THAT(run.diagnosis()["remedy"].as_array()[0].as_string(), HasSubstr(redistributable));
}

}  // namespace
}  // namespace enginehost::test
