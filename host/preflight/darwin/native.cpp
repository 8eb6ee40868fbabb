#include "host/preflight/native.hpp"

#include "host/linker/this_mac.hpp"
#include "host/preflight/foreign_at_home.hpp"
#include "host/preflight/memory.hpp"

namespace enginehost::preflight {

bool is_native(binary::Kind kind) { return kind == binary::Kind::macho; }

Report check_native(const Spec& spec) {
  linker::AppleMachine machine = linker::describe_this_mac();
  machine.loaded = spec.machine.loaded;
  ForeignSpec foreign = foreign_spec_of(spec);
  foreign.mac = &machine;
  foreign.on_closure = [&](const linker::Closure& closure, Report& report) {
    judge_memory(spec, closure, report);
  };
  Report report = check_foreign(foreign);
  if (is_native(report.kind)) finish_at_home(spec, report);
  return report;
}

}  // namespace enginehost::preflight
