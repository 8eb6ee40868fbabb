// A child of fork() and the handles of its parent: every call fails at once, and freeing does nothing.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

#include "tests/sdk/played_engine.hpp"

namespace enginehost::test {
namespace {

constexpr unsigned longest_seconds = 20;

// The exit status of a child that runs the action; 128 and the signal if one ended it.
int in_child(const std::function<bool()>& action) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(longest_seconds);
    ::_exit(action() ? 0 : 1);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

class ForkedChild : public PlayedEngine {
 protected:
  // Fails with EH-P53, which names the handle.
  static bool is_refused(const char* handle,
                         const std::function<enginehost_status(enginehost_error**)>& call) {
    enginehost_error* error = nullptr;
    const enginehost_status status = call(&error);
    const Handle<enginehost_error> owned(error);
    return status == ENGINEHOST_INVALID && std::string(enginehost_error_code(error)) == "EH-P53" &&
           std::string(enginehost_error_cause(error)).find(std::string("the ") + handle) == 0;
  }
  bool every_call_is_refused(enginehost_engine* engine, enginehost_model* model) {
    const Numbers x({1, 2});
    const enginehost_input input = {"x", &x.tensor};
    const std::string file = path_text(folder_ / "any.played");
    enginehost_check check = ENGINEHOST_CHECK_INIT;
    enginehost_device device = ENGINEHOST_DEVICE_INIT;
    enginehost_port port = ENGINEHOST_PORT_INIT;
    enginehost_watch watch = ENGINEHOST_WATCH_INIT;
    watch.on_device = [](const enginehost_device_event*, void*) {};
    enginehost_model* loaded = nullptr;
    enginehost_outputs* outputs = nullptr;
    DLManagedTensorVersioned* copy = nullptr;
    using Error = enginehost_error**;
    return is_refused("engine",
                      [&](Error error) {
                        return enginehost_model_load(engine, file.c_str(), nullptr, nullptr, nullptr, &loaded,
                                                     error);
                      }) &&
           is_refused("engine",
                      [&](Error error) {
                        return enginehost_tensor_copy(engine, &x.tensor, nullptr, nullptr, &copy, error);
                      }) &&
           is_refused("engine",
                      [&](Error error) { return enginehost_engine_self_test(engine, 0, nullptr, error); }) &&
           is_refused(
               "engine",
               [&](Error error) { return enginehost_engine_functional(engine, nullptr, nullptr, error); }) &&
           is_refused("engine",
                      [&](Error error) {
                        return enginehost_engine_check(engine, nullptr, nullptr, &check, error);
                      }) &&
           is_refused("engine",
                      [&](Error error) { return enginehost_engine_device(engine, 0, &device, error); }) &&
           is_refused("engine",
                      [&](Error error) {
                        return enginehost_engine_choose_device(engine, nullptr, &device, error);
                      }) &&
           is_refused(
               "engine",
               [&](Error error) { return enginehost_engine_set_default_device(engine, nullptr, error); }) &&
           is_refused("engine",
                      [&](Error error) { return enginehost_engine_watch(engine, &watch, error); }) &&
           is_refused("engine",
                      [&](Error error) { return enginehost_engine_watch(engine, nullptr, error); }) &&
           is_refused("model",
                      [&](Error error) {
                        return enginehost_model_run(model, &input, 1, nullptr, &outputs, error);
                      }) &&
           is_refused("model", [&](Error error) { return enginehost_model_input(model, 0, &port, error); }) &&
           is_refused("model",
                      [&](Error error) { return enginehost_model_output(model, 0, &port, error); }) &&
           loaded == nullptr && outputs == nullptr && copy == nullptr;
  }
  Handle<enginehost_outputs> outputs_of(enginehost_model* model) {
    const Numbers x({1, 2});
    const enginehost_input input = {"x", &x.tensor};
    enginehost_outputs* outputs = nullptr;
    enginehost_error* error = nullptr;
    status_ = enginehost_model_run(model, &input, 1, nullptr, &outputs, &error);
    error_.reset(error);
    return Handle<enginehost_outputs>(outputs);
  }
};

TEST_F(ForkedChild, IsRefusedByEveryHandleOfItsParent) {
  const auto model = load();
  ASSERT_TRUE(model) << said();
  EXPECT_EQ(in_child([&] { return every_call_is_refused(engine_.get(), model.get()); }), 0);
  const auto outputs = outputs_of(model.get());
  EXPECT_TRUE(outputs) << "the parent's goes on: " << said();
}

TEST_F(ForkedChild, OfAChildIsRefusedToo) {
  const auto model = load();
  ASSERT_TRUE(model) << said();
  EXPECT_EQ(in_child([&] {
              return in_child([&] { return every_call_is_refused(engine_.get(), model.get()); }) == 0;
            }),
            0);
}

TEST_F(ForkedChild, ReadsTextsAndFreesNothing) {
  auto model = load();
  ASSERT_TRUE(model) << said();
  auto outputs = outputs_of(model.get());
  ASSERT_TRUE(outputs) << said();
  const std::string build = enginehost_engine_build(engine_.get());
  enginehost_cancel* cancel = enginehost_cancel_new();
  EXPECT_EQ(in_child([&] {
              const bool reads = build == enginehost_engine_build(engine_.get()) &&
                                 enginehost_model_output_count(model.get()) > 0 &&
                                 enginehost_outputs_tensor(outputs.get(), 0) != nullptr &&
                                 std::string(enginehost_engine_report(engine_.get())) == "{}" &&
                                 enginehost_outputs_take(outputs.get(), 0) == nullptr;
              enginehost_cancel_free(cancel);
              outputs.reset();
              model.reset();
              engine_.reset();
              return reads;
            }),
            0);
  enginehost_cancel_free(cancel);
}

// Its thread is missing in the child, where a join would wait for ever.
TEST_F(ForkedChild, DoesNotWaitForTheThreadOfAWatch) {
  enginehost_watch watch = ENGINEHOST_WATCH_INIT;
  watch.interval_ms = 100;
  watch.on_device = [](const enginehost_device_event*, void*) {};
  enginehost_error* error = nullptr;
  ASSERT_EQ(enginehost_engine_watch(engine_.get(), &watch, &error), ENGINEHOST_OK);
  EXPECT_EQ(in_child([&] {
              engine_.reset();
              return true;
            }),
            0);
}

// Another thread of the parent may be inside a call, whose locks nobody releases in the child.
TEST_F(ForkedChild, DoesNotWaitForACallOfItsParent) {
  const auto model = load();
  ASSERT_TRUE(model) << said();
  std::atomic<bool> over = false;
  std::thread calling([&] {
    while (!over) static_cast<void>(enginehost_engine_self_test(engine_.get(), 1, nullptr, nullptr));
  });
  for (int times = 0; times < 10; ++times)
    EXPECT_EQ(in_child([&] { return every_call_is_refused(engine_.get(), model.get()); }), 0);
  over = true;
  calling.join();
}

TEST_F(ForkedChild, OpensAnEngineOfItsOwn) {
  EXPECT_EQ(in_child([&] {
              engine_ = open(request());
              if (!engine_) return false;
              const auto model = load();
              return model && outputs_of(model.get());
            }),
            0);
}

// A tensor that an application took is still the engine's memory, and its deleter runs the engine's code.
TEST_F(ForkedChild, DoesNotReleaseTensorsThatItsParentTook) {
  const auto model = load();
  ASSERT_TRUE(model) << said();
  const auto outputs = outputs_of(model.get());
  ASSERT_TRUE(outputs) << said();
  DLManagedTensorVersioned* const taken = enginehost_outputs_take(outputs.get(), 0);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(in_child([&] {
              taken->deleter(taken);
              return taken->dl_tensor.data != nullptr && taken->deleter != nullptr;
            }),
            0);
  taken->deleter(taken);
}

}  // namespace
}  // namespace enginehost::test
