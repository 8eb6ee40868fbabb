// A cache and a repository for each test, and opening from them as an application would.
#pragma once
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "base/paths.hpp"
#include "host/open/open.hpp"
#include "host/open/shared.hpp"
#include "host/settings/places.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/sdk/environment.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::open {

// Offers a build whose only source does not answer, and makes one try enough to find that out.
inline void offer_out_of_reach(test::TestRepository& repository, const std::string& id,
                               const std::string& flavor, const std::string& version) {
  test::TestBuild build = test::good_build(id);
  build.flavor = flavor;
  build.version = version;
  repository.add_with_artifacts(
      build, Json::array().push(Json::object()
                                    .set("sha256", std::string(64, 'a'))
                                    .set("size", 100)
                                    .set("archive", "none")
                                    .set("path", test::plugin_name)
                                    .set("sources", Json::array().push(Json::object().set(
                                                        "url", "http://127.0.0.1:9/" + id)))));
  repository.write();
  test::write_text(test::config_of_tests(),
                   "{\"repositories_default\": false, \"downloads\": {\"retries\": 0}}");
}

class LoadOrder : public testing::Test {
 protected:
  LoadOrder() : repository_(folder_ / "repository") {
    flags_.cache = path_text(folder_ / "cache");
    flags_.repositories = {path_text(repository_.root())};
    // A copy, which a test may change as an update would.
    helper_ = folder_ / (std::string("enginehost-probe") + test::program_ending);
    std::vector<std::string> warnings;
    std::filesystem::copy_file(
        settings::default_helper(settings::Environment::of_this_process(), warnings)->folder, helper_);
    flags_.helper = path_text(helper_);
    test::write_text(test::config_of_tests(), "{\"repositories_default\": false}");
    repository_.add(test::good_build());
    repository_.write();
    request_.request.engine = "reference";
  }
  ~LoadOrder() override { std::filesystem::remove(test::config_of_tests()); }

  settings::Settings settings() const {
    auto read = settings::load_settings(flags_, settings::Environment::of_this_process());
    EXPECT_TRUE(read);
    return read ? std::move(*read) : settings::Settings();
  }
  // Opens as a process without an open engine would. The engine is closed again; its context is kept.
  Outcome open() {
    DecisionCache decisions = decisions_for(flags_, request_);
    context_ = std::make_unique<OpenContext>(settings());
    return open_cached(*context_, request_, decisions);
  }
  // Opens until a cached decision is used: files must have been at rest for a while before one is stored.
  void open_until_ready() {
    const auto begin = std::chrono::steady_clock::now();
    while (!open().by_cached_decision) {
      ASSERT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20))
          << "no cached decision is ever stored";
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
  std::filesystem::path state() const { return settings().state_folder; }
  std::filesystem::path decisions() const { return folder_ / "cache" / "state" / "decisions"; }
  std::filesystem::path decision_file() const {
    std::error_code error;
    const std::filesystem::directory_iterator first(decisions(), error);
    return first == std::filesystem::directory_iterator() ? std::filesystem::path() : first->path();
  }
  std::filesystem::path view_of(const Outcome& outcome) const { return outcome.opened->installed.folder; }

  test::TemporaryFolder folder_;
  test::TestRepository repository_;
  std::filesystem::path helper_;
  settings::FlagValues flags_;
  OpenRequest request_;
  std::unique_ptr<OpenContext> context_;
};

}  // namespace enginehost::open
