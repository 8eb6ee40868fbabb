// Many threads that wait for one another. host/sdk/call_queue.cpp is compiled into the tests, because the
// library does not export it.
#include "host/sdk/call_queue.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

namespace enginehost::sdk {
namespace {

using namespace std::chrono_literals;

long sleeps() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_nvcsw;
}

TEST(CallQueueTest, AnEndingCallWakesOneThread) {
  constexpr int threads = 64, each = 40;
  CallQueue queue;
  int inside = 0;
  const long before = sleeps();
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i)
    all.emplace_back([&] {
      for (int j = 0; j < each; ++j) {
        const auto turn = queue.take({});
        ASSERT_TRUE(turn);
        EXPECT_EQ(++inside, 1);
        std::this_thread::yield();
        --inside;
      }
    });
  for (std::thread& thread : all) thread.join();
  EXPECT_LT(sleeps() - before, threads * each * 6) << "of " << threads * each << " turns";
}

TEST(CallQueueTest, AThreadThatGivesUpPassesItsPlaceOn) {
  CallQueue queue;
  CancelToken cancel;
  auto first = std::make_unique<Result<CallQueue::QueueTurn>>(queue.take({}));
  std::thread impatient([&] {
    const auto turn = queue.take(cancel);
    ASSERT_FALSE(turn);
    EXPECT_EQ(turn.error().code, "EH-P10");
  });
  std::this_thread::sleep_for(30ms);
  auto next = std::async(std::launch::async, [&] { return queue.take({}).has_value(); });
  std::this_thread::sleep_for(30ms);
  cancel.cancel();
  impatient.join();
  EXPECT_EQ(next.wait_for(50ms), std::future_status::timeout) << "the first still has its turn";
  first.reset();
  EXPECT_TRUE(next.get());
}

#if defined(__GLIBC__)
// glibc unwinds a canceled thread as an exception would.
TEST(CallQueueTest, ACanceledThreadLeavesItsPlace) {
  CallQueue queue;
  auto first = std::make_unique<Result<CallQueue::QueueTurn>>(queue.take({}));
  pthread_t waiting{};
  ASSERT_EQ(::pthread_create(
                &waiting, nullptr,
                [](void* all) -> void* {
                  const auto turn = static_cast<CallQueue*>(all)->take(CancelToken());
                  return nullptr;
                },
                &queue),
            0);
  std::this_thread::sleep_for(50ms);
  ASSERT_EQ(::pthread_cancel(waiting), 0);
  timespec until{};
  ::clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 20;
  void* ended = nullptr;
  ASSERT_EQ(::pthread_timedjoin_np(waiting, &ended, &until), 0) << "it waits for itself";
  EXPECT_EQ(ended, PTHREAD_CANCELED);
  first.reset();
  EXPECT_TRUE(queue.take({}));
}
#endif

}  // namespace
}  // namespace enginehost::sdk
