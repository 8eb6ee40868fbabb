#include "host/linker/loader_rules.hpp"

#include "base/paths.hpp"
#include "base/version.hpp"

namespace enginehost::linker {
namespace {

bool leaves_stack_alone(const Machine& machine) {
  return machine.libc == Libc::glibc && !machine.libc_version.empty() &&
         compare_versions(machine.libc_version, "2.41") >= 0;
}

// The stack is executable from the start with glibc.rtld.execstack=2 (glibc 2.42, and backports to 2.41 in
// distributions), or if the program itself needs it.
enum class Stack { plain, perhaps_executable, executable };
Stack stack_at_start(const Machine& machine, const Request& request, Reader& reader) {
  if (tunable(request.tunables, "glibc.rtld.execstack") == 2)
    return compare_versions(machine.libc_version, "2.42") >= 0 ? Stack::executable
                                                               : Stack::perhaps_executable;
  const std::string program = path_text(machine.program);
  if (program.empty()) return Stack::plain;
  const auto& info = reader.read(program);
  return info && info->executable_stack ? Stack::perhaps_executable : Stack::plain;
}

}  // namespace

void judge_executable_stack(const Machine& machine, const Request& request, Reader& reader,
                            Closure& closure) {
  for (const Object& object : closure.objects) {
    if (object.info == nullptr || !object.info->executable_stack || object.found_by == "already loaded")
      continue;
    Diagnosis diagnosis = diagnose("EH-L20");
    diagnosis.with("file", object.path);
    const Stack stack =
        leaves_stack_alone(machine) ? stack_at_start(machine, request, reader) : Stack::executable;
    if (stack != Stack::executable) {
      // "have" would suggest a certain refusal, and the behavior of a backported 2.41 is unknown.
      if (stack == Stack::plain) diagnosis.with("have", machine.libc_version, "glibc");
      (stack == Stack::plain ? closure.refused : closure.doubts).push_back(std::move(diagnosis));
    } else if (object.found_by != "ld.so.cache" && object.found_by != "default") {
      closure.warnings.push_back(std::move(diagnosis));
    }
  }
}

}  // namespace enginehost::linker
