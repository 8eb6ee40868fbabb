// A changed device file makes the watch check the engine at once, and a failure then counts as a loss.
#include "host/open/device_watch.hpp"

#include <condition_variable>
#include <mutex>

#include "tests/open/fixture.hpp"
#include "tests/support/played_plugin.hpp"

namespace enginehost::open {
namespace {

using namespace std::chrono_literals;

class DeviceWatchTest : public LoadOrder {
 protected:
  void SetUp() override {
    test::set_variable("DEVICE_BEHAVIOR", "unavailable");
    test::set_variable("DEVICE_FILE", node());
    std::filesystem::create_directories(root_ / "dev");
    test::write_text(node(), "");
    test::TestBuild build = test::good_build();
    build.files = {{build.plugin, test::played_plugin()}};
    test::TestRepository repository(folder_ / "played");
    repository.add(build);
    repository.write();
    flags_.repositories = {repository.root().native()};
    auto outcome = open();
    ASSERT_TRUE(outcome.opened);
    engine_ = std::make_shared<SharedEngine>(std::move(context_), std::move(outcome), std::string());
  }
  void TearDown() override {
    watch_.reset();
    engine_.reset();
    test::remove_variable("DEVICE_BEHAVIOR");
    test::remove_variable("DEVICE_FILE");
  }
  std::string node() const { return (root_ / "dev/nvidia0").native(); }

  void watch(std::chrono::milliseconds interval) {
    WatchOptions options;
    options.devices = {engine_->opened().devices.front()};
    options.interval = interval;
    options.signs_interval = 20ms;
    options.root = platform::Root(root_);
    options.reported = [this](const load::DeviceEvent& event) {
      const std::lock_guard hold(mutex_);
      events_.push_back(event);
      changed_.notify_all();
    };
    watch_ = std::make_unique<DeviceWatch>(engine_, std::move(options));
    watch_->start();
  }
  bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return events_.size() >= count; });
  }

  std::filesystem::path root_ = folder_ / "root";
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<load::DeviceEvent> events_;
  std::shared_ptr<SharedEngine> engine_;
  std::unique_ptr<DeviceWatch> watch_;
};

TEST_F(DeviceWatchTest, ADeviceFileThatVanishesIsReportedAtOnce) {
  watch(1h);
  std::filesystem::remove(node());
  ASSERT_TRUE(wait_for(1));
  EXPECT_TRUE(events_[0].lost);
  EXPECT_EQ(events_[0].why.code, "EH-R18");
  EXPECT_EQ(events_[0].why.value(Key::sign), "/dev/nvidia0 is gone");
  EXPECT_EQ(events_[0].why.value(Key::status), "ENGINE_UNAVAILABLE");
  test::write_text(node(), "");
  ASSERT_TRUE(wait_for(2));
  EXPECT_FALSE(events_[1].lost);
}

TEST_F(DeviceWatchTest, AnEngineThatStillWorksHasLostNothing) {
  const std::string other = (root_ / "dev/nvidia1").native();
  test::write_text(other, "");
  watch(1h);
  std::filesystem::remove(other);
  std::this_thread::sleep_for(300ms);
  EXPECT_TRUE(events_.empty());
}

// The self-test and the operations of an engine may disagree about its device.
TEST_F(DeviceWatchTest, ADeviceWhoseSelfTestReportsALossIsLostOnce) {
  test::set_variable("DEVICE_BEHAVIOR", "lost in a test");
  watch(20ms);
  ASSERT_TRUE(wait_for(1));
  std::this_thread::sleep_for(500ms);
  {
    const std::lock_guard hold(mutex_);
    ASSERT_EQ(events_.size(), 1u) << "it is lost once, and not back while its self-test fails";
    EXPECT_TRUE(events_[0].lost);
  }
  // An application's own check agrees with the watch.
  const auto check = engine_->check("cuda:0", {});
  ASSERT_FALSE(check);
  EXPECT_EQ(check.error().value(Key::status), "ENGINE_LOST");
  test::set_variable("DEVICE_BEHAVIOR", "");
  ASSERT_TRUE(wait_for(2));
  EXPECT_FALSE(events_[1].lost);
  EXPECT_TRUE(engine_->check("cuda:0", {}));
}

TEST_F(DeviceWatchTest, AnEngineThatIsBusyIsNotAsked) {
  watch(20ms);
  const auto alone = engine_->exclusive({});
  ASSERT_TRUE(alone);
  std::filesystem::remove(node());
  std::this_thread::sleep_for(300ms);
  const std::lock_guard hold(mutex_);
  EXPECT_TRUE(events_.empty());
}

}  // namespace
}  // namespace enginehost::open
