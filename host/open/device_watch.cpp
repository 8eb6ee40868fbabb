#include "host/open/device_watch.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include "base/cancel.hpp"
#include "base/text.hpp"
#include "host/load/in_process/call.hpp"
#include "host/platform/detect.hpp"

namespace enginehost::open {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds longest_question{10};  // the limit of engine_plugin.h for a self-test
constexpr int rarest = 16;

// A transient failure does not show that the device is lost.
bool rests_on_transient(const Diagnosis& failure) {
  return failure.code == Code::canceled || failure.value(Key::status) == "ENGINE_NO_MEMORY" ||
         failure.value(Key::status) == "ENGINE_CANCELLED" ||
         failure.value(Key::status) == "ENGINE_UNSUPPORTED";
}

Diagnosis lost_device(const std::string& device, const std::string& build, const Diagnosis& why,
                      const std::vector<std::string>& signs) {
  Diagnosis lost = diagnose(Code::device_lost);
  lost.with(Key::device, device, "the engine").with(Key::build, build);
  for (const std::string& sign : signs) lost.with(Key::sign, sign, "device files");
  lost.evidence.insert(lost.evidence.end(), why.evidence.begin(), why.evidence.end());
  return lost;
}

}  // namespace

struct DeviceWatch::State {
  struct Watched {
    load::Device device;
    Clock::time_point next;
    int patience = 1;  // intervals until the next self-test
  };

  std::shared_ptr<SharedEngine> engine;
  WatchOptions options;
  std::vector<Watched> watched;
  platform::DeviceSigns first_signs, signs;  // at the start of the watch; at the last check
  CancelToken cancel;
  std::thread thread;

  std::mutex mutex;
  std::condition_variable woken;
  bool ended = false;                   // under the mutex, like `heard`
  std::deque<load::DeviceEvent> heard;  // events to report

  void hear(const load::DeviceEvent& event) {
    {
      const std::lock_guard<std::mutex> hold(mutex);
      const bool ours = std::any_of(watched.begin(), watched.end(),
                                    [&](const Watched& one) { return one.device.text() == event.device; });
      if (!ours) return;
      heard.push_back(event);
    }
    woken.notify_one();
  }

  // Runs the self-test as any caller would, but does not count it as work: a passed self-test must not end
  // the crash guard before the first real work. `asked`: the number of the tested engine; of_any if it is
  // busy.
  Result<void> ask(const load::Device& device, std::uint64_t& asked) {
    asked = load::Health::of_any;
    const auto alone = engine->try_exclusive();
    if (!alone.owns_lock()) return {};
    const load::Engine& open = engine->engine();
    asked = open.number();
    load::CallOptions call_options;
    call_options.timeout = longest_question;
    call_options.cancel = cancel;
    load::Call call(std::move(call_options));
    return call.finish(
        open.selftest_table()->run(open.instance(), ENGINE_SELFTEST_DEVICE, device.id, call.get()));
  }

  void look_after(Watched& one) {
    const std::string name = one.device.text();
    load::Health& health = *engine->health();
    std::uint64_t number = 0;
    const auto answer = ask(one.device, number);
    const bool asked = number != load::Health::of_any;
    if (health.is_lost(name)) {
      load::CallOptions call_options;
      call_options.cancel = cancel;
      if (asked && answer)
        health.back(name);
      else if (asked)
        static_cast<void>(engine->check(name, call_options));  // reports the return itself
      one.patience = health.is_lost(name) ? std::min(one.patience * 2, rarest) : 1;
    } else if (!answer) {
      const bool signs_differ = !platform::sign_changes(first_signs, signs).empty();
      if (load::reports_a_lost_device(answer.error()) ||
          (signs_differ && !rests_on_transient(answer.error())))
        health.lost(name, answer.error(), number);
    }
    one.next = Clock::now() + one.patience * options.interval;
  }

  void report(load::DeviceEvent event) {
    if (event.lost)
      event.why = lost_device(event.device, engine->opened().installed.build, event.why,
                              platform::sign_changes(first_signs, signs));
    else
      first_signs = signs;  // the signs while the device works
    options.reported(event);
  }

  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    while (!ended) {
      if (!heard.empty()) {
        load::DeviceEvent event = std::move(heard.front());
        heard.pop_front();
        lock.unlock();
        report(std::move(event));
        lock.lock();
        continue;
      }
      Clock::time_point until = Clock::now() + options.signs_interval;
      for (const Watched& one : watched) until = std::min(until, one.next);
      woken.wait_until(lock, until, [&] { return ended || !heard.empty(); });
      if (ended || !heard.empty()) continue;
      lock.unlock();
      platform::DeviceSigns now = platform::device_signs(options.root);
      const bool changed = now != signs;
      signs = std::move(now);
      for (Watched& one : watched) {
        if (changed) one.patience = 1;
        if ((changed || Clock::now() >= one.next) && !cancel.canceled()) look_after(one);
      }
      lock.lock();
    }
  }
};

DeviceWatch::DeviceWatch(std::shared_ptr<SharedEngine> engine, WatchOptions options)
    : state_(std::make_shared<State>()) {
  State& state = *state_;
  state.engine = std::move(engine);
  state.options = std::move(options);
  const Clock::time_point first = Clock::now() + state.options.interval;
  for (load::Device& device : state.options.devices) state.watched.push_back({std::move(device), first});
  state.first_signs = state.signs = platform::device_signs(state.options.root);
  listener_ = state.engine->health()->add_listener(
      [weak = std::weak_ptr<State>(state_)](const load::DeviceEvent& event) {
        if (const auto strong = weak.lock()) strong->hear(event);
      });
}

void DeviceWatch::start() {
  // Held until `thread` is set, because `reported` may destroy this object, which then reads it.
  const std::shared_ptr<State> kept = state_;
  const std::lock_guard<std::mutex> hold(kept->mutex);
  kept->thread = std::thread([kept] { kept->run(); });
}

DeviceWatch::~DeviceWatch() {
  state_->engine->health()->remove_listener(listener_);
  state_->cancel.cancel();
  {
    const std::lock_guard<std::mutex> hold(state_->mutex);
    state_->ended = true;
  }
  state_->woken.notify_one();
  // `reported` may destroy the watch. Its thread then ends by itself and holds the state until then.
  if (state_->thread.get_id() == std::this_thread::get_id())
    state_->thread.detach();
  else if (state_->thread.joinable())
    state_->thread.join();
}

}  // namespace enginehost::open
