// The fixture of the tests of the table of attacks (docs/threat-model.md): a user, and a layer that an
// administrator maintains.
#pragma once
#include <gmock/gmock.h>

#include "tests/end-to-end/trust_site.hpp"

namespace enginehost::test {

// More than the largest step above serial 1 (docs/publishing.md).
constexpr std::int64_t far_serial = 2 + (std::int64_t{1} << 32);

class TrustTable : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (has_minisign()) site = std::make_unique<TrustSite>();
  }
  static void TearDownTestSuite() { site.reset(); }
  void SetUp() override {
    if (!has_minisign()) GTEST_SKIP() << "minisign is not installed";
    ASSERT_TRUE(site) << "the publisher's commands failed";
    use_repository(true);
  }

  // The layer always counts, the repository only if it is configured.
  void use_repository(bool configured) const {
    Json repositories = Json::array();
    if (configured) repositories.push(site->location());
    user.configure(Json::object()
                       .set("repositories_default", false)
                       .set("repositories", std::move(repositories))
                       .set("system_layers", Json::array().push(layer.native())));
  }
  void trust(const std::string& key = "safe") const {
    const Ended ended = cache({"trust", "add", site->key(key), "--repository", site->location()});
    EXPECT_EQ(ended.status, 0) << ended.said();
  }
  Ended cache(std::vector<std::string> arguments) const {
    return user.run("engine-cache", std::move(arguments));
  }
  Ended open(const std::string& engine = "reference", std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {engine, "--json"});
    return user.info(std::move(more));
  }
  Ended open_offline(const std::string& engine = "reference") const { return open(engine, {"--offline"}); }
  // Reads what is served now, and installs nothing.
  void read_repository() const {
    const Ended read = open("reference", {"--plan", "--refresh"});
    EXPECT_EQ(read.status, 0) << read.said();
    an_hour_passes();
  }
  // The next request asks the server, because copies count for an hour.
  void an_hour_passes() const { std::filesystem::remove_all(user.cache() / "repositories"); }

  // An import for everybody, which accepts nothing unsigned. No repository is configured from then on.
  Ended import(const std::string& bundle) const {
    use_repository(false);
    return cache({"import", bundle, "--layer", "system", "--json"});
  }
  // The administrator works on the layer itself.
  Ended maintain(const std::string& command, std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--cache", layer.native()});
    Ended ended = administrator.run(command, std::move(arguments));
    EXPECT_EQ(ended.status, 0) << ended.said();
    return ended;
  }
  // The layer gets the key and the newest build that is served now.
  void fill_layer(const std::string& engine = "reference") const {
    maintain("engine-cache", {"trust", "add", site->key("safe"), "--repository", site->location()});
    maintain("engine-cache", {"fetch", engine, "--repository", site->location()});
  }

  // No build of that cache can be opened.
  static void expect_empty(const std::filesystem::path& cache) {
    for (const char* folder : {"refs", "views"}) {
      std::error_code error;
      for (const auto& entry : std::filesystem::directory_iterator(cache / folder, error))
        ADD_FAILURE() << entry.path() << " is there";
    }
  }
  static void expect_opened(const Ended& run, const std::string& build, std::size_t signers = 1) {
    ASSERT_EQ(run.status, 0) << run.said();
    EXPECT_EQ(run.outcome()["state"].as_string(), "opened");
    EXPECT_EQ(run.outcome()["build"].as_string(), build);
    EXPECT_EQ(run.outcome()["origin"]["signed_by"].as_array().size(), signers) << run.said();
  }
  // Nothing came into the user's cache.
  void expect_refused(const Ended& run, const std::string& code) const {
    EXPECT_NE(run.status, 0) << run.said();
    EXPECT_EQ(run.code(), code) << run.said();
    EXPECT_NE(run.outcome()["state"].as_string(), "opened");
    expect_empty(user.cache());
  }
  void expect_blocked(const Ended& run) const {
    expect_refused(run, "EH-S01");
    EXPECT_EQ(evidence(run.diagnosis(), "first_code"), "EH-M14") << run.said();
    EXPECT_THAT(evidence(run.diagnosis(), "reason"), testing::HasSubstr("computes wrong sums"));
  }
  // Nothing came into the layer either, and nothing opens afterwards.
  void expect_import_refused(const Ended& run, const std::string& code) const {
    expect_refused(run, code);
    expect_empty(layer);
    EXPECT_NE(open_offline().status, 0);
  }
  // The layer's build opens as before, and the repository gives nothing new.
  void expect_only_the_layer_serves(const std::string& build, const std::string& code) const {
    const Ended run = open();
    expect_opened(run, build);
    EXPECT_THAT(run.document["warnings"].dump(), testing::HasSubstr(code));
    expect_empty(user.cache());
    expect_refused(open("reference@9"), code);
  }
  // Another byte in the middle of the file.
  static std::string damage(const std::filesystem::path& file) {
    std::string before = read_text(file), bytes = before;
    bytes[bytes.size() / 2] ^= 1;
    write_text(file, bytes);
    return before;
  }

  inline static std::unique_ptr<TrustSite> site;
  const Workplace user, administrator;
  const std::filesystem::path layer = administrator.folder() / "layer";
};

}  // namespace enginehost::test
