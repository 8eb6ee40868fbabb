// Every shipped manifest passes `engine-manifest lint`, with the facts of its payloads.
#include "tests/publish/shipped.hpp"

#include <set>

namespace enginehost::publish {
namespace {

using testing::HasSubstr;

class Shipped : public testing::Test {
 protected:
  void SetUp() override {
    auto made = shipped::workspace_in(folder / "repository");
    ASSERT_TRUE(made);
    workspace.emplace(std::move(*made));
    all = shipped::manifests(*workspace);
    // The plugins that this build compiled are in files/.
    for (const auto& manifest : all)
      for (const auto& [id, component] : manifest->components)
        for (const manifest::Artifact& artifact : component.artifacts)
          for (const manifest::Source& source : artifact.sources)
            if (source.kind == manifest::Source::Kind::file) {
              const auto facts =
                  look_into(artifact, workspace->folder() / source.location, folder / "scratch");
              ASSERT_TRUE(facts) << id << ": " << facts.error().code;
              ASSERT_TRUE(workspace->keep_facts(artifact, *facts));
            }
  }
  // Components that only their vendors' own servers have.
  std::set<std::string> beyond_the_index() const {
    std::set<std::string> found;
    for (const auto& manifest : all)
      for (const auto& [id, component] : manifest->components)
        for (const manifest::Artifact& artifact : component.artifacts)
          if (artifact.sources.front().kind == manifest::Source::Kind::url) found.insert(id);
    return found;
  }
  static std::string line(const Diagnosis& finding) {
    return std::string(finding.value(Key::document)) + ": " + std::string(finding.value(Key::member)) + ": " +
           std::string(finding.value(Key::problem));
  }

  test::TemporaryFolder folder;
  std::optional<Workspace> workspace;
  std::vector<std::shared_ptr<const manifest::Manifest>> all;
};

TEST_F(Shipped, ManifestsPassLint) {
#ifdef ENGINEHOST_SANITIZED
  GTEST_SKIP() << "plugins with a sanitizer need its runtime, which no machine of a user has";
#endif
  ASSERT_GE(all.size(), 6u);
  const LintFindings findings = lint(*workspace);
  for (const Diagnosis& one : findings.errors) ADD_FAILURE() << line(one);
  const std::set<std::string> unseen = beyond_the_index();
  for (const Diagnosis& one : findings.warnings) {
    const std::string text = line(one);
    const bool of_an_unseen = std::any_of(unseen.begin(), unseen.end(), [&](const std::string& component) {
      return text.find(component) != std::string::npos;
    });
    EXPECT_TRUE(of_an_unseen) << text;
  }
}

TEST_F(Shipped, PayloadsOfThePackageIndexWereAllExamined) {
  for (const auto& manifest : all)
    for (const auto& [id, component] : manifest->components)
      for (const manifest::Artifact& artifact : component.artifacts)
        if (shipped::in_the_index(artifact) != nullptr) {
          EXPECT_TRUE(workspace->facts_of(artifact)) << id;
          EXPECT_TRUE(artifact.size) << id << " has no size";
        }
}

// A fact without an artifact is left over from a changed one.
TEST_F(Shipped, FactsAreOfShippedArtifacts) {
  std::set<std::string> known;
  for (const auto& manifest : all)
    for (const auto& [id, component] : manifest->components)
      for (const manifest::Artifact& artifact : component.artifacts)
        if (const auto facts = workspace->facts_of(artifact)) known.insert(facts->unpacked_as);
  for (const auto& entry : shipped::fs::directory_iterator(shipped::facts())) {
    if (entry.is_directory()) continue;  // what `engine-manifest follow` remembers of its plans
    const auto text = read_file(entry.path(), 8u << 20);
    ASSERT_TRUE(text);
    const auto document = parse_json(*text, path_text(entry.path()));
    ASSERT_TRUE(document);
    EXPECT_TRUE(known.contains((*document)["unpacked_as"].as_string())) << entry.path();
  }
}

}  // namespace
}  // namespace enginehost::publish
