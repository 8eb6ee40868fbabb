// An engine's log messages reach the application that opened it.
#include <enginehost/enginehost.hpp>
#include <mutex>

#include "tests/sdk/played_engine.hpp"

namespace enginehost::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A warning of EngineHost itself: the plugin has another name than its manifest.
const char* const warned =
    "30 enginehost: EH-R12 libengine_reference.so is a plugin for played, but its manifest names reference";

class LogCallback : public PlayedEngine {
 protected:
  struct Reported {
    std::mutex mutex;
    std::vector<std::string> lines;
  };
  void SetUp() override {
    PlayedEngine::SetUp();
    cache_ = path_text(folder_ / "other cache");  // nothing is proven there
    set_variable("DEVICE_BEHAVIOR", "logs");
  }
  enginehost_request listening(Reported& reported) const {
    enginehost_request request = this->request();
    request.user_data = &reported;
    request.on_log = [](const enginehost_log* message, void* data) {
      EXPECT_EQ(message->size, sizeof *message);
      auto* into = static_cast<Reported*>(data);
      const std::lock_guard lock(into->mutex);
      into->lines.push_back(std::string(message->in_probe != 0 ? "probe " : "") +
                            std::to_string(message->level) + " " + message->topic + ": " + message->message);
    };
    return request;
  }
  static std::vector<std::string> take(Reported& reported) {
    const std::lock_guard lock(reported.mutex);
    return std::exchange(reported.lines, {});
  }
  static void test(enginehost_engine* engine) {
    EXPECT_EQ(enginehost_engine_self_test(engine, 0, "cpu", nullptr), ENGINEHOST_OK);
  }
};

TEST_F(LogCallback, GetsTheConfiguredLevelAndTheProbesMessages) {
  Reported reported;
  auto engine = open(listening(reported));
  ASSERT_TRUE(engine) << said();
  const auto of_probe = take(reported);
  EXPECT_THAT(of_probe,
              testing::IsSupersetOf({"probe 30 played: made", "probe 30 : tested", "30 played: made"}));
  EXPECT_THAT(of_probe, testing::Each(testing::Not(HasSubstr("details"))));
  test(engine.get());
  EXPECT_THAT(take(reported), ElementsAre("30 : tested"));
  // The build is proven, so no probe runs.
  engine.reset();
  ASSERT_TRUE(engine = open(listening(reported))) << said();
  EXPECT_THAT(take(reported), ElementsAre("30 played: made", warned));
}

TEST_F(LogCallback, UsesTheLevelOfTheRequest) {
  Reported reported;
  enginehost_request request = listening(reported);
  request.no_probe = 1;
  request.log_level = ENGINEHOST_LOG_DEBUG;
  ASSERT_TRUE(open(request)) << said();
  EXPECT_THAT(take(reported), ElementsAre("10 played: details", "30 played: made", warned));
  request.log_level = ENGINEHOST_LOG_ERROR;
  ASSERT_TRUE(open(request)) << said();
  EXPECT_THAT(take(reported), IsEmpty());
  request.log_level = 7;
  EXPECT_FALSE(open(request));
  EXPECT_EQ(status_, ENGINEHOST_INVALID);
  EXPECT_THAT(said(), HasSubstr("request.log_level: it is 7"));
}

TEST_F(LogCallback, UsesTheConfiguredLevelWithoutOneInTheRequest) {
  write_text(configuration_, "{\"repositories_default\": false, \"log\": \"debug\"}");
  Reported reported;
  enginehost_request request = listening(reported);
  request.no_probe = 1;
  ASSERT_TRUE(open(request)) << said();
  EXPECT_THAT(take(reported), ElementsAre("10 played: details", "30 played: made", warned));
}

// Until a handle is freed.
TEST_F(LogCallback, EveryHandleOfASharedEngineGetsTheMessages) {
  Reported first, second;
  auto one = open(listening(first));
  ASSERT_TRUE(one) << said();
  auto other = open(listening(second));
  ASSERT_TRUE(other) << said();
  EXPECT_THAT(take(second), IsEmpty()) << "it was open already";
  take(first);
  test(one.get());
  EXPECT_THAT(take(first), ElementsAre("30 : tested"));
  EXPECT_THAT(take(second), ElementsAre("30 : tested"));
  one.reset();
  test(other.get());
  EXPECT_THAT(take(first), IsEmpty());
  EXPECT_THAT(take(second), ElementsAre("30 : tested"));
}

TEST_F(LogCallback, IsNotReadFromAnOlderRequest) {
  Reported reported;
  enginehost_request older = listening(reported);
  older.size = offsetof(enginehost_request, on_log);
  const auto engine = open(older);
  ASSERT_TRUE(engine) << said();
  test(engine.get());
  EXPECT_THAT(take(reported), IsEmpty());
}

TEST_F(LogCallback, WorksInCpp) {
  sdk::Request request;
  request.engine = "reference";
  request.cache = cache_;
  request.repositories = {repository_path_};
  request.probe = false;
  request.log_level = ENGINEHOST_LOG_DEBUG;
  std::vector<std::string> lines;
  request.on_log = [&](const enginehost_log& message) { lines.emplace_back(message.message); };
  sdk::Engine engine = sdk::Engine::open(request);
  engine.self_test(0, "cpu");
  EXPECT_THAT(lines, ElementsAre("details", "made", HasSubstr("EH-R12"), "tested"));
}

}  // namespace
}  // namespace enginehost::test
