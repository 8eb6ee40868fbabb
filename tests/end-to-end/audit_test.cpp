// The audit log records what a machine did, and a changed log is noticed.
#include <gmock/gmock.h>

#include "base/sha256.hpp"
#include "base/text.hpp"
#include "tests/end-to-end/fault.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/registry_server.hpp"

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

TEST_F(AuditLog, EachChangeIsALineThatFollowsTheOneBefore) {
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

TEST_F(AuditLog, RecordsExportsAndTrustChanges) {
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

TEST_F(AuditLog, RecordsAnAnswerToARequestAsAnExport) {
  TestBuild build = good_build();
  build.license = "vendor";
  TestRepository repository(workplace.folder() / "repository");
  repository.add(build);
  repository.write();
  const Workplace lab;
  const std::string asked = (workplace.folder() / "lab.request").native();
  ASSERT_EQ(lab.run("engine-cache", {"request", asked, "reference", "--json"}).status, 0);
  const Ended fulfilled =
      cache({"fulfil", asked, "--repository", repository.root().native(), "--accept-license",
             "LicenseRef-vendor", "--redistribute", "LicenseRef-vendor", "--json"});
  ASSERT_EQ(fulfilled.status, 0) << fulfilled.said();
  EXPECT_THAT(names(), ElementsAre("consent", "fetch", "install", "export"));
  const Json written = events().back();
  EXPECT_EQ(written["builds"].dump(), "[\"" + build.id + "\"]");
  EXPECT_EQ(written["folder"].as_string(), workplace.folder().native());
  EXPECT_EQ(written["files"].as_array()[0]["file"].as_string(), "lab.bundle");
  EXPECT_EQ(written["files"].as_array()[0]["sha256"].as_string(),
            sha256_hex(read_text(workplace.folder() / "lab.bundle")));
  EXPECT_EQ(written["redistribute"].dump(), "[\"LicenseRef-vendor\"]");
  EXPECT_EQ(written["application"].as_string(), "engine-cache");
  // A request alone changes nothing.
  EXPECT_FALSE(std::filesystem::exists(lab.cache() / "state"));
}

TEST_F(AuditLog, RecordsPushesThatTheRegistryAccepted) {
  if (!RegistryServer::installed()) GTEST_SKIP() << "docker-registry is not installed";
  TestBuild build = good_build();
  build.license = "vendor";
  TestRepository repository(workplace.folder() / "repository");
  repository.add(build);
  repository.write();
  ASSERT_EQ(cache({"fetch", "reference", "--repository", repository.root().native(), "--accept-license",
                   "LicenseRef-vendor", "--json"})
                .status,
            0);
  const RegistryServer registry;
  const std::string target = registry.host() + "/engines/reference:v1";
  const Ended refused = cache({"push", build.id, target, "--json"});
  EXPECT_EQ(refused.code(), "EH-P60") << refused.said();
  EXPECT_THAT(names(), ElementsAre("consent", "fetch", "install"));
  const Ended pushed = cache({"push", build.id, target, "--redistribute", "LicenseRef-vendor", "--json"});
  ASSERT_EQ(pushed.status, 0) << pushed.said();
  EXPECT_THAT(names(), ElementsAre("consent", "fetch", "install", "push"));
  const Json event = events().back();
  EXPECT_EQ(event["builds"].dump(), "[\"" + build.id + "\"]");
  EXPECT_EQ(event["reference"].as_string(), pushed.document["reference"].as_string());
  EXPECT_THAT(event["reference"].as_string(), HasSubstr(registry.host() + "/engines/reference"));
  EXPECT_EQ(event["redistribute"].dump(), "[\"LicenseRef-vendor\"]");
}

TEST_F(AuditLog, RecordsPinsAndRepairedFilesOnce) {
  const TestBuild build = good_build();
  TestRepository repository(workplace.folder() / "repository");
  repository.add(build);
  repository.write();
  const std::string place = repository.root().native();
  const Ended fetched = cache({"fetch", "reference", "--repository", place, "--json"});
  ASSERT_EQ(fetched.status, 0) << fetched.said();
  for (const char* command : {"pin", "pin", "unpin", "unpin"})
    ASSERT_EQ(cache({command, build.id, "--json"}).status, 0) << command;
  const std::filesystem::path library =
      std::filesystem::path(fetched.document["fetched"].as_array().at(0)["folder"].as_string()) /
      "libengine_reference.so";
  std::filesystem::remove(library);
  const Ended repaired = cache({"verify", "--deep", "--repair", "--repository", place, "--json"});
  ASSERT_EQ(repaired.status, 0) << repaired.said();
  ASSERT_EQ(cache({"verify", "--deep", "--repair", "--repository", place, "--json"}).status, 0);
  EXPECT_THAT(names(), ElementsAre("fetch", "install", "pin", "unpin", "mend"));
  const std::vector<Json> all = events();
  EXPECT_EQ(all[2]["build"].as_string(), build.id);
  EXPECT_EQ(all[3]["build"].as_string(), build.id);
  EXPECT_EQ(all[4]["build"].as_string(), build.id);
  const Json& file = all[4]["files"].as_array().at(0);
  EXPECT_EQ(file["file"].as_string(), "libengine_reference.so");
  EXPECT_EQ(file["from"].as_string(), "the tree");
}

TEST_F(AuditLog, RecordsAnImportWithItsLayer) {
  TestRepository repository(workplace.folder() / "repository");
  repository.add(good_build());
  repository.write();
  const Workplace connected;
  const std::string bundle = (connected.folder() / "site.bundle").native();
  const std::vector<std::string> from = {"--repository", repository.root().native()};
  ASSERT_EQ(connected.run("engine-cache", {"fetch", "reference", from[0], from[1]}).status, 0);
  ASSERT_EQ(connected.run("engine-cache", {"export", bundle, "reference-good", from[0], from[1]}).status, 0);
  workplace.configure(Json::object()
                          .set("repositories_default", false)
                          .set("system_layers", Json::array().push((workplace.folder() / "layer").native())));
  const Ended imported = cache({"import", bundle, "--layer", "system", "--unsigned", "--json"});
  ASSERT_EQ(imported.status, 0) << imported.said();
  EXPECT_THAT(names(), ElementsAre("import"));
  EXPECT_EQ(events()[0]["build"].as_string(), "reference-good");
  EXPECT_EQ(events()[0]["layer"].as_string(), (workplace.folder() / "layer").native());
  EXPECT_EQ(events()[0]["digest"].as_string(),
            imported.document["builds"].as_array().at(0)["digest"].as_string());
}

TEST_F(AuditLog, VerifyNoticesAChangedLine) {
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
  const Ended ended = cache({"verify"});
  EXPECT_EQ(ended.status, 7);
  EXPECT_THAT(ended.output + ended.error, HasSubstr("line 2"));
  EXPECT_THAT(ended.error, HasSubstr("EH-P04"));
}

TEST_F(AuditLog, RecordsASourceWithWrongBytesWithoutItsSecrets) {
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
