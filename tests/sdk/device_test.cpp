// Device checks over the C API: checking again, and reports of a loss and of the return.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/sdk/fixture.hpp"
#include "tests/support/played_plugin.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::test {
namespace {

struct Reported {
  std::vector<std::string> events;
  static void hear(const enginehost_device_event* event, void* user_data) {
    static_cast<Reported*>(user_data)->events.push_back(std::string(event->device) +
                                                        (event->lost ? " lost " : " back ") + event->code);
  }
};

class Devices : public Sdk {
 protected:
  void SetUp() override {
    behave("");
    TestBuild build = good_build();
    build.files = {{build.plugin, played_plugin()}};
    publish(build);
    enginehost_request asked = request();
    asked.on_device = &Reported::hear;
    asked.user_data = &reported_;
    engine_ = open(asked);
    ASSERT_TRUE(engine_) << said();
  }
  void TearDown() override { behave(""); }
  static void behave(const char* how) { set_variable("DEVICE_BEHAVIOR", how); }

  enginehost_check check(const char* device = nullptr) {
    enginehost_check found = ENGINEHOST_CHECK_INIT;
    enginehost_error* error = nullptr;
    status_ = enginehost_engine_check(engine_.get(), device, nullptr, &found, &error);
    error_.reset(error);
    return found;
  }

  Reported reported_;
  Handle<enginehost_engine> engine_;
};

TEST_F(Devices, AreMeasured) {
  const enginehost_check found = check();
  ASSERT_EQ(status_, ENGINEHOST_OK) << said();
  EXPECT_STREQ(found.device, "cuda:0");
  EXPECT_STREQ(found.computed_on, "cuda:0");
  EXPECT_GT(found.milliseconds, 0);
  EXPECT_GT(found.cpu_milliseconds, 0);
  EXPECT_GT(found.memory_free, 0u);
  EXPECT_STREQ(check("cpu:0").computed_on, "cpu:0");
  EXPECT_TRUE(reported_.events.empty());
}

TEST_F(Devices, Case27LossIsReportedOnceAndACheckReopens) {
  behave("lose");
  enginehost_error* error = nullptr;
  EXPECT_NE(enginehost_engine_self_test(engine_.get(), 2, "cuda:0", &error), ENGINEHOST_OK);
  EXPECT_STREQ(enginehost_error_code(error), "EH-E01");
  enginehost_error_free(error);
  ASSERT_EQ(reported_.events, std::vector<std::string>{"cuda:0 lost EH-E01"});
  behave("");  // the engine that lost its device does not get it back; a new one has it
  const enginehost_check found = check("cuda:0");
  ASSERT_EQ(status_, ENGINEHOST_OK) << said();
  EXPECT_EQ(found.reopened, 1);
  EXPECT_EQ(reported_.events.back(), "cuda:0 back ");
  EXPECT_EQ(check("cuda:0").reopened, 0);
  EXPECT_EQ(reported_.events.size(), 2u);
}

TEST_F(Devices, AModelFromBeforeDoesNotLoseAReopenedDevice) {
  write_text(folder_ / "any.played", "");
  const std::string file = path_text(folder_ / "any.played");
  enginehost_model* loaded = nullptr;
  ASSERT_EQ(enginehost_model_load(engine_.get(), file.c_str(), nullptr, "cuda:0", nullptr, &loaded, nullptr),
            ENGINEHOST_OK);
  const Handle<enginehost_model> model(loaded);
  const Numbers numbers({1, 2});
  const enginehost_input input = {"x", &numbers.tensor};
  enginehost_outputs* outputs = nullptr;
  behave("lose in a run");
  EXPECT_EQ(enginehost_model_run(loaded, &input, 1, nullptr, &outputs, nullptr), ENGINEHOST_NOT_LOADED);
  behave("");
  EXPECT_EQ(check("cuda:0").reopened, 1) << said();
  const std::vector<std::string> so_far = {"cuda:0 lost EH-E01", "cuda:0 back "};
  EXPECT_EQ(reported_.events, so_far);
  EXPECT_EQ(enginehost_model_run(loaded, &input, 1, nullptr, &outputs, nullptr), ENGINEHOST_NOT_LOADED);
  EXPECT_EQ(reported_.events, so_far) << "the engine that works has lost nothing";
  behave("lose");
  check("cuda:0");
  EXPECT_EQ(reported_.events.size(), 3u) << "its own losses are still reported";
}

TEST_F(Devices, ASlowCheckDoesNotDelayAnotherHandlesReport) {
  const auto second = open(request());
  ASSERT_TRUE(second) << said();
  behave("slow");
  std::atomic<bool> checked = false;
  std::thread checks([&] {
    check("cuda:0");
    checked = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(enginehost_engine_report(second.get()), testing::HasSubstr("reference-good"));
  EXPECT_FALSE(checked);
  checks.join();
}

TEST_F(Devices, OfASharedEngineAreReportedToEveryOpenHandle) {
  Reported of_the_second, of_the_third;
  enginehost_request asked = request();
  asked.on_device = &Reported::hear;
  asked.user_data = &of_the_second;
  const auto second = open(asked);
  ASSERT_TRUE(second) << said();
  asked.user_data = &of_the_third;
  open(asked).reset();
  behave("lose");
  enginehost_engine_self_test(second.get(), 2, "cuda:0", nullptr);
  behave("");
  EXPECT_EQ(reported_.events, std::vector<std::string>{"cuda:0 lost EH-E01"});
  EXPECT_EQ(of_the_second.events, reported_.events);
  EXPECT_TRUE(of_the_third.events.empty());
  // A new open gets an engine whose device works.
  asked.user_data = &of_the_third;
  const auto again = open(asked);
  ASSERT_TRUE(again) << said();
  EXPECT_EQ(enginehost_engine_self_test(again.get(), 2, "cuda:0", nullptr), ENGINEHOST_OK);
  EXPECT_TRUE(of_the_third.events.empty());
}

TEST_F(Devices, PermanentLossReportsWhyReopeningFailed) {
  behave("dead");
  check("cuda:0");
  EXPECT_EQ(status_, ENGINEHOST_NOT_LOADED);
  EXPECT_EQ(code(), "EH-E01");
  EXPECT_THAT(std::string(enginehost_error_json(error_.get())), testing::HasSubstr("reopening"));
  EXPECT_EQ(reported_.events, std::vector<std::string>{"cuda:0 lost EH-E01"});
}

TEST_F(Devices, ReportR17ForResultsOnAnotherDevice) {
  behave("elsewhere");
  check("cuda:0");
  EXPECT_EQ(code(), "EH-R17");
  EXPECT_THAT(said(), testing::HasSubstr("cpu:0"));
}

TEST_F(Devices, UnknownOnesAreNamed) {
  check("rocm:3");
  EXPECT_EQ(code(), "EH-S09");
  enginehost_check too_small = ENGINEHOST_CHECK_INIT;
  too_small.size = 8;
  EXPECT_EQ(enginehost_engine_check(engine_.get(), nullptr, nullptr, &too_small, nullptr),
            ENGINEHOST_INVALID);
  EXPECT_EQ(enginehost_engine_check(nullptr, nullptr, nullptr, &too_small, nullptr), ENGINEHOST_INVALID);
}

TEST_F(Devices, ARequestOfAnOlderProgramHasNoCallback) {
  enginehost_request old = request();
  old.size = offsetof(enginehost_request, on_device);
  old.on_device = [](const enginehost_device_event*, void*) { FAIL() << "beyond the caller's struct"; };
  engine_ = open(old);
  ASSERT_TRUE(engine_) << said();
  behave("lose");
  check("cuda:0");
}

}  // namespace
}  // namespace enginehost::test
