#include "host/open/shared.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/per_process.hpp"
#include "base/text.hpp"
#include "host/open/decision_cache.hpp"
#include "host/open/document.hpp"
#include "host/open/open_lock.hpp"
#include "host/open/request.hpp"

namespace enginehost::open {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds look_again_after{1};
constexpr std::chrono::milliseconds wait_step{2};

// A folder that is kept open, so that checking it resolves no path. A folder that did not exist at first is
// checked by its path.
class WatchedFolder {
 public:
  WatchedFolder() = default;
  explicit WatchedFolder(std::string path)
      : path_(std::move(path)),
        descriptor_(path_.empty() ? -1 : calls::open(path_, O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

  // Returns the current stamp, or zeros if the folder does not exist (any more).
  FileStamp now() const {
    calls::Status status{};
    const bool held = descriptor_.valid();
    if (held ? calls::fstat(descriptor_.get(), &status) != 0
             : path_.empty() || calls::stat(path_, &status) != 0)
      return {};
    if (status.st_nlink == 0) return {};
    return {static_cast<std::uint64_t>(status.st_dev), status.st_ino, 0, calls::modified_ns(status)};
  }

 private:
  std::string path_;
  FileDescriptor descriptor_;
};

// The state that is checked each time an engine is shared: two folders and the environment. The cached
// decision notices within a second that a folder was moved away.
class Watch {
 public:
  explicit Watch(const OpenContext& context)
      : builds_(builds_folder(context.store().root())),
        records_(context.state_folder().empty() ? std::string() : records_folder(context.state_folder())),
        seen_(now()) {}
  bool is_unchanged() const { return now() == seen_; }

 private:
  struct State {
    std::uint64_t environment = 0;
    FileStamp builds, records;
    bool operator==(const State&) const = default;
  };
  State now() const { return {environment_digest(), builds_.now(), records_.now()}; }

  WatchedFolder builds_, records_;
  State seen_;
};

struct Entry {
  std::string key;
  std::weak_ptr<SharedEngine> engine;
  Watch watch;
  Clock::time_point looked_at, put_at;
};

class Table {
 public:
  // Never destroyed, because engines may be freed while the process ends. A forked child starts with an empty
  // table, because it does not have the threads and devices of its parent's engines.
  static Table& of_this_process() {
    static PerProcess<Table> table;
    return table.here();
  }

  // Returns the open engine, and whether its dependencies must be checked before it is shared. A call that
  // began before the engine was put here needs no check.
  std::pair<std::shared_ptr<SharedEngine>, bool> find(const std::string& key, Clock::time_point began) {
    std::shared_ptr<SharedEngine> engine;  // may be the last reference; it is released after the mutex
    const std::lock_guard<std::mutex> hold(mutex_);
    Entry* const entry = entry_of(key);
    if (entry == nullptr) return {};
    engine = entry->engine.lock();
    if (!engine || engine->is_spoiled()) return {};
    const bool looked = entry->put_at >= began || Clock::now() - entry->looked_at < look_again_after;
    return {std::move(engine), !looked || !entry->watch.is_unchanged()};
  }

  void put(const std::string& key, const std::shared_ptr<SharedEngine>& engine, Watch watch,
           Clock::time_point looked_at) {
    const std::lock_guard<std::mutex> hold(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; });
    entries_.push_back({key, engine, std::move(watch), looked_at, Clock::now()});
  }

  // Removes the watched folders of engines that nobody holds any more.
  void drop_closed() {
    const std::lock_guard<std::mutex> hold(mutex_);
    std::erase_if(entries_, [](const Entry& entry) { return entry.engine.expired(); });
  }

 private:
  Entry* entry_of(const std::string& key) {
    const auto found =
        std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    return found != entries_.end() ? &*found : nullptr;
  }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

bool leads_to(const CachedDecision& decision, const SharedEngine& engine) {
  const cache::Installed& installed = engine.opened().installed;
  return decision.build == installed.build && decision.digest == installed.digest &&
         decision.fallback == engine.outcome().fallback;
}

std::string basis_of(const settings::Settings& settings) {
  std::string text = std::to_string(environment_digest());
  for (const settings::Setting& setting : settings.effective)
    text.append("\n").append(setting.key).append("=").append(setting.value);
  return text;
}

// Returns true if deciding again, under the same settings, would lead to this engine.
bool is_still_right(OpenContext& context, const OpenRequest& open, const SharedEngine& engine) {
  if (open.bypass_cache || engine.basis() != basis_of(context.settings())) return false;
  context.spare_unreached();
  const auto plan = decide(context, completed(open.request, defaults_of(context.settings())));
  if (!plan || plan->fallback != engine.outcome().fallback) return false;
  const auto first = std::ranges::find(plan->candidates, 1, &resolve::Candidate::rank);
  const cache::Installed& installed = engine.opened().installed;
  if (first == plan->candidates.end() || !first->proven || first->build->id != installed.build) return false;
  const auto found = context.store().find(installed.build);
  return found && *found && (*found)->digest == installed.digest;
}

}  // namespace

SharedEngine::SharedEngine(std::unique_ptr<OpenContext> context, Outcome outcome,
                           std::string preferred_device, std::string basis)
    : context_(std::move(context)),
      outcome_(std::move(outcome)),
      preferred_device_(std::move(preferred_device)),
      basis_(std::move(basis)) {
  for (const load::Device& device : outcome_.opened->devices) device_names_.push_back(device.text());
  health_ = outcome_.opened->engine->health();
  listener_ = health_->add_listener([spoiled = spoiled_](const load::DeviceEvent& happened) {
    if (happened.lost) *spoiled = true;
  });
}

SharedEngine::~SharedEngine() {
  health_->remove_listener(listener_);
  Table::of_this_process().drop_closed();
}

const std::string& SharedEngine::report() {
  const std::lock_guard<std::mutex> hold(reporting_);
  if (!report_) {
    // A copy, because weigh() fills in the plan while others read the outcome.
    Outcome copy = outcome_;
    if (copy.chosen != nullptr) {
      const auto number = outcome_.chosen - outcome_.plan.candidates.data();
      copy.chosen = copy.plan.candidates.data() + number;
    }
    report_ = without_passwords(document(*context_, copy).dump(2));
  }
  return *report_;
}

Result<std::unique_lock<std::mutex>> SharedEngine::exclusive(const std::optional<CancelToken>& cancel) {
  std::unique_lock<std::mutex> lock(calls_, std::try_to_lock);
  // Rarely contended. Polls, because a sleeping waiter would not notice a cancellation.
  while (!lock.owns_lock()) {
    if (cancel && cancel->canceled()) return fail(diagnose("EH-P10").with("build", opened().installed.build));
    std::this_thread::sleep_for(wait_step);
    lock.try_lock();
  }
  return lock;
}

Result<load::DeviceCheck> SharedEngine::check(const std::string& device, const load::CallOptions& options) {
  TRY_ASSIGN(const auto alone, exclusive(options.cancel));
  // A document queries the engine, so the engine must not be replaced meanwhile.
  return check_device(*outcome_.opened, device, options, &reporting_);
}

Result<std::shared_ptr<SharedEngine>> open_shared(const SharedRequest& request) {
  const Clock::time_point began = Clock::now();
  const bool canceled = request.cancel && request.cancel->canceled();
  std::shared_ptr<SharedEngine> open_already;
  bool must_look = false;
  std::tie(open_already, must_look) = Table::of_this_process().find(request.key, began);
  if (open_already && !must_look && !canceled) return open_already;

  TRY_ASSIGN(const OpenLock lock, open_lock(request.key, request.cancel));
  // Another thread may have opened it since, even if the lock was free again.
  if (!canceled) {
    std::tie(open_already, must_look) = Table::of_this_process().find(request.key, began);
    if (open_already && !must_look) return open_already;
  }
  const Clock::time_point looked_at = Clock::now();
  const settings::FlagValues flags = request.flags();
  const auto read_settings = [flags] {
    return settings::load_settings(flags, settings::Environment::of_this_process());
  };
  std::unique_ptr<OpenContext> context;
  const OpenRequest open =
      request.request([&context]() -> const settings::Settings& { return context->settings(); });
  const auto share = [&](Outcome outcome, std::string preferred_device, std::string basis, Watch watch) {
    auto engine = std::make_shared<SharedEngine>(std::move(context), std::move(outcome),
                                                 std::move(preferred_device), std::move(basis));
    Table::of_this_process().put(request.key, engine, std::move(watch), looked_at);
    return engine;
  };
  DecisionCache decisions = decisions_for(flags, open);
  if (auto decision = canceled ? std::nullopt : decisions.find()) {
    context = std::make_unique<OpenContext>(decision->places(), read_settings, request.cancel);
    // Before the load, which may take long.
    Watch watch(*context);
    if (open_already && leads_to(*decision, *open_already)) {
      Table::of_this_process().put(request.key, open_already, std::move(watch), looked_at);
      return open_already;
    }
    std::string preferred_device = decision->defaults.device;
    if (auto outcome = open_by(*context, open, std::move(*decision), looked_at))
      return share(std::move(*outcome), std::move(preferred_device), {}, std::move(watch));
  }
  TRY_ASSIGN(settings::Settings settings, read_settings());
  context = std::make_unique<OpenContext>(std::move(settings), std::nullopt, request.cancel);
  if (open_already && !canceled && is_still_right(*context, open, *open_already)) {
    Table::of_this_process().put(request.key, open_already, Watch(*context), looked_at);
    return open_already;
  }
  Outcome outcome = open_engine(*context, open, decisions);
  if (!outcome.opened) return fail(outcome.diagnosis ? std::move(*outcome.diagnosis) : diagnose("EH-S01"));
  Watch watch(*context);
  std::string preferred_device = context->settings().device, basis = basis_of(context->settings());
  return share(std::move(outcome), std::move(preferred_device), std::move(basis), std::move(watch));
}

}  // namespace enginehost::open
