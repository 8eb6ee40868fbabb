// docs/policy.md shows a policy file, records and a script; the product reads and writes the same.
#include <gmock/gmock.h>

#include "base/child_process.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "host/settings/audit.hpp"
#include "host/settings/consents.hpp"
#include "tests/settings/fixture.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::settings {
namespace {

class PolicyPage : public SettingsTest {
 protected:
  // The content of the first block of that kind.
  static std::string block(const std::string& kind) {
    const std::string page = *read_file(test::source_path("/docs/policy.md"));
    const std::size_t begin = page.find("```" + kind + "\n");
    if (begin == std::string::npos) return {};
    const std::size_t text = page.find('\n', begin) + 1;
    return page.substr(text, page.find("```", text) - text);
  }
  static std::vector<std::string> names(const Json& object) {
    std::vector<std::string> all;
    for (const auto& [name, value] : object.as_object()) all.push_back(name);
    return all;
  }
};

TEST_F(PolicyPage, ItsFileIsReadAndEveryKeyCounts) {
  system_file(block("json"));
  const Settings settings = load();
  EXPECT_TRUE(settings.warnings.empty()) << settings.warnings.front();
  EXPECT_EQ(settings.cache_max_bytes, 50'000'000'000u);
  EXPECT_EQ(settings.downloads.max_artifact_bytes, 4'000'000'000u);
  EXPECT_EQ(settings.policy.allowed_hosts->size(), 3u);
  EXPECT_TRUE(settings.policy.require_signatures);
  EXPECT_EQ(settings.policy.accepted_licenses.size(), 2u);
  const Json policy = (*parse_json(block("json"), "page"))["policy"];
  for (const std::string& key : names(policy)) {
    const bool shown = settings.find(key) != nullptr || settings.find("policy." + key) != nullptr;
    EXPECT_TRUE(shown || key == "locked" || key == "downloads") << key;
  }
  for (const char* key : {"repositories", "mirrors", "flavor", "offline", "cache", "extra_ca"})
    EXPECT_TRUE(settings.policy.locks(key)) << key;
}

TEST_F(PolicyPage, ItsConsentHasTheMembersThatAreWritten) {
  const Json shown = *parse_json(trim(block("consent")), "page");
  EXPECT_EQ(
      names(shown),
      names(to_json(Consent::now({"x", "https://x.example/", std::string(64, 'a')}, ConsentWay::flag))));
}

TEST_F(PolicyPage, ItsEventHasAllMembersAndItsScriptFollowsTheChain) {
  const auto add = [&](const char* event, const Json& facts) {
    return add_event(root_ / "state", 1u << 20, event, facts);
  };
  ASSERT_TRUE(add("install", Json::object().set("build", "b").set("digest", "d").set("repaired", false)));
  ASSERT_TRUE(add("remove", Json::object().set("build", "b \"quoted\" \\ ü").set("freed", 1)));
  const auto file = root_ / "state/audit/audit.jsonl";
  std::string text = *read_file(file);
  const Json written = *parse_json(text.substr(0, text.find('\n')), "log"),
             shown = *parse_json(trim(block("audit")), "page");
  EXPECT_EQ(names(shown), names(written));
  const auto script = [&] {
    ChildRequest request;
    request.argv = {"sh", "-c", "cd '" + file.parent_path().native() + "'\n" + block("sh")};
    const auto child = run_child(request);
    return child ? child->output : "";
  };
  EXPECT_EQ(script(), "whole\n");
  text.replace(text.find("install"), 7, "inspect");
  ASSERT_TRUE(write_file(file, text, false));
  EXPECT_THAT(script(), testing::StartsWith("changed: "));
}

}  // namespace
}  // namespace enginehost::settings
