#include "host/linker/child_environment.hpp"

#ifdef __linux__
#include <optional>

#include "base/environment.hpp"
#include "base/process.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/this_linux.hpp"
#endif

namespace enginehost::linker {

#ifdef __linux__
std::vector<std::string> loader_variables_for_child() {
  // Variables of ld.so(8) that decide which libraries are loaded and how, and one that would make a child
  // only list them.
  static constexpr const char* names[] = {
      "LD_LIBRARY_PATH", "LD_PRELOAD",      "LD_AUDIT",      "GLIBC_TUNABLES",          "LD_BIND_NOW",
      "LD_BIND_NOT",     "LD_DYNAMIC_WEAK", "LD_HWCAP_MASK", "LD_TRACE_LOADED_OBJECTS", "LD_ORIGIN_PATH"};
  const bool secure = has_more_rights_than_its_caller();
  const std::optional<std::string> environment = environment_at_start();
  std::vector<std::string> changes;
  for (const std::string name : names) {
    const std::optional<std::string> now = environment_variable(name.c_str());
    std::optional<std::string> then = environment ? variable_in(*environment, name) : now;
    if (name == names[0]) then = library_path_at_start();
    if (secure) then.reset();
    if (then != now) changes.push_back(then ? name + "=" + *then : name);
  }
  return changes;
}
#else
std::vector<std::string> loader_variables_for_child() { return {}; }
#endif

}  // namespace enginehost::linker
