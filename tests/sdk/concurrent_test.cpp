// Several threads and one model.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/sdk/played_engine.hpp"

namespace enginehost::test {
namespace {

class ConcurrentRuns : public PlayedEngine {};

// The fake engine's models fail when two runs overlap, and do not declare that they can run concurrently.
TEST_F(ConcurrentRuns, OfASerialModelRunOneAfterTheOther) {
  const auto model = load();
  ASSERT_TRUE(model) << said();
  std::vector<std::string> failures(4);
  std::vector<std::thread> threads;
  for (std::string& failure : failures)
    threads.emplace_back([&] {
      const Numbers numbers({1, 2});
      for (int i = 0; i < 3 && failure.empty(); ++i) run(model.get(), numbers.tensor, &failure);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

// A thread that runs without a pause does not starve the others.
TEST_F(ConcurrentRuns, AreServedInTheOrderTheyCome) {
  const auto model = load();
  ASSERT_TRUE(model) << said();
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    const Numbers numbers({1, 2});
    std::string failure;
    while (!stop) run(model.get(), numbers.tensor, &failure);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Numbers numbers({1, 2});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(run(model.get(), numbers.tensor).ran) << said();
  // Ten runs of 20 ms. A thread that polled would get in once in hundreds of them.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  stop = true;
  busy.join();
}

TEST_F(ConcurrentRuns, WaitNoLongerThanTheCallerAllows) {
  const auto model = load();
  ASSERT_TRUE(model) << said();
  const Numbers numbers({1, 2});
  const enginehost_input input = {"x", &numbers.tensor};
  const Handle<enginehost_cancel> cancel(enginehost_cancel_new());
  enginehost_cancel_now(cancel.get());
  std::atomic<bool> stop = false;
  std::thread busy([&] {
    std::string failure;
    while (!stop) run(model.get(), numbers.tensor, &failure);
  });
  // A call that finds the model idle runs, and this engine's runs do not check for cancellation.
  bool interrupted = false;
  for (int i = 0; i < 100 && !interrupted; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // lets the other one run
    enginehost_outputs* outputs = nullptr;
    interrupted = enginehost_model_run(model.get(), &input, 1, cancel.get(), &outputs, nullptr) ==
                  ENGINEHOST_INTERRUPTED;
    enginehost_outputs_free(outputs);
  }
  EXPECT_TRUE(interrupted);
  stop = true;
  busy.join();
}

TEST_F(ConcurrentRuns, DescribeThemselvesToAProgramOfTheFirstHeader) {
  const auto model = load();
  ASSERT_TRUE(model) << said();
  enginehost_port port = ENGINEHOST_PORT_INIT;
  port.size = offsetof(enginehost_port, dtype_bits) + 1;  // the size of a packed binding
  EXPECT_EQ(enginehost_model_input(model.get(), 0, &port, nullptr), ENGINEHOST_OK);
  EXPECT_STREQ(port.name, "x");
  enginehost_check check = ENGINEHOST_CHECK_INIT;
  check.size = offsetof(enginehost_check, reserved);
  EXPECT_EQ(enginehost_engine_check(engine_.get(), nullptr, nullptr, &check, nullptr), ENGINEHOST_OK);
  enginehost_device device = ENGINEHOST_DEVICE_INIT;
  EXPECT_EQ(enginehost_engine_device(engine_.get(), 0, &device, nullptr), ENGINEHOST_OK);
  port.size = 8;
  EXPECT_EQ(enginehost_model_input(model.get(), 0, &port, nullptr), ENGINEHOST_INVALID);
}

}  // namespace
}  // namespace enginehost::test
