// An open engine is shared by later opens, as long as an open would choose it.
#include <atomic>
#include <thread>
#include <vector>

#include "host/history/store.hpp"
#include "tests/open/fixture.hpp"

namespace enginehost::open {
namespace {

class SharedOpen : public LoadOrder {
 protected:
  std::shared_ptr<SharedEngine> ask(const std::string& key = "reference") {
    SharedRequest request;
    request.key = key + path_text(folder_.path());  // not shared with other tests of this process
    request.flags = [&] {
      ++times_decided_;
      return flags_;
    };
    request.request = [&](AskedSettings) { return request_; };
    auto engine = open_shared(request);
    EXPECT_TRUE(engine) << engine.error().code;
    return engine ? *engine : nullptr;
  }
  std::atomic<int> times_decided_ = 0;
};

TEST_F(SharedOpen, ReturnsTheSameEngineWithoutReadingAnything) {
  const auto first = ask();
  const auto second = ask();
  EXPECT_EQ(first, second);
  EXPECT_EQ(times_decided_, 1);
}

TEST_F(SharedOpen, ReturnsAnotherForAnotherRequest) {
  const auto first = ask("one");
  EXPECT_NE(first, ask("two"));
}

TEST_F(SharedOpen, OpensAgainAfterTheLastClose) {
  std::weak_ptr<SharedEngine> closed = ask();
  EXPECT_TRUE(closed.expired());
  EXPECT_NE(ask(), nullptr);
  EXPECT_EQ(times_decided_, 2);
}

#if defined(__linux__)
TEST_F(SharedOpen, LeavesNoDescriptorAfterTheLastClose) {
  const auto held = [&] {
    std::vector<std::string> files;
    for (const auto& descriptor : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string file = std::filesystem::read_symlink(descriptor.path(), gone).native();
      if (file.starts_with(folder_.path().native())) files.push_back(file);
    }
    return files;
  };
  auto engine = ask();
  EXPECT_FALSE(held().empty());
  engine.reset();
  EXPECT_EQ(held(), std::vector<std::string>());
}
#endif

TEST_F(SharedOpen, ChecksAgainWhenTheEnvironmentChanges) {
  const auto first = ask();
  test::set_variable("ENGINEHOST_TEST_VARIABLE", "1");
  const auto second = ask();
  test::remove_variable("ENGINEHOST_TEST_VARIABLE");
  EXPECT_EQ(times_decided_, 2);
}

TEST_F(SharedOpen, ChecksAgainAfterASecondAndKeepsSharing) {
  open_until_ready();
  const auto first = ask();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  // On a machine under load, a second may pass between two requests: then the next one checks again, too.
  int decided = 0;
  std::chrono::steady_clock::duration taken{};
  do {
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(first, ask());
    decided = times_decided_;
    EXPECT_EQ(first, ask());
    taken = std::chrono::steady_clock::now() - begin;
  } while (taken > std::chrono::seconds(1));
  EXPECT_GE(decided, 2);
  EXPECT_EQ(times_decided_, decided) << "checked again within a second";
}

TEST_F(SharedOpen, KeepsSharingWithoutACachedDecision) {
  flags_.cache = path_text(std::filesystem::relative(path_of(*flags_.cache)));
  ask();  // proves the build
  const auto first = ask();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  EXPECT_EQ(first, ask());
  EXPECT_FALSE(std::filesystem::exists(decisions()));
}

TEST_F(SharedOpen, TheReportOfACachedDecisionHasSettingsAndCandidates) {
  open_until_ready();
  const auto engine = ask();
  ASSERT_NE(engine, nullptr);
  EXPECT_TRUE(engine->outcome().by_cached_decision);
  EXPECT_FALSE(engine->device_names().empty());
  const auto document = parse_json(engine->report(), "the report");
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["candidates"].as_array().at(0)["verdict"].as_string(), "chosen");
  bool cache_is_reported = false;
  for (const Json& setting : (*document)["config"].as_array())
    cache_is_reported |=
        setting["key"].as_string() == "cache" && setting["value"].as_string() == *flags_.cache;
  EXPECT_TRUE(cache_is_reported);
}

TEST_F(SharedOpen, DoesNotReturnAQuarantinedBuild) {
  const auto first = ask();
  ASSERT_NE(first, nullptr);
  history::Record record;
  record.build = "reference-good";
  record.state = history::State::disabled;
  record.digest = first->opened().installed.digest;
  record.artifacts_digest = first->opened().installed.artifacts_digest;
  ASSERT_TRUE(history::write(state(), record));
  SharedRequest request;
  request.key = "reference" + path_text(folder_.path());
  request.flags = [&] { return flags_; };
  request.request = [&](AskedSettings) { return request_; };
  EXPECT_FALSE(open_shared(request));
}

TEST_F(SharedOpen, DoesNotReturnAnEngineWhoseDeviceIsLost) {
  const auto first = ask();
  first->health()->lost("cpu:0", diagnose(Code::engine_reports_error).with(Key::status, "ENGINE_LOST"));
  EXPECT_TRUE(first->is_spoiled());
  EXPECT_NE(first, ask());
}

TEST_F(SharedOpen, ACanceledRequestGetsNothing) {
  const auto first = ask();
  SharedRequest request;
  request.key = "reference" + path_text(folder_.path());
  request.flags = [&] { return flags_; };
  request.request = [&](AskedSettings) { return request_; };
  request.cancel.emplace();
  request.cancel->cancel();
  const auto stopped = open_shared(request);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, "EH-P10");
}

TEST_F(SharedOpen, TheReportIsThatOfTheOpen) {
  const auto engine = ask();
  const auto document = parse_json(engine->report(), "the report");
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["outcome"]["build"].as_string(), "reference-good");
  EXPECT_EQ((*document)["candidates"].as_array()[0]["verdict"].as_string(), "chosen");
}

TEST_F(SharedOpen, ThreadsThatAskAtOnceGetOneEngine) {
  std::vector<std::shared_ptr<SharedEngine>> engines(8);
  std::vector<std::thread> threads;
  for (auto& engine : engines) threads.emplace_back([&] { engine = ask(); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& engine : engines) EXPECT_EQ(engine, engines.front());
  EXPECT_NE(engines.front(), nullptr);
  EXPECT_EQ(times_decided_, 1) << "the others waited";
}

TEST_F(SharedOpen, ManyThreadsMayOpenUseAndCloseAtOnce) {
  const auto kept = ask();
  std::atomic<int> good = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int times = 0; times < 25; ++times) {
        const auto engine = ask();
        if (engine == nullptr) continue;
        const auto alone = engine->exclusive({});
        if (alone && engine->engine().self_test(ENGINE_SELFTEST_LIBRARIES, engine->opened().devices[0].id) &&
            !engine->report().empty())
          ++good;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 100);
}

}  // namespace
}  // namespace enginehost::open
