#include "host/load/in_process/call.hpp"

#include <algorithm>

#include "host/load/in_process/reported_text.hpp"

namespace enginehost::load {
namespace {

// A plugin that reports in a loop must not fill the memory.
constexpr std::size_t most_reports = 256;

}  // namespace

Call* Call::of(const engine_call* call) { return static_cast<Call*>(call->host_data); }

Call::Call(CallOptions options) : options_(std::move(options)) {
  const auto timeout = std::max(options_.timeout, std::chrono::milliseconds{0});
  deadline_ = std::chrono::steady_clock::now() + timeout;
  call_.size = sizeof call_;
  call_.timeout_ms = static_cast<std::uint32_t>(std::min<std::int64_t>(timeout.count(), UINT32_MAX));
  call_.host_data = this;
  call_.is_cancelled = [](const engine_call* call) noexcept -> std::int32_t {
    return of(call)->canceled() ? 1 : 0;
  };
  call_.progress = [](engine_call* call, std::uint64_t done, std::uint64_t total,
                      const char* stage) noexcept {
    const auto& report = of(call)->options_.progress;
    if (!report) return;
    try {
      report(done, total, std::string_view(stage != nullptr ? stage : "", reported_length(stage)));
    } catch (...) {  // an application's callback that throws must not end the process inside a plugin
    }
  };
  call_.fail = [](engine_call* call, engine_status status, const char* origin, std::int64_t native,
                  const char* message) noexcept {
    try {
      const std::lock_guard lock(of(call)->mutex_);
      if (of(call)->reports_.size() < most_reports)
        of(call)->reports_.push_back(
            {status, reported_text(origin), native, reported_text(message, longest_message)});
    } catch (...) {  // out of memory: the status itself still reports the failure
    }
    return status;
  };
  call_.detail = [](engine_call* call, const char* key, const char* value) noexcept {
    try {
      const std::lock_guard lock(of(call)->mutex_);
      if (of(call)->details_.size() < most_reports)
        of(call)->details_.emplace_back(reported_text(key), reported_text(value));
    } catch (...) {
    }
  };
}

bool Call::timed_out() const {
  return options_.timeout.count() > 0 && std::chrono::steady_clock::now() >= deadline_;
}

bool Call::canceled() const { return (options_.cancel && options_.cancel->canceled()) || timed_out(); }

std::vector<Call::Report> Call::reports() const {
  const std::lock_guard lock(mutex_);
  return reports_;
}

std::vector<std::pair<std::string, std::string>> Call::details() const {
  const std::lock_guard lock(mutex_);
  return details_;
}

Result<void> Call::finish(engine_status status) const {
  if (status == ENGINE_OK) return {};
  if (status == ENGINE_CANCELLED && canceled())
    return enginehost::fail(
        diagnose(Code::canceled).with(Key::reason, timed_out() ? "the time was over" : "on request"));
  return enginehost::fail(report(status));
}

std::optional<Diagnosis> Call::overcome(std::string_view function) const {
  if (reports().empty()) return std::nullopt;
  return std::move(report(ENGINE_OK).with(Key::overcome, function));
}

Diagnosis Call::report(engine_status status) const {
  Diagnosis diagnosis =
      diagnose(Code::engine_reports_error).with(Key::status, name_of_status(status), "the plugin");
  const std::vector<Report> reported = reports();
  // The first report is the cause, later ones are context.
  for (std::size_t i = 0; i < reported.size(); ++i) {
    if (i == 0) {
      if (!reported[i].origin.empty())
        diagnosis.with(Key::origin, reported[i].origin, "the plugin")
            .with(Key::native, std::to_string(reported[i].native), "the plugin");
      if (!reported[i].message.empty()) diagnosis.with(Key::message, reported[i].message, "the plugin");
    } else if (!reported[i].message.empty()) {
      diagnosis.with(Key::then, reported[i].message, "the plugin");
    }
  }
  for (const auto& [key, value] : details())
    if (!key.empty()) diagnosis.with_named(key, value, "the plugin");
  return diagnosis;
}

Diagnosis gave_wrongly(std::string_view function, std::string_view what) {
  return std::move(
      diagnose(Code::engine_reports_error)
          .with(Key::status, name_of_status(ENGINE_INTERNAL))
          .with(Key::message, std::string(function) + "() succeeded but gave " + std::string(what)));
}

std::string name_of_status(engine_status status) {
  constexpr std::pair<engine_status, const char*> names[] = {{ENGINE_OK, "ENGINE_OK"},
                                                             {ENGINE_INVALID, "ENGINE_INVALID"},
                                                             {ENGINE_UNSUPPORTED, "ENGINE_UNSUPPORTED"},
                                                             {ENGINE_UNAVAILABLE, "ENGINE_UNAVAILABLE"},
                                                             {ENGINE_NO_MEMORY, "ENGINE_NO_MEMORY"},
                                                             {ENGINE_CANCELLED, "ENGINE_CANCELLED"},
                                                             {ENGINE_CORRUPT, "ENGINE_CORRUPT"},
                                                             {ENGINE_INTERNAL, "ENGINE_INTERNAL"},
                                                             {ENGINE_LOST, "ENGINE_LOST"}};
  for (const auto& [known, name] : names)
    if (known == status) return name;
  return "status " + std::to_string(status);
}

}  // namespace enginehost::load
