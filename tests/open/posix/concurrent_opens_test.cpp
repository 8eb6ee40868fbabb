// Threads that open at once, callbacks that open, and children forked meanwhile.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/end-to-end/fault.hpp"
#include "tests/open/open_engines_fixture.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr const char* logs_a_word = "host->log(host, ENGINE_LOG_ERROR, \"\", \"\")";

// A build as bringing() makes it, whose plugin runs `at_create` while its engine is made.
test::TestBuild reporting(const std::string& id, const std::string& library, int number,
                          const std::string& at_create = logs_a_word) {
  const std::string root = test::source_path();
  const test::TemporaryFolder folder;
  const fs::path file = folder / "plugin.so";
  test::write_text(
      file, test::compile_library(test::read_text(root + "/tests/faults/plugin.c"),
                                  {"-I" + root + "/plugin-api/include", "-w", "-DAT_CREATE=" + at_create}));
  test::run_tool({"patchelf", "--set-rpath", "$ORIGIN/lib", "--add-needed", library, file.native()});
  test::TestBuild build = bringing(id, library, number);
  build.files.front().bytes = test::read_text(file);
  return build;
}

// The diagnosis as text, for the message of a failed expectation.
std::string why(const Outcome& outcome) {
  return outcome.diagnosis ? explain::describe(*outcome.diagnosis) : "";
}

// A one-time signal that threads can wait for.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  bool wait(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, limit, [&] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

class ConcurrentOpens : public OpenEngines {
 protected:
  void publish_reporting(const std::string& library) {
    publish_builds(reporting("first", library, 1), reporting("second", library, 2));
  }
  // Calls `made` when the engine logs, which it does while it is made.
  static std::shared_ptr<load::EngineLog> reporting_of(std::function<void()> made) {
    auto log = std::make_shared<load::EngineLog>();
    log->add([made = std::move(made)](const load::LogMessage& message) {
      if (!message.in_probe) made();
    });
    return log;
  }
  // As open(), in a context of its own.
  Outcome open_here(const std::string& flavor, std::function<void()> while_made = {}) const {
    OpenContext context(settings());
    OpenRequest request = request_;
    request.request.flavor = flavor;
    if (while_made) request.attempt.log = reporting_of(while_made);
    return open_engine(context, request);
  }
  Result<std::shared_ptr<SharedEngine>> share(const std::string& flavor,
                                              std::function<void()> while_made = {},
                                              std::optional<CancelToken> cancel = {}) {
    SharedRequest request;
    request.key = flavor + path_text(folder_.path());
    request.flags = [this] {
      ++times_decided_;
      return flags_;
    };
    request.request = [this, flavor, while_made](AskedSettings) {
      OpenRequest open = request_;
      open.request.flavor = flavor;
      if (while_made) open.attempt.log = reporting_of(while_made);
      return open;
    };
    request.cancel = std::move(cancel);
    return open_shared(request);
  }
  // Runs the action while another thread's open of "first" makes its engine.
  void while_it_is_made(const std::function<void()>& action) {
    Gate being_made, over;
    std::thread thread([&] {
      EXPECT_TRUE(share("first", [&] {
        being_made.open();
        over.wait(20s);
      }));
    });
    if (being_made.wait(20s))
      action();
    else
      ADD_FAILURE() << "no engine is being made";
    over.open();
    thread.join();
  }
  // The exit status of a forked child, which has ten seconds.
  static int in_child(const std::function<bool()>& action) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(10);
      ::_exit(action() ? 0 : 1);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child ? status : -1;
  }
  std::atomic<int> times_decided_ = 0;
};

TEST_F(ConcurrentOpens, ConflictingBuildsAreNeverBothLoaded) {
  publish_reporting("libtogether.so.1");
  // Each is proven alone, so that only loading is left to do.
  prove("first");
  prove("second");
  Gate being_made, second_begins, second_is_open;
  Outcome first;
  std::thread thread([&] {
    first = open_here("first", [&] {
      being_made.open();
      second_begins.wait(20s);
      second_is_open.wait(2s);  // enough time for an open that does not wait
    });
  });
  const bool begun = being_made.wait(20s);
  second_begins.open();
  const Outcome second = open_here("");
  second_is_open.open();
  thread.join();
  ASSERT_TRUE(begun) << why(first);
  ASSERT_EQ(first.state, State::opened) << why(first);
  EXPECT_EQ(first.opened->installed.build, "first");
  ASSERT_EQ(second.state, State::opened);
  EXPECT_EQ(second.opened->installed.build, "reference-good");
  EXPECT_EQ(why_not(second, "second").value(Key::held_by), "first");
}

// While a child process probes one build, another build fails to load here. It waited for nobody.
TEST_F(ConcurrentOpens, AFailedLoadDuringAProbeRulesOutTheProbedBuild) {
  const fs::path tried = folder_ / "tried", go = folder_ / "go";
  publish_builds(reporting("second", "libmeanwhile.so.1", 2, "return ENGINE_INTERNAL"),
                 reporting("first", "libmeanwhile.so.1", 1,
                           "fclose(fopen(\"" + tried.native() + "\", \"w\")); while (access(\"" +
                               go.native() + "\", F_OK) != 0) usleep(10000)"));
  Outcome first;
  std::thread thread([&] { first = open_here(""); });
  for (int i = 0; i < 2000 && !fs::exists(tried); ++i) std::this_thread::sleep_for(10ms);
  request_.attempt.probe = false;
  request_.request.require = true;
  const Outcome second = open_here("second");
  test::write_text(go, "");
  thread.join();
  EXPECT_EQ(second.state, State::failed) << "or it left nothing";
  ASSERT_EQ(first.state, State::opened) << why(first);
  EXPECT_EQ(first.opened->installed.build, "reference-good");
  EXPECT_EQ(why_not(first, "first").value(Key::left_by), "second");
}

// A lack of memory is retried; the last time after a second and a half.
TEST_F(ConcurrentOpens, ARetryLetsOthersLoadMeanwhile) {
  using Clock = std::chrono::steady_clock;
  publish_builds(
      reporting("first", "libbusy.so.1", 1, std::string(logs_a_word) + "; return ENGINE_NO_MEMORY"),
      reporting("second", "libbeside.so.1", 2));
  prove("second");
  Gate waits;
  int tries = 0;
  Clock::time_point last_try, second_made;
  OpenRequest busy = request_;
  std::thread thread([&, busy]() mutable {
    OpenContext context(settings());
    busy.request.flavor = "first";
    busy.request.require = true;
    busy.attempt.probe = false;
    busy.attempt.log = reporting_of([&] {
      last_try = Clock::now();
      if (++tries == 3) waits.open();
    });
    EXPECT_EQ(open_engine(context, busy).state, State::failed);
  });
  EXPECT_TRUE(waits.wait(20s));
  const Outcome second = open_here("second", [&] { second_made = Clock::now(); });
  thread.join();
  EXPECT_EQ(second.state, State::opened) << why(second);
  EXPECT_EQ(tries, 4);
  // If the lock were kept over the wait, it would be free just before the last try at the earliest.
  EXPECT_GT(last_try - second_made, 200ms);
}

TEST_F(ConcurrentOpens, ACallbackMayOpenTheSameAndAnother) {
  publish_reporting("libnested.so.1");
  bool same = false, another = false, begun = false;
  const auto engine = share("first", [&] {
    if (std::exchange(begun, true)) return;
    same = share("first").has_value();
    another = share("").has_value();
  });
  EXPECT_TRUE(engine);
  EXPECT_TRUE(same);
  EXPECT_TRUE(another);
}

// Longer than an open engine is shared without a check, and there is no cached decision yet.
TEST_F(ConcurrentOpens, AWaitingOpenGetsTheFirstOnesEngine) {
  publish_reporting("liblasting.so.1");
  Gate being_made;
  std::shared_ptr<SharedEngine> first, second;
  std::thread thread([&] {
    first = share("first", [&] {
              being_made.open();
              std::this_thread::sleep_for(1500ms);
            }).value_or(nullptr);
  });
  const bool begun = being_made.wait(20s);
  second = share("first").value_or(nullptr);
  thread.join();
  ASSERT_TRUE(begun);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(first, second);
  EXPECT_EQ(times_decided_, 1);
}

TEST_F(ConcurrentOpens, AWaitingOpenCanBeCanceled) {
  publish_reporting("libwaiting.so.1");
  while_it_is_made([&] {
    CancelToken cancel;
    std::thread canceller([&] {
      std::this_thread::sleep_for(100ms);
      cancel.cancel();
    });
    const auto given_up = share("first", {}, cancel);
    canceller.join();
    ASSERT_FALSE(given_up);
    EXPECT_EQ(given_up.error().code, "EH-P10");
  });
}

TEST_F(ConcurrentOpens, AfterAFailureTheNextOneTriesItself) {
  const auto none = [&] { return share("no-such-flavor,"); };
  request_.request.require = true;
  std::vector<std::string> codes(4);
  std::vector<std::thread> threads;
  for (std::string& code : codes)
    threads.emplace_back([&] {
      const auto engine = none();
      code = engine ? "opened" : std::string(engine.error().code_text());
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& code : codes) EXPECT_EQ(code, codes.front());
  EXPECT_NE(codes.front(), "opened");
  EXPECT_EQ(times_decided_, 4);
}

TEST_F(ConcurrentOpens, AForkedChildOpensItsOwn) {
  const auto engine = share("");
  ASSERT_TRUE(engine);
  EXPECT_EQ(in_child([&] {
              const auto own = share("");
              return own && own->get() != engine->get();
            }),
            0);
  EXPECT_EQ(*share(""), *engine);
}

TEST_F(ConcurrentOpens, AForkedChildWaitsForNoThreadOfItsParent) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer ends a forked child of several threads that starts one";
#endif
  publish_reporting("libforked.so.1");
  while_it_is_made([&] {
    EXPECT_EQ(in_child([&] { return share("").has_value(); }), 0) << "a signal ended it, or it failed";
  });
}

}  // namespace
}  // namespace enginehost::open
