#include "host/context/crash.hpp"

#include <algorithm>
#include <iterator>

#include "host/context/this_machine.hpp"
#include "host/explain/explain.hpp"
#include "host/settings/person.hpp"

namespace enginehost::open {

history::Failure failure_of(const history::Crash& crash) {
  constexpr const char* source = "the sentinel that the process left";
  Diagnosis diagnosis = diagnose("EH-R02");
  // Without the build id, which people do not need.
  diagnosis.with("stage", crash.phase, source)
      .with("program", crash.program.substr(0, crash.program.rfind(' ')), source)
      .with("process", std::to_string(crash.pid), source)
      .with("began", settings::utc_text(crash.started), source)
      .with("build", crash.build, source);
  history::Failure failure;
  failure.build = crash.build;
  failure.digest = crash.digest;
  failure.artifacts_digest = crash.artifacts_digest;
  failure.category = history::Category::crash;
  failure.in_host = true;
  failure.program = crash.program;
  failure.boot = crash.boot;
  failure.diagnosis = explain::to_json(diagnosis);
  return failure;
}

void note_crash(OpenContext& context, const history::Crash& crash) {
  const history::Record* before = context.before(crash.build);
  history::Fingerprint machine = parts_for(context.fingerprint(), {});
  // The build died under the loading settings of its proof.
  if (before != nullptr)
    std::ranges::copy_if(before->host, std::back_inserter(machine),
                         [](const auto& part) { return part.first == history::loading_part; });
  if (auto record = history::after_failure(failure_of(crash), before, machine, OpenContext::now()))
    static_cast<void>(context.remember(std::move(*record)));  // a warning says so
}

}  // namespace enginehost::open
