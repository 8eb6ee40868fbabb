// A license is accepted by its id, for the text that it was accepted with, and never by its key in a
// manifest.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/sha256.hpp"
#include "tests/end-to-end/policies.hpp"
#include "tests/end-to-end/publisher.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LicenseIds : public testing::Test {
 protected:
  // A build under LicenseRef-vendor, whose key in the manifest is `key`.
  void publish(const std::string& text, const std::string& key = "vendor") {
    write_text(workplace_.folder() / "text", text);
    TestBuild build = good_build();
    build.license = key;
    build.terms = Json::object()
                      .set("id", "LicenseRef-vendor")
                      .set("url", "https://licenses.example/vendor")
                      .set("sha256", sha256_hex(text))
                      .set("accept", "explicit");
    TestRepository repository(workplace_.folder() / "repository");
    repository.add(build);
    repository.write();
  }
  Ended run(const std::string& command, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(),
                     {"--repository", (workplace_.folder() / "repository").native(), "--json"});
    return workplace_.run(command, std::move(arguments));
  }
  Ended open(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), "reference");
    return run("engine-info", std::move(more));
  }
  Ended accept(const std::string& id) const {
    return run("engine-cache", {"licenses", "accept", id, "--text", (workplace_.folder() / "text").native()});
  }
  void remove() const {
    ASSERT_EQ(workplace_.run("engine-cache", {"remove", "reference-good", "--json"}).status, 0);
  }

  Workplace workplace_;
};

// The flag gives an id, and nobody was shown the new text.
TEST_F(LicenseIds, HoldForTheTextThatWasAccepted) {
  const std::vector<std::string> flag = {"--accept-license", "LicenseRef-vendor"};
  publish("one\n");
  ASSERT_EQ(open(flag).status, 0);
  remove();
  publish("two\n");
  const Ended changed = open(flag);
  EXPECT_EQ(changed.status, 8) << changed.said();
  EXPECT_EQ(changed.code(), "EH-P03");
  EXPECT_FALSE(evidence(changed.diagnosis(), "accepted_before").empty());
  EXPECT_THAT(changed.diagnosis()["remedy"].dump(),
              AllOf(HasSubstr("engine-cache licenses accept"), Not(HasSubstr("--accept-license"))));
  ASSERT_EQ(accept("LicenseRef-vendor").status, 0);
  EXPECT_EQ(open().status, 0);
  remove();
  publish("one\n");
  EXPECT_EQ(open().status, 0) << "the first text is still accepted";
}

// The publisher chooses the key, for example that of a license that many accept.
TEST_F(LicenseIds, AreNotTheKeysOfManifests) {
  publish("one\n", "BSD-3-Clause");
  for (const char* id : {"BSD-3-Clause", "LicenseRef-vendo", "licenseref-vendor", "LicenseRef-vendor "})
    EXPECT_EQ(open({"--accept-license", id}).code(), "EH-P03") << id;
  EXPECT_EQ(accept("BSD-3-Clause").code(), "EH-P07");
  EXPECT_EQ(open({"--accept-license", "LicenseRef-vendor"}).status, 0);
}

class SignedLicensePolicy : public Publisher {};

// A key that is trusted for the engine says under which license its files are.
TEST_F(SignedLicensePolicy, AcceptsALicenseByItsId) {
  if (!can_mount()) GTEST_SKIP() << "a policy needs a /etc of its own, and with it the right to mount";
  const std::string place = (publisher_ / "repository/engines/reference.json").native();
  publish_signed();
  Json manifest = parse_json(read_text(place), place).value();
  Json licenses = Json::object();
  for (const auto& [key, license] : manifest["licenses"].as_object())
    licenses.set(key, Json::object()
                          .set("id", "LicenseRef-vendor")
                          .set("url", "https://licenses.example/vendor")
                          .set("sha256", std::string(64, 'a'))
                          .set("accept", "explicit"));
  write_text(place, manifest.set("licenses", std::move(licenses)).dump(1));
  sh("engine-manifest sign repository --key key.key\nengine-manifest publish repository /srv/www/engines");
  RunOptions options;
  const auto code_with = [&](const char* id) {
    options.launcher = with_system_file(
        user_, Json::object().set("policy", Json::object().set("accept_licenses", Json::strings({id}))));
    return user_.info({"reference", "--refresh", "--json"}, options).code();
  };
  EXPECT_EQ(code_with("LicenseRef-other"), "EH-P03");
  EXPECT_EQ(code_with("LicenseRef-vendor"), "");
}

}  // namespace
}  // namespace enginehost::test
