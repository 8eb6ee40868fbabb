// The C++ API: exceptions of callbacks, and an engine that is replaced while its callback runs.
#include <enginehost/enginehost.hpp>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "tests/sdk/played_engine.hpp"

namespace enginehost::test {
namespace {

using namespace std::chrono_literals;

class Callbacks : public PlayedEngine {
 protected:
  // A request with a cache of its own, so that something is installed.
  sdk::Request asked(const char* cache = "other cache") const {
    sdk::Request asked;
    asked.engine = "reference";
    asked.cache = path_text(folder_ / cache);
    asked.repositories = {repository_path_};
    return asked;
  }
};

TEST_F(Callbacks, OnProgressExceptionsStopTheOpenAndAreRethrown) {
  sdk::Request request = asked();
  int calls = 0;
  request.on_progress = [&](const enginehost_progress&) {
    ++calls;
    throw std::runtime_error("mine");
  };
  try {
    sdk::Engine::open(request);
    FAIL() << "it opened";
  } catch (const std::runtime_error& thrown) {
    EXPECT_STREQ(thrown.what(), "mine");
  }
  EXPECT_EQ(calls, 1);
  // The request can be used again, because only the call was stopped.
  request.on_progress = nullptr;
  EXPECT_EQ(sdk::Engine::open(request).build(), "reference-good");
}

TEST_F(Callbacks, OnConsentExceptionsAreRethrownByTheOpen) {
  sdk::Request request = asked();
  request.on_consent = [](const enginehost_question&) -> bool { throw 42; };
  EXPECT_THROW(sdk::Engine::open(request), int);
  request.on_consent = [](const enginehost_question&) { return true; };
  EXPECT_EQ(sdk::Engine::open(request).build(), "reference-good");
}

TEST_F(Callbacks, TheApplicationsOwnCancelStillStopsTheOpen) {
  sdk::Request request = asked();
  request.on_progress = [cancel = request.cancel](const enginehost_progress&) { cancel.now(); };
  try {
    sdk::Engine::open(request);
    FAIL() << "it opened";
  } catch (const sdk::Error& error) {
    EXPECT_EQ(error.code(), "EH-P10");
  }
}

// Callbacks of C must not throw. An exception is reported as such, and not as an internal error of
// EngineHost.
TEST_F(Callbacks, ExceptionsThroughTheCApiAreReported) {
  enginehost_request wanted = request();
  const std::string cache = path_text(folder_ / "third cache");
  wanted.cache = cache.c_str();
  wanted.on_consent = [](const enginehost_question*, void*) -> std::int32_t { throw 42; };
  EXPECT_FALSE(open(wanted));
  EXPECT_EQ(code(), "EH-P45") << said();
  EXPECT_THAT(said(), testing::HasSubstr("request.on_consent: it threw"));
  wanted.on_consent = nullptr;
  wanted.on_progress = [](const enginehost_progress*, void*) { throw std::runtime_error("mine"); };
  EXPECT_FALSE(open(wanted));
  EXPECT_EQ(code(), "EH-P45") << said();
  EXPECT_THAT(said(), testing::HasSubstr("mine"));
}

TEST_F(Callbacks, ADeclinedConsentGetsNoTerminalRemedy) {
  enginehost_request wanted = request();
  const std::string cache = path_text(folder_ / "third cache");
  wanted.cache = cache.c_str();
  wanted.on_consent = [](const enginehost_question*, void*) -> std::int32_t { return 0; };
  EXPECT_FALSE(open(wanted));
  EXPECT_EQ(code(), "EH-P03") << said();
  EXPECT_THAT(said(), testing::Not(testing::HasSubstr("terminal")));
  EXPECT_THAT(said(), testing::HasSubstr("request.on_consent"));
}

// An object that the callback of an engine holds, and whether it is destroyed.
std::atomic<bool> gone = false, reported = false, gone_while_reported = false;
struct Held {
  ~Held() { gone = true; }
};

TEST_F(Callbacks, SurviveTheReplacementOfTheirEngine) {
  gone = reported = gone_while_reported = false;
  sdk::Request request = asked("cache");
  auto held = std::make_shared<Held>();
  request.on_device = [held](const enginehost_device_event&) {
    reported = true;
    for (int i = 0; i < 30 && !gone; ++i) std::this_thread::sleep_for(10ms);
    gone_while_reported = gone.load();
  };
  held.reset();
  sdk::Engine engine = sdk::Engine::open(request);
  const auto other = open(this->request());  // another handle of the same engine
  ASSERT_TRUE(other) << said();
  request.on_device = nullptr;
  set_variable("DEVICE_BEHAVIOR", "lose");
  std::thread loses([&] { enginehost_engine_self_test(other.get(), 1, "cuda:0", nullptr); });
  for (int i = 0; i < 5000 && !reported; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(reported);
  engine = sdk::Engine::open(request);
  loses.join();
  EXPECT_FALSE(gone_while_reported);
  EXPECT_TRUE(gone);
}

bool is_cancelled(const enginehost_cancel* cancel) {
  enginehost_request request = ENGINEHOST_REQUEST_INIT;
  request.engine = "nobody's";
  request.cancel = cancel;
  enginehost_engine* engine = nullptr;
  enginehost_error* error = nullptr;
  enginehost_open(&request, &engine, &error);
  const Handle<enginehost_error> owned(error);
  return std::string_view(enginehost_error_code(error)) == "EH-P10";
}

TEST(ChildCancel, IsCanceledWithItsParentAndNotTheOtherWay) {
  const sdk::Cancel above;
  enginehost_request request = ENGINEHOST_REQUEST_INIT;
  request.engine = "nobody's";
  const auto code_with = [&](const sdk::Cancel& cancel) {
    request.cancel = cancel.get();
    enginehost_engine* engine = nullptr;
    enginehost_error* error = nullptr;
    enginehost_open(&request, &engine, &error);
    const Handle<enginehost_error> owned(error);
    return std::string(enginehost_error_code(error));
  };
  const sdk::Cancel first = above.below();
  first.now();
  EXPECT_EQ(code_with(first), "EH-P10");
  EXPECT_EQ(code_with(above), "EH-S02");
  const sdk::Cancel second = above.below(), third = second.below();
  EXPECT_EQ(code_with(third), "EH-S02");
  above.now();
  EXPECT_EQ(code_with(second), "EH-P10");
  EXPECT_EQ(code_with(third), "EH-P10");
  EXPECT_EQ(code_with(above.below()), "EH-P10");
}

TEST(ChildCancel, CanBeReplacedAfterItWasCanceled) {
  const sdk::Cancel above;
  for (int i = 0; i < 20000; ++i) {  // as many canceled requests as a server has in a while
    Handle<enginehost_cancel> below(enginehost_cancel_new_below(above.get()));
    Handle<enginehost_cancel> further(enginehost_cancel_new_below(below.get()));
    const bool look = i % 1000 < 2;
    if (look) {
      ASSERT_FALSE(is_cancelled(below.get()));
      ASSERT_FALSE(is_cancelled(further.get()));
    }
    enginehost_cancel_now(below.get());
    if (look) {
      ASSERT_TRUE(is_cancelled(further.get()));
    }
  }
  EXPECT_FALSE(is_cancelled(above.get()));
}

TEST(ChildCancel, FollowsTheParentOfAFreedCancel) {
  const sdk::Cancel top;
  Handle<enginehost_cancel> middle(enginehost_cancel_new_below(top.get()));
  const Handle<enginehost_cancel> low(enginehost_cancel_new_below(middle.get()));
  middle.reset();
  const Handle<enginehost_cancel> other(enginehost_cancel_new_below(top.get()));
  enginehost_cancel_now(other.get());
  EXPECT_FALSE(is_cancelled(low.get()));
  top.now();
  EXPECT_TRUE(is_cancelled(low.get()));
}

TEST(ChildCancel, IsCreatedAndFreedWhileItsParentIsCanceled) {
  for (int round = 0; round < 200; ++round) {
    const sdk::Cancel above;
    std::atomic<int> started = 0;
    const auto make = [&] {
      ++started;
      for (int i = 0; i < 50; ++i) {
        const Handle<enginehost_cancel> below(enginehost_cancel_new_below(above.get()));
        if (i % 2 == 0) enginehost_cancel_now(below.get());
      }
    };
    std::thread one(make), two(make);
    while (started < 2) std::this_thread::yield();
    above.now();
    one.join();
    two.join();
    EXPECT_TRUE(is_cancelled(above.below().get()));
  }
}

TEST(ChildCancel, OutlivesItsParent) {
  enginehost_cancel* const above = enginehost_cancel_new();
  Handle<enginehost_cancel> below(enginehost_cancel_new_below(above));
  enginehost_cancel_free(above);
  enginehost_cancel_now(below.get());
  EXPECT_NE(below, nullptr);
}

}  // namespace
}  // namespace enginehost::test
