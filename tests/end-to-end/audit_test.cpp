// What a machine did is in its audit log, and a changed log is noticed.
#include <gmock/gmock.h>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class AuditLog : public testing::Test {
 protected:
  std::filesystem::path file() const {
    for (const auto& entry : std::filesystem::directory_iterator(workplace.cache() / "state"))
      return entry.path() / "audit" / "audit.jsonl";
    return {};
  }
  std::vector<Json> events() const {
    std::vector<Json> all;
    for (const std::string& line : split(std::string(trim(read_text(file()))), '\n'))
      all.push_back(parse_json(line, "audit").value());
    return all;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Json& event : events()) all.push_back(event["event"].as_string());
    return all;
  }
  Ended cache(std::vector<std::string> arguments) const { return workplace.run("engine-cache", arguments); }

  Workplace workplace;
};

TEST_F(AuditLog, EveryChangeIsALineThatFollowsTheOneBefore) {
  TestBuild build = good_build();
  build.license = "vendor";
  TestRepository repository(workplace.folder() / "repository");
  repository.add(build);
  repository.write();
  const std::string place = repository.root().native();
  ASSERT_EQ(
      workplace.info({"reference", "--repository", place, "--accept-license", "LicenseRef-vendor", "--json"})
          .status,
      0);
  ASSERT_EQ(workplace.info({"reference", "--repository", place, "--json"}).status, 0) << "nothing changed";
  ASSERT_EQ(cache({"quarantine", "disable", build.id, "--json"}).status, 0);
  ASSERT_EQ(cache({"quarantine", "enable", build.id, "--json"}).status, 0);
  ASSERT_EQ(cache({"quarantine", "clear", build.id, "--json"}).status, 0);
  ASSERT_EQ(workplace.info({"reference", "--repository", place, "--no-probe", "--json"}).status, 0);
  ASSERT_EQ(cache({"remove", build.id, "--json"}).status, 0);
  EXPECT_THAT(names(), ElementsAre("consent", "fetch", "install", "quarantine_disable", "quarantine_enable",
                                   "quarantine_clear", "load_unproven", "remove"));
  EXPECT_EQ(events()[0]["how"].as_string(), "flag");
  EXPECT_EQ(events()[1]["bytes"].as_integer(), static_cast<std::int64_t>(reference_plugin().size()));
  EXPECT_FALSE(events()[2]["digest"].as_string().empty());
  EXPECT_EQ(events()[6]["build"].as_string(), build.id);
  EXPECT_EQ(events()[7]["application"].as_string(), "engine-cache");
  const Ended verified = cache({"verify", "--json"});
  EXPECT_EQ(verified.status, 0) << verified.said();
  EXPECT_TRUE(verified.document["audit"]["ok"].as_bool());
  EXPECT_EQ(verified.document["audit"]["events"].as_integer(), 8);
}

TEST_F(AuditLog, WhatLeavesTheMachineAndWhomItTrustsIsOnRecord) {
  TestBuild build = good_build();
  build.license = "vendor";
  TestRepository repository(workplace.folder() / "repository");
  repository.add(build);
  repository.write();
  ASSERT_EQ(cache({"fetch", "reference", "--repository", repository.root().native(), "--accept-license",
                   "LicenseRef-vendor", "--json"})
                .status,
            0);
  const std::string bundle = (workplace.folder() / "out" / "site.bundle").native();
  std::filesystem::create_directories(workplace.folder() / "out");
  ASSERT_EQ(cache({"export", bundle, build.id, "--redistribute", "LicenseRef-vendor", "--json"}).status, 0);
  const std::string layout = (workplace.folder() / "layout").native();
  ASSERT_EQ(cache({"export", layout, build.id, "--oci", "--redistribute", "LicenseRef-vendor"}).status, 0);
  // The key of minisign's documentation.
  const std::string key = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
  const Ended trusted = cache({"trust", "add", key, "--repository", "https://engines.example/r", "--json"});
  ASSERT_EQ(trusted.status, 0) << trusted.said();
  const std::string id = trusted.document["added"].as_string();
  ASSERT_EQ(cache({"trust", "remove", id}).status, 0);
  ASSERT_EQ(cache({"gc", "--max-age", "0", "--dry-run"}).status, 0);
  ASSERT_EQ(cache({"gc", "--max-age", "0"}).status, 0);
  ASSERT_EQ(cache({"gc", "--max-age", "0"}).status, 0) << "nothing is left to go";
  ASSERT_EQ(cache({"import", bundle, "--accept-license", "LicenseRef-vendor"}).status, 0);
  EXPECT_THAT(names(), ElementsAre("consent", "fetch", "install", "export", "export", "trust_add",
                                   "trust_remove", "gc", "import"));
  const std::vector<Json> all = events();
  EXPECT_EQ(all[3]["builds"].dump(), "[\"" + build.id + "\"]");
  EXPECT_EQ(all[3]["files"].as_array()[0]["file"].as_string(), "site.bundle");
  EXPECT_EQ(all[3]["files"].as_array()[0]["sha256"].as_string(), sha256_hex(read_text(bundle)));
  EXPECT_EQ(all[3]["redistribute"].dump(), "[\"LicenseRef-vendor\"]");
  EXPECT_EQ(all[4]["folder"].as_string(), layout);
  EXPECT_EQ(all[5]["key_id"].as_string(), id);
  EXPECT_EQ(all[5]["repositories"].dump(), "[\"https://engines.example/r\"]");
  EXPECT_EQ(all[6]["key_id"].as_string(), id);
  EXPECT_EQ(all[7]["builds"].dump(), "[\"" + build.id + "\"]");
  EXPECT_GT(all[7]["freed"].as_integer(), 0);
  EXPECT_TRUE(cache({"verify", "--json"}).document["audit"]["ok"].as_bool());
}

TEST_F(AuditLog, AChangedLineIsNoticedByVerify) {
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  ASSERT_EQ(workplace.info({"reference", "--repository", repository.root().native(), "--json"}).status, 0);
  ASSERT_EQ(cache({"remove", "reference-good", "--json"}).status, 0);
  std::string text = read_text(file());
  text.replace(text.find("reference-good"), 14, "reference-goof");
  write_text(file(), text);
  const Ended verified = cache({"verify", "--json"});
  EXPECT_EQ(verified.status, 7) << verified.said();
  EXPECT_FALSE(verified.document["audit"]["ok"].as_bool(true));
  const Ended told = cache({"verify"});
  EXPECT_EQ(told.status, 7);
  EXPECT_THAT(told.output + told.error, HasSubstr("line 2"));
  EXPECT_THAT(told.error, HasSubstr("EH-P04"));
}

TEST_F(AuditLog, ASourceWithWrongBytesIsOnRecordWithoutItsSecrets) {
  Served served;
  write_text(served.server.root() / "wrong", std::string(served.archive.size(), 'x'));
  std::string secret = served.server.url("wrong?token=hush");
  secret.insert(secret.find("://") + 3, "me:hush@");
  served.publish(
      Json::array().push(Json::object().set("url", secret)).push(served.repository.source_of(served.digest)));
  ASSERT_EQ(workplace.info(served.arguments()).status, 0);
  EXPECT_THAT(names(), ElementsAre("fetch", "fetch", "install"));
  EXPECT_FALSE(events()[0]["ok"].as_bool(true));
  EXPECT_EQ(events()[0]["code"].as_string(), "EH-N08");
  EXPECT_EQ(events()[0]["url"].as_string(), served.server.url("wrong"));
  EXPECT_TRUE(events()[1]["ok"].as_bool());
  EXPECT_THAT(read_text(file()), Not(HasSubstr("hush")));
}

}  // namespace
}  // namespace enginehost::test
