// A request with a lock file through the C API.
#include <chrono>
#include <thread>

#include "base/json.hpp"
#include "tests/sdk/fixture.hpp"

namespace enginehost::test {
namespace {

class SdkWithLock : public Sdk {
 protected:
  SdkWithLock() {
    publish();
    TestBuild newer = good_build("reference-newer");
    newer.version = "2.0.0";
    repository_.add(newer);
    repository_.write();
  }
  void write_lock(const std::string& build, const std::string& version, const std::string& sha256) const {
    const Json manifest = *parse_json(read_text(repository_.root() / "reference.json"), "manifest");
    const Json& row = manifest["builds"].as_array().at(0);
    const Json component = Json::object()
                               .set("component", build + "-0")
                               .set("files", Json::array().push(Json::object().set("sha256", sha256)));
    const Json entry = Json::object()
                           .set("platform", row["os"].as_string() + "-" + row["arch"].as_string())
                           .set("engine", "reference")
                           .set("build", build)
                           .set("version", version)
                           .set("flavor", "cpu")
                           .set("components", Json::array().push(component));
    write_text(lock_, Json::object().set("format", 1).set("engines", Json::array().push(entry)).dump());
  }
  std::string build_of(const enginehost_request& asked) {
    const auto engine = open(asked);
    return engine != nullptr ? std::string(enginehost_engine_build(engine.get())) : code();
  }

  const std::string lock_ = path_text(folder_ / "enginehost.lock");
  const std::string digest_ = repository_.store(reference_plugin());
};

TEST_F(SdkWithLock, OpensWhatTheFileNames) {
  write_lock("reference-good", "1.0.0", digest_);
  enginehost_request locked = request(), newest = request();
  locked.lock = lock_.c_str();
  newest.update = "open";
  EXPECT_EQ(build_of(locked), "reference-good") << said();
  EXPECT_EQ(build_of(newest), "reference-newer") << said();
  const auto stays_open = open(locked);
  ASSERT_NE(stays_open, nullptr) << said();
  EXPECT_STREQ(enginehost_engine_build(stays_open.get()), "reference-good");
  // The same name with other content must not share the engine that is open.
  write_lock("reference-newer", "2.0.0", digest_);
  EXPECT_EQ(build_of(locked), "reference-newer") << said();
  write_lock("reference-good", "1.0.0", std::string(64, '0'));
  EXPECT_EQ(build_of(locked), "EH-S41");
  locked.lock = "/no/such.lock";
  EXPECT_EQ(build_of(locked), "EH-P47");
}

TEST_F(SdkWithLock, KeepsNoDecisionLongerThanTheFile) {
  const enginehost_request asked = request();
  EXPECT_EQ(build_of(asked), "reference-newer");
  write_lock("reference-good", "1.0.0", digest_);
  write_text(configuration_, Json::object().set("repositories_default", false).set("lock", lock_).dump());
  // A decision is kept once the files have been at rest for a while.
  bool kept = false;
  for (int tries = 0; tries < 100 && !kept; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const auto engine = open(asked);
    ASSERT_NE(engine, nullptr) << said();
    EXPECT_STREQ(enginehost_engine_build(engine.get()), "reference-good");
    kept = std::string(enginehost_engine_report(engine.get())).find("\"ticket\"") != std::string::npos;
  }
  EXPECT_TRUE(kept);
  write_lock("reference-newer", "2.0.0", digest_);
  EXPECT_EQ(build_of(asked), "reference-newer");
}

}  // namespace
}  // namespace enginehost::test
