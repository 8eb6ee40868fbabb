// The results of a small computation on a device, and how its loss is noticed; the plugin is
// tests/faults/device_plugin.c.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "base/files.hpp"
#include "host/explain/explain.hpp"
#include "host/load/in_process/check.hpp"
#include "host/load/in_process/model.hpp"
#include "tests/faults/workshop.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::load {
namespace {

class FakeDevice : public ::testing::Test {
 protected:
  FakeDevice() {
    const auto source = read_file(test::source_path("/tests/faults/device_plugin.c"));
    const auto file = workshop_.library("libengine_played.so", source.value_or(""),
                                        "-I" + test::source_path("/plugin-api/include"));
    auto loaded = load_plugin({file, workshop_.folder(), {}, {}});
    plugin_ = loaded ? std::move(*loaded) : nullptr;
    behave("");
    engine_ = make();
    engine_->health()->add_listener([this](const DeviceEvent& event) { events_.push_back(event); });
  }
  ~FakeDevice() override { behave(""); }

  static void behave(const char* how) { ::setenv("DEVICE_BEHAVIOR", how, 1); }
  std::unique_ptr<Engine> make() {
    auto engine = Engine::create(plugin_);
    EXPECT_TRUE(engine);
    return std::move(*engine);
  }
  Result<DeviceCheck> check(std::size_t number = 0) {
    return check_device(*engine_, engine_->devices()->at(number));
  }

  faults::Workshop workshop_;
  std::shared_ptr<LoadedPlugin> plugin_;
  std::unique_ptr<Engine> engine_;
  std::vector<DeviceEvent> events_;
};

TEST_F(FakeDevice, ThatWorksIsReportedWithMemoryKindTimesAndFreeMemory) {
  const auto found = check();
  ASSERT_TRUE(found) << found.error().code;
  EXPECT_EQ(found->device, "cuda:0");
  EXPECT_EQ(found->computed_on, "cuda:0");
  EXPECT_GT(found->milliseconds, 0);
  EXPECT_GT(found->cpu_milliseconds, 0);
  EXPECT_EQ(found->memory_free, std::uint64_t{6} << 30);
  EXPECT_THAT(describe(*found), ::testing::HasSubstr("result on cuda:0, 6.0 GiB free"));
  EXPECT_TRUE(events_.empty());
}

TEST_F(FakeDevice, WithItsResultElsewhereIsDetected) {
  behave("elsewhere");
  const auto found = check();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "EH-R17");
  EXPECT_EQ(found.error().value(Key::device), "cuda:0");
  EXPECT_EQ(found.error().value(Key::computed_on), "cpu:0");
  EXPECT_THAT(explain::describe(found.error()), ::testing::HasSubstr("computes elsewhere"));
}

// This plugin calls host memory a GPU's, which cannot be detected. Both times are reported, and they are
// alike.
TEST_F(FakeDevice, ThatLiesAboutItsMemoryShowsTheProcessorsTime) {
  const auto found = check();
  ASSERT_TRUE(found);
  EXPECT_LT(found->cpu_milliseconds / found->milliseconds, 20)
      << "a processor under another name is no faster";
}

TEST_F(FakeDevice, ThatCalculatesWronglyIsDetectedByEveryElement) {
  behave("wrong");
  const auto found = check();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, "EH-R17");
  EXPECT_FALSE(found.error().value(Key::wanted).empty());
}

TEST_F(FakeDevice, WithoutOperationsRunsItsSelfTest) {
  behave("none");
  const auto found = check();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->method, DeviceCheck::Method::self_test);
  EXPECT_EQ(found->computed_on, "") << "a self-test does not say where it ran";
}

TEST_F(FakeDevice, ThatReportsItsLossIsLostAndListenersAreNotifiedOnce) {
  behave("lose");
  EXPECT_FALSE(check());
  EXPECT_FALSE(check());
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].device, "cuda:0");
  EXPECT_TRUE(events_[0].lost);
  EXPECT_EQ(events_[0].why.value(Key::status), "ENGINE_LOST");
  EXPECT_TRUE(engine_->health()->is_lost("cuda:0"));
  EXPECT_FALSE(engine_->health()->is_lost("cpu:0"));
  EXPECT_TRUE(check(1)) << "the processor is as before";
}

TEST_F(FakeDevice, WithAPersistentCudaErrorIsLostToo) {
  behave("sticky");
  EXPECT_FALSE(engine_->self_test(ENGINE_SELFTEST_DEVICE, {ENGINE_CUDA, 0}));
  ASSERT_EQ(events_.size(), 1u);
  EXPECT_EQ(events_[0].why.value(Key::native), "700");
}

TEST_F(FakeDevice, WithATransientErrorIsNotLost) {
  Diagnosis busy = diagnose(Code::engine_reports_error);
  busy.with(Key::status, "ENGINE_NO_MEMORY").with(Key::origin, "cuda").with(Key::native, "2");
  EXPECT_FALSE(reports_a_lost_device(busy));
}

TEST_F(FakeDevice, ReportsTheFirstRunUntilOneSucceeded) {
  struct Reported : WorkObserver {
    void work_begins() override { words += "begin "; }
    void work_ended(bool well) override { words += well ? "well " : "badly "; }
    std::string words;
  };
  const auto reported = std::make_shared<Reported>();
  engine_->health()->observe_work(reported);
  behave("wrong");  // a wrong result: the run failed
  EXPECT_FALSE(check());
  EXPECT_EQ(reported->words, "begin badly ");
  behave("");
  EXPECT_TRUE(check());
  const std::string so_far = reported->words;
  EXPECT_EQ(so_far, "begin badly begin well ");
  EXPECT_TRUE(check());
  EXPECT_EQ(reported->words, so_far);
}

TEST_F(FakeDevice, DoesNotCountALoadedModelAsASuccessfulRun) {
  struct Reported : WorkObserver {
    void work_begins() override { words += "begin "; }
    void work_ended(bool well) override { words += well ? "well " : "not yet "; }
    std::string words;
  };
  const auto reported = std::make_shared<Reported>();
  engine_->health()->observe_work(reported);
  const auto model = Model::load(*engine_, {workshop_.path("libengine_played.so"), "played", "cpu", {}});
  ASSERT_TRUE(model) << explain::describe(model.error());
  EXPECT_EQ(reported->words, "begin not yet ");
}

TEST(HealthOfAnEngine, ARemovedListenerRunsOnNoThread) {
  Health health;
  std::atomic<bool> called = false, may_end = false, removed = false;
  const std::size_t number = health.add_listener([&](const DeviceEvent&) {
    called = true;
    while (!may_end) std::this_thread::yield();
    EXPECT_FALSE(removed);
  });
  std::thread loser([&] { health.lost("cuda:0", diagnose(Code::engine_reports_error)); });
  while (!called) std::this_thread::yield();
  std::thread remover([&] {
    health.remove_listener(number);
    removed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(removed);
  may_end = true;
  loser.join();
  remover.join();
  health.back("cuda:0");
}

TEST(HealthOfAnEngine, AListenerMayRemoveItself) {
  Health health;
  int calls = 0;
  std::size_t number = 0;
  number = health.add_listener([&](const DeviceEvent&) {
    ++calls;
    health.remove_listener(number);
  });
  health.lost("cuda:0", diagnose(Code::engine_reports_error));
  health.back("cuda:0");
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace enginehost::load
