#include "host/commands/program.hpp"

#include <enginehost/engine_plugin.h>

#include <cstdlib>

#include "base/limits.hpp"
#include "base/printable.hpp"
#include "host/commands/common.hpp"
#include "host/commands/entry.hpp"
#include "host/commands/say.hpp"
#include "host/commands/system.hpp"
#include "host/history/sentinel.hpp"

namespace enginehost::commands {
namespace {

open::Outcome* kept_outcome = nullptr;
bool as_document = false, over = false;

// Runs if loaded code called exit(), because a command does so only at its end. The crash marker of that code
// stays, so that the next open finds it.
void ended_by_another() {
  if (over) return;
  over = true;
  Diagnosis diagnosis = diagnose(Code::engine_ended_process_quietly);
  // Runtimes of OpenMP end a program that gets no thread. The build is not at fault then.
  if (gets_no_thread()) {
    history::disown_what_stands();
    diagnosis = diagnose(Code::limit_stopped_engine);
    diagnosis.with(Key::resource, "threads", "starting one");
    add_limits(diagnosis, Scarce::threads);
  }
  if (const auto standing = history::standing_here())
    diagnosis.with(Key::stage, standing->phase, "this process")
        .with(Key::build, standing->build, "this process");
  leave_at_once(end_with(diagnosis, as_document));
}

const char* name_of_level(std::int32_t level) {
  return level >= ENGINE_LOG_ERROR     ? "error"
         : level >= ENGINE_LOG_WARNING ? "warning"
         : level >= ENGINE_LOG_INFO    ? "info"
                                       : "debug";
}

}  // namespace

std::string describe(const load::LogMessage& message) {
  std::string line = std::string(name_of_level(message.level)) + ": " +
                     (message.topic.empty() ? std::string("engine") : printable_line(message.topic));
  if (message.in_probe) line += " (in the probe)";
  return line + ": " + printable_line(message.message);
}

open::Outcome& open_in_command(open::OpenContext& context, open::OpenRequest request,
                               const CommonFlags& flags, open::DecisionCache decisions) {
  // Never destroyed: an engine logs to the very end.
  auto& bar = *new transfer::ProgressBar(stderr, flags.quiet, !flags.json);
  open::AttemptOptions& attempt = request.attempt;
  request.asks = can_ask();
  attempt.consent = consent_for(context, &bar, flags.yes);
  attempt.progress = bar.callback();
  attempt.before_probe = [&bar] { bar.step("checking", "loads in a child process"); };
  if (!flags.quiet)
    request.before_compiling = [&bar](const Diagnosis& note) {
      bar.clear();
      say_aside("%s\n", explain::one_line(note).c_str());
    };
  attempt.log = std::make_shared<load::EngineLog>();
  attempt.log->add([&bar](const load::LogMessage& message) {
    bar.clear();
    say_aside("%s\n", describe(message).c_str());
  });
  if (flags.quiet) attempt.log_level = ENGINE_LOG_ERROR;
  if (flags.json) keep_output_for_documents();
  as_document = flags.json;
  // Exit handlers run in reverse order: those of libraries that are loaded from here on run before this one.
  std::atexit(ended_by_another);
  kept_outcome = new open::Outcome(open::open_cached(context, request, decisions));
  bar.clear();
  if (kept_outcome->opened) bar.ready(title_of(kept_outcome->opened->installed));
  return *kept_outcome;
}

}  // namespace enginehost::commands

int engine_command_ended(int status) {
  using namespace enginehost::commands;
  over = true;
  if (kept_outcome == nullptr) return status;
  // On a file system without locks the lease is a file, which must be removed.
  if (kept_outcome->opened) kept_outcome->opened->lease = enginehost::cache::Lease();
  leave_at_once(status);
}
