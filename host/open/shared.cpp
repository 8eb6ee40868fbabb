#include "host/open/shared.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <tuple>
#include <utility>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/attempt/process_engines.hpp"
#include "host/context/request.hpp"
#include "host/decision_cache/decision_cache.hpp"
#include "host/explain/explain.hpp"
#include "host/open/open.hpp"

namespace enginehost::open {
namespace {

// Checks the device of a lost engine by an operation and by the engine's self-test: a device of which one of
// them reports the loss is still lost.
Result<load::DeviceCheck> check_lost(load::Engine& engine, const load::Device& device,
                                     const load::CallOptions& options) {
  TRY_ASSIGN(load::DeviceCheck check, load::check_device(engine, device, options));
  TRY(engine.self_test(ENGINE_SELFTEST_DEVICE, device.id, options));
  return check;
}

// Creates a new engine of the same plugin and checks the device in it.
Result<load::DeviceCheck> open_again(Opened& opened, const load::Device& device,
                                     const load::CallOptions& options, std::mutex* readers) {
  load::EngineOptions again = opened.engine_options;
  again.health = opened.engine->health();
  again.call = options;
  TRY_ASSIGN(std::unique_ptr<load::Engine> engine, load::Engine::create(opened.plugin, std::move(again)));
  TRY_ASSIGN(const std::vector<load::Device> devices, engine->devices());
  TRY_ASSIGN(const load::Device same, load::find_device(devices, device.text()));
  TRY_ASSIGN(load::DeviceCheck check, check_lost(*engine, same, options));
  check.reopened = true;
  std::unique_lock<std::mutex> alone;
  if (readers != nullptr) alone = std::unique_lock(*readers);
  opened.retired.push_back(std::move(opened.engine));
  opened.engine = std::move(engine);  // opened.devices stays: applications hold its strings
  opened.engine->health()->takes_place(opened.engine->number());
  return check;
}

// Passes on the warnings of the report, because few applications read a report that ends well.
void log_warnings(const OpenContext& context, const AttemptOptions& options, const Outcome& outcome) {
  if (!options.log || log_level(options, context.settings()) > ENGINE_LOG_WARNING) return;
  const auto warn = [&](const std::string& text) {
    options.log->report({ENGINE_LOG_WARNING, "enginehost", without_passwords(text), false});
  };
  for (const std::string& warning : context.warnings()) warn(warning);
  for (const Diagnosis& warning : outcome.warnings) warn(explain::one_line(warning));
}

}  // namespace

Result<load::DeviceCheck> check_device(Opened& opened, const std::string& device,
                                       const load::CallOptions& options, std::mutex* readers) {
  TRY_ASSIGN(const load::Device wanted, load::find_device(opened.devices, device));
  load::Health& health = *opened.engine->health();
  auto check = health.is_lost(wanted.text()) ? check_lost(*opened.engine, wanted, options)
                                             : load::check_device(*opened.engine, wanted, options);
  if (!check && health.is_lost(wanted.text())) {
    auto again = open_again(opened, wanted, options, readers);
    if (again)
      check = std::move(again);
    else
      check.error().with(Key::reopening, explain::one_line(again.error()), "a new engine of the same plugin");
  }
  if (check) health.back(wanted.text());
  return check;
}

namespace {

constexpr std::chrono::milliseconds wait_step{2};

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

SharedEngine::~SharedEngine() { health_->remove_listener(listener_); }

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
    if (cancel && cancel->canceled())
      return fail(diagnose(Code::canceled).with(Key::build, opened().installed.build));
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
  const auto look = [&] {
    std::tie(open_already, must_look) = shared_engine(request.key, began);
    if (open_already && open_already->is_spoiled()) open_already.reset();
    return open_already && !must_look && !canceled;
  };
  if (look()) return open_already;

  TRY_ASSIGN(const OpenLock lock, open_lock(request.key, request.cancel));
  // Another thread may have opened it since, even if the lock was free again.
  if (look()) return open_already;
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
    share_engine(request.key, engine, std::move(watch), looked_at);
    return engine;
  };
  DecisionCache decisions = decisions_for(flags, open);
  if (auto decision = canceled ? std::nullopt : decisions.find()) {
    context = std::make_unique<OpenContext>(decision->places(), read_settings, request.cancel);
    // Before the load, which may take long.
    Watch watch(*context);
    if (open_already && leads_to(*decision, *open_already)) {
      share_engine(request.key, open_already, std::move(watch), looked_at);
      return open_already;
    }
    std::string preferred_device = decision->defaults.device;
    if (auto outcome = open_by(*context, open, std::move(*decision), looked_at))
      return share(std::move(*outcome), std::move(preferred_device), {}, std::move(watch));
  }
  TRY_ASSIGN(settings::Settings settings, read_settings());
  context = std::make_unique<OpenContext>(std::move(settings), std::nullopt, request.cancel);
  if (open_already && !canceled && is_still_right(*context, open, *open_already)) {
    share_engine(request.key, open_already, Watch(*context), looked_at);
    return open_already;
  }
  Outcome outcome = open_engine(*context, open, decisions);
  log_warnings(*context, open.attempt, outcome);
  if (!outcome.opened)
    return fail(outcome.diagnosis ? std::move(*outcome.diagnosis) : diagnose(Code::no_build_fits));
  Watch watch(*context);
  std::string preferred_device = context->settings().device, basis = basis_of(context->settings());
  return share(std::move(outcome), std::move(preferred_device), std::move(basis), std::move(watch));
}

}  // namespace enginehost::open
