// Passwords and tokens in URLs serve downloads, and are in nothing that is printed or written.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "tests/end-to-end/served.hpp"
#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// The server gives the build's archive only with a token in the query.
class Secrets : public testing::Test {
 protected:
  void publish(const std::string& query = "token=SECRETTOKEN&jwt=SECRETJWT&x=SECRETVALUE") {
    const std::string url = served_.server.url(served_.path().substr(1));
    served_.publish(Json::array().push(Json::object().set(
        "url", "http://me:SECRETWORD@" + url.substr(std::string("http://").size()) + "?" + query)));
  }
  std::string location() const {
    return "http://you:SECRETREPOSITORY@" + served_.location().substr(std::string("http://").size());
  }
  Ended run(const std::string& command, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--repository", location(), "--allow-unsigned"});
    const Ended ended = workplace_.run(command, std::move(arguments));
    EXPECT_EQ((ended.output + ended.error).find("SECRET"), std::string::npos) << ended.said();
    return ended;
  }
  void expect_no_secret_in_files() const {
    for (const auto& entry : fs::recursive_directory_iterator(workplace_.folder())) {
      // A repository's documents are kept as their publisher wrote them.
      const bool is_document = entry.path().native().find("/repositories/") != std::string::npos;
      if (entry.is_regular_file() && !is_document)
        EXPECT_EQ(read_text(entry.path()).find("SECRET"), std::string::npos) << entry;
    }
  }
  // The record's file among the installed ones.
  fs::path installed_data() const {
    for (const auto& entry : fs::recursive_directory_iterator(workplace_.cache() / "trees"))
      if (entry.path().filename() == "data.bin") return entry.path();
    return {};
  }

  Served served_{"location /repository/files { if ($arg_token != \"SECRETTOKEN\") { return 403; } }"};
  Workplace workplace_;
};

TEST_F(Secrets, AreInNoScreenDocumentOrRecord) {
  publish();
  EXPECT_EQ(run("engine-info", {"reference", "--verbose"}).status, 0);
  EXPECT_EQ(run("engine-info", {"reference", "--json"}).status, 0);
  EXPECT_EQ(run("engine-info", {"reference", "--plan", "--explain", "--json"}).status, 0);
  EXPECT_EQ(run("engine-cache", {"fetch", "reference", "--keep", "--json"}).status, 0);
  EXPECT_EQ(run("engine-cache", {"verify", "--deep", "--json"}).status, 0);
  run("engine-cache", {"licenses", "list"});
  run("engine-cache", {"list", "--json"});
  expect_no_secret_in_files();
}

TEST_F(Secrets, AreInNoFailureOfASource) {
  publish("token=SECRETWRONG");
  const Ended refused = run("engine-info", {"reference", "--json"});
  EXPECT_EQ(refused.code(), "EH-N04") << refused.said();
  EXPECT_THAT(evidence(refused.diagnosis(), "source_tried"), HasSubstr(served_.path()));
  EXPECT_THAT(run("engine-info", {"reference"}).said(), HasSubstr("EH-N04"));
  run("engine-info", {"reference", "--refresh", "--verbose"});
  expect_no_secret_in_files();
}

TEST_F(Secrets, AreInNoBundle) {
  publish();
  ASSERT_EQ(run("engine-cache", {"fetch", "reference", "--keep", "--json"}).status, 0);
  for (const bool configured : {false, true}) {
    const fs::path bundle = workplace_.folder() / (configured ? "two.bundle" : "one.bundle");
    if (configured)
      workplace_.configure(
          Json::object()
              .set("repositories_default", false)
              .set("repositories",
                   Json::array().push(
                       Json::object().set("location", served_.location()).set("unsigned", true))));
    const Ended exported =
        workplace_.run("engine-cache", {"export", bundle.native(), "reference-good", "--json"});
    ASSERT_EQ(exported.status, 0) << exported.said();
    ChildRequest unpack;
    unpack.argv = {"sh", "-c", "zstd -dcq '" + bundle.native() + "' || cat '" + bundle.native() + "'"};
    unpack.output_bytes = 64u << 20;
    const auto content = run_child(unpack);
    ASSERT_TRUE(content);
    EXPECT_THAT(content->output, HasSubstr(served_.path())) << "the place without its query";
    EXPECT_EQ(content->output.find("SECRET"), std::string::npos);
  }
}

TEST_F(Secrets, ServeAResumedDownload) {
  publish();
  write_text(workplace_.cache() / "partial" / served_.digest,
             served_.archive.substr(0, served_.archive.size() / 2));
  EXPECT_EQ(run("engine-info", {"reference", "--json"}).status, 0);
  EXPECT_EQ(served_.server.requests("GET " + served_.path()), 1);
  EXPECT_THAT(served_.server.log(), HasSubstr(" 206 "));
}

TEST_F(Secrets, ServeARepair) {
  publish();
  ASSERT_EQ(run("engine-cache", {"fetch", "reference", "--keep", "--json"}).status, 0);
  const fs::path data = installed_data();
  const std::string before = read_text(data);
  fs::permissions(data, fs::perms::owner_all);
  write_text(data, "damaged");
  const Ended repaired = run("engine-cache", {"verify", "--repair", "--json"});
  EXPECT_EQ(repaired.status, 0) << repaired.said();
  EXPECT_EQ(read_text(installed_data()), before);
  expect_no_secret_in_files();
}

}  // namespace
}  // namespace enginehost::test
