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
#include "host/open/cached_decision.hpp"
#include "host/open/document.hpp"
#include "host/open/early_decision.hpp"
#include "host/open/open_lock.hpp"

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

// The state that is checked each time: two folders and the environment. The cached decision notices within a
// second that a folder was moved away.
struct Generation {
  std::uint64_t environment = 0;
  Folders folders;
  bool operator==(const Generation&) const = default;
};

struct Entry {
  std::string key;
  std::weak_ptr<SharedEngine> engine;
  WatchedFolder builds, records;
  Generation generation;
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
    return {std::move(engine), !looked || generation_of(*entry) != entry->generation};
  }

  // `folders`: their stamps at the time of the check, if known.
  void put(const std::string& key, const std::shared_ptr<SharedEngine>& engine, const OpenContext& context,
           Clock::time_point looked_at, const std::optional<Folders>& folders = {}) {
    const std::lock_guard<std::mutex> hold(mutex_);
    std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; });
    Entry entry;
    entry.key = key;
    entry.engine = engine;
    entry.builds = WatchedFolder(builds_folder(context.store().root()));
    if (!context.state_folder().empty())
      entry.records = WatchedFolder(records_folder(context.state_folder()));
    entry.looked_at = looked_at;
    entry.put_at = Clock::now();
    entry.generation = {environment_digest(), folders ? *folders : folders_of(entry)};
    entries_.push_back(std::move(entry));
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
  static Folders folders_of(const Entry& entry) { return {entry.builds.now(), entry.records.now()}; }
  static Generation generation_of(const Entry& entry) { return {environment_digest(), folders_of(entry)}; }

  std::mutex mutex_;
  std::vector<Entry> entries_;
};

bool leads_to(const CachedDecision& decision, const SharedEngine& engine) {
  const cache::Installed& installed = engine.opened().installed;
  return decision.build == installed.build && decision.digest == installed.digest &&
         decision.fallback == engine.outcome().fallback;
}

// Returns true if the cached decision would still lead to this engine.
bool is_still_right(OpenContext& context, const OpenRequest& open, const SharedEngine& engine) {
  const auto decision = DecisionCache(context, open).find();
  return decision && leads_to(*decision, engine);
}

}  // namespace

SharedEngine::SharedEngine(std::unique_ptr<OpenContext> context, Outcome outcome,
                           std::string preferred_device)
    : context_(std::move(context)),
      outcome_(std::move(outcome)),
      preferred_device_(std::move(preferred_device)) {
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
  const auto opened = [&](Outcome outcome, std::string preferred_device,
                          const std::optional<Folders>& folders) {
    OpenContext& seen = *context;
    auto engine =
        std::make_shared<SharedEngine>(std::move(context), std::move(outcome), std::move(preferred_device));
    Table::of_this_process().put(request.key, engine, seen, looked_at, folders);
    return engine;
  };
  const EarlyDecisionCache early_decisions(flags, open);
  if (const auto ready = canceled ? nullptr : early_decisions.find()) {
    context = std::make_unique<OpenContext>(std::move(ready->places), read_settings, request.cancel);
    if (open_already && leads_to(ready->decision, *open_already)) {
      Table::of_this_process().put(request.key, open_already, *context, looked_at, ready->folders);
      return open_already;
    }
    if (auto outcome = open_engine(*context, open, *ready, looked_at))
      return opened(std::move(*outcome), ready->device, ready->folders);
  }
  TRY_ASSIGN(settings::Settings settings, read_settings());
  context = std::make_unique<OpenContext>(std::move(settings), std::nullopt, request.cancel);
  if (open_already && !canceled && is_still_right(*context, open, *open_already)) {
    Table::of_this_process().put(request.key, open_already, *context, looked_at);
    return open_already;
  }
  Outcome outcome = open_engine(*context, open);
  if (!outcome.opened) return fail(outcome.diagnosis ? std::move(*outcome.diagnosis) : diagnose("EH-S01"));
  if (outcome.decision) early_decisions.keep(*context, outcome, *outcome.decision);
  std::string preferred_device = context->settings().device;
  return opened(std::move(outcome), std::move(preferred_device), std::nullopt);
}

}  // namespace enginehost::open
