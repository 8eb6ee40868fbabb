// Watched devices: their loss and their return are reported once each, also to an application that makes no
// call.
#include <enginehost/enginehost.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/sdk/fixture.hpp"
#include "tests/support/played_plugin.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::test {
namespace {

using namespace std::chrono_literals;

// The reports, which come from another thread.
class Reported {
 public:
  static void hear(const enginehost_device_event* event, void* user_data) {
    auto& reported = *static_cast<Reported*>(user_data);
    {
      const std::lock_guard hold(reported.mutex_);
      reported.events_.push_back(std::string(event->device) + (event->lost ? " lost " : " back ") +
                                 event->code);
      if (event->error != nullptr) reported.text_ = enginehost_error_text(event->error);
    }
    reported.changed_.notify_all();
    if (reported.then) reported.then(*event);
    ++reported.ended;
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return events_.size() >= count; });
  }
  std::vector<std::string> events() {
    const std::lock_guard hold(mutex_);
    return events_;
  }
  std::string text() {
    const std::lock_guard hold(mutex_);
    return text_;
  }
  std::function<void(const enginehost_device_event&)> then;
  std::atomic<int> ended = 0;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> events_;
  std::string text_;
};

class WatchedDevices : public Sdk {
 protected:
  // The variables must not change while a watch runs, because its plugin reads them on another thread.
  void open_with(const char* behavior) {
    set_variable("DEVICE_BEHAVIOR", behavior);
    set_variable("DEVICE_FILE", device());
    write_text(folder_ / "device", "");
    TestBuild build = good_build();
    build.files = {{build.plugin, played_plugin()}};
    publish(build);
    engine_ = open(request());
    ASSERT_TRUE(engine_) << said();
  }
  void TearDown() override {
    engine_.reset();
    remove_variable("DEVICE_BEHAVIOR");
    remove_variable("DEVICE_FILE");
  }
  std::string device() const { return path_text(folder_ / "device"); }
  void take_away() { std::filesystem::remove(folder_ / "device"); }
  void bring_back() { write_text(folder_ / "device", ""); }

  enginehost_status watch(enginehost_engine* engine, Reported& reported, const char* name = nullptr) {
    enginehost_watch watch = ENGINEHOST_WATCH_INIT;
    watch.device = name;
    watch.interval_ms = 100;
    watch.user_data = &reported;
    watch.on_device = &Reported::hear;
    return enginehost_engine_watch(engine, &watch, nullptr);
  }

  Reported reported_;  // outlives the engine
  Handle<enginehost_engine> engine_;
};

TEST_F(WatchedDevices, R18Case27LossAndReturnAreReportedOnceWithoutACall) {
  open_with("vanish");
  ASSERT_EQ(watch(engine_.get(), reported_), ENGINEHOST_OK);
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(reported_.events().empty());
  take_away();
  ASSERT_TRUE(reported_.wait_for(1));
  std::this_thread::sleep_for(500ms);
  EXPECT_EQ(reported_.events(), std::vector<std::string>{"cuda:0 lost EH-R18"});
  EXPECT_THAT(reported_.text(), testing::HasSubstr("reference-good lost cuda:0: the device has fallen off "
                                                   "the bus"));
  bring_back();
  ASSERT_TRUE(reported_.wait_for(2));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(reported_.events(), (std::vector<std::string>{"cuda:0 lost EH-R18", "cuda:0 back "}));
}

TEST_F(WatchedDevices, ALostEngineIsReplacedByAnother) {
  open_with("vanish for good");
  ASSERT_EQ(watch(engine_.get(), reported_, "cuda:0"), ENGINEHOST_OK);
  take_away();
  ASSERT_TRUE(reported_.wait_for(1));
  bring_back();
  ASSERT_TRUE(reported_.wait_for(2));
  EXPECT_EQ(reported_.events().back(), "cuda:0 back ");
  EXPECT_EQ(enginehost_engine_self_test(engine_.get(), 2, "cuda:0", nullptr), ENGINEHOST_OK);
}

TEST_F(WatchedDevices, ALossThatACallShowsIsReportedAtOnce) {
  open_with("vanish");
  enginehost_watch rare = ENGINEHOST_WATCH_INIT;
  rare.interval_ms = 600'000;
  rare.user_data = &reported_;
  rare.on_device = &Reported::hear;
  ASSERT_EQ(enginehost_engine_watch(engine_.get(), &rare, nullptr), ENGINEHOST_OK);
  take_away();
  EXPECT_NE(enginehost_engine_self_test(engine_.get(), 2, "cuda:0", nullptr), ENGINEHOST_OK);
  ASSERT_TRUE(reported_.wait_for(1));
  EXPECT_EQ(reported_.events(), std::vector<std::string>{"cuda:0 lost EH-R18"});
}

TEST_F(WatchedDevices, ALossThatATensorCopyShowsIsReportedAtOnce) {
  open_with("lose in a copy");
  enginehost_watch rare = ENGINEHOST_WATCH_INIT;
  rare.interval_ms = 600'000;
  rare.user_data = &reported_;
  rare.on_device = &Reported::hear;
  ASSERT_EQ(enginehost_engine_watch(engine_.get(), &rare, nullptr), ENGINEHOST_OK);
  const Numbers numbers({1, 2});
  DLManagedTensorVersioned* out = nullptr;
  EXPECT_EQ(enginehost_tensor_copy(engine_.get(), &numbers.tensor, "cuda:0", nullptr, &out, nullptr),
            ENGINEHOST_NOT_LOADED);
  ASSERT_TRUE(reported_.wait_for(1));
  EXPECT_EQ(reported_.events(), std::vector<std::string>{"cuda:0 lost EH-R18"});
}

TEST_F(WatchedDevices, TemporarilyUnavailableOnesAreNotLost) {
  open_with("unavailable");
  ASSERT_EQ(watch(engine_.get(), reported_), ENGINEHOST_OK);
  take_away();
  std::this_thread::sleep_for(600ms);
  EXPECT_TRUE(reported_.events().empty()) << "no sign says that the device is gone";
}

TEST_F(WatchedDevices, AreNoLongerWatchedWhenTheEngineIsFreed) {
  open_with("vanish");
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(watch(engine_.get(), reported_), ENGINEHOST_OK) << "one replaces the one before";
    std::this_thread::sleep_for(std::chrono::milliseconds(i % 7));
  }
  take_away();
  std::this_thread::sleep_for(95ms);
  engine_.reset();
  const auto events = reported_.events();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(reported_.events(), events);
}

TEST_F(WatchedDevices, FreeingTheEngineWaitsForTheCallback) {
  open_with("vanish");
  reported_.then = [](const enginehost_device_event&) { std::this_thread::sleep_for(200ms); };
  ASSERT_EQ(watch(engine_.get(), reported_), ENGINEHOST_OK);
  take_away();
  ASSERT_TRUE(reported_.wait_for(1));
  EXPECT_EQ(reported_.ended, 0);
  engine_.reset();
  EXPECT_EQ(reported_.ended, 1);
}

TEST_F(WatchedDevices, TheCallbackMayFreeTheEngine) {
  open_with("vanish");
  enginehost_engine* const engine = engine_.release();
  reported_.then = [engine](const enginehost_device_event&) { enginehost_engine_free(engine); };
  ASSERT_EQ(watch(engine, reported_), ENGINEHOST_OK);
  take_away();
  ASSERT_TRUE(reported_.wait_for(1));
  while (reported_.ended == 0) std::this_thread::yield();
  bring_back();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(reported_.events().size(), 1u);
}

TEST_F(WatchedDevices, TheCallbackMayUseTheEngineAndEndTheWatch) {
  open_with("vanish");
  enginehost_status checked = ENGINEHOST_OK, stopped = ENGINEHOST_BUG;
  reported_.then = [&](const enginehost_device_event&) {
    enginehost_check found = ENGINEHOST_CHECK_INIT;
    checked = enginehost_engine_check(engine_.get(), "cuda:0", nullptr, &found, nullptr);
    stopped = enginehost_engine_watch(engine_.get(), nullptr, nullptr);
  };
  ASSERT_EQ(watch(engine_.get(), reported_), ENGINEHOST_OK);
  take_away();
  ASSERT_TRUE(reported_.wait_for(1));
  while (reported_.ended == 0) std::this_thread::yield();
  EXPECT_EQ(checked, ENGINEHOST_NOT_LOADED);
  EXPECT_EQ(stopped, ENGINEHOST_OK);
  bring_back();
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(reported_.events().size(), 1u);
}

TEST_F(WatchedDevices, OfASharedEngineAreReportedToEveryWatch) {
  open_with("vanish");
  Reported other;
  const auto second = open(request());
  ASSERT_TRUE(second) << said();
  ASSERT_EQ(watch(engine_.get(), reported_), ENGINEHOST_OK);
  ASSERT_EQ(watch(second.get(), other), ENGINEHOST_OK);
  take_away();
  ASSERT_TRUE(reported_.wait_for(1));
  ASSERT_TRUE(other.wait_for(1));
  bring_back();
  ASSERT_TRUE(reported_.wait_for(2));
  ASSERT_TRUE(other.wait_for(2));
  EXPECT_EQ(reported_.events(), other.events());
}

TEST_F(WatchedDevices, TheCppCallbackMayReleaseTheEngine) {
  open_with("vanish");
  engine_.reset();
  sdk::Request wanted;
  wanted.engine = "reference";
  wanted.cache = cache_;
  wanted.repositories = {repository_path_};
  std::optional<sdk::Engine> engine = sdk::Engine::open(wanted);
  std::atomic<bool> gone = false;
  std::string code;
  engine->watch(
      [&](const enginehost_device_event& event) {
        code = event.code;
        engine.reset();
        gone = true;
      },
      100, "cuda:0");
  take_away();
  const auto begin = std::chrono::steady_clock::now();
  while (!gone && std::chrono::steady_clock::now() - begin < 20s) std::this_thread::sleep_for(5ms);
  ASSERT_TRUE(gone);
  EXPECT_EQ(code, "EH-R18");
}

TEST_F(WatchedDevices, WrongArgumentsAreReportedAndNothingIsWatched) {
  open_with("");
  enginehost_error* error = nullptr;
  EXPECT_EQ(watch(nullptr, reported_), ENGINEHOST_INVALID);
  EXPECT_EQ(watch(engine_.get(), reported_, "rocm:3"), ENGINEHOST_NOTHING_FITS);
  enginehost_watch wrong = ENGINEHOST_WATCH_INIT;
  EXPECT_EQ(enginehost_engine_watch(engine_.get(), &wrong, &error), ENGINEHOST_INVALID);
  EXPECT_STREQ(enginehost_error_code(error), "EH-P45");
  enginehost_error_free(error);
  wrong.size = 8;
  EXPECT_EQ(enginehost_engine_watch(engine_.get(), &wrong, nullptr), ENGINEHOST_INVALID);
  EXPECT_EQ(enginehost_engine_watch(engine_.get(), nullptr, nullptr), ENGINEHOST_OK) << "none to end";
}

}  // namespace
}  // namespace enginehost::test
