#include <algorithm>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/process.hpp"
#include "host/linker/refusals.hpp"
#include "host/linker/this_linux.hpp"

namespace enginehost::linker {
namespace {

// Calls the function with each NAME=value until it returns false.
template <typename Function>
void for_each_variable(std::string_view bytes, Function&& function) {
  while (!bytes.empty()) {
    const std::string_view variable = bytes.substr(0, bytes.find('\0'));
    if (!function(variable)) return;
    bytes.remove_prefix(std::min(bytes.size(), variable.size() + 1));
  }
}

}  // namespace

bool is_environment(std::string_view bytes) {
  bool sound = bytes.empty() || bytes.back() == '\0';
  for_each_variable(bytes, [&](std::string_view variable) {
    const std::size_t name = variable.find('=');
    return sound &= name != 0 && name != variable.npos && variable.find(' ') >= name;
  });
  return sound;
}

std::optional<std::string> environment_at_start() {
  Result<std::string> bytes = read_file("/proc/self/environ");
  if (!bytes || !is_environment(*bytes)) return std::nullopt;
  return std::move(*bytes);
}

std::optional<std::string> variable_in(std::string_view environment, std::string_view name) {
  std::optional<std::string> value;
  for_each_variable(environment, [&](std::string_view variable) {
    if (variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=')
      value = variable.substr(name.size() + 1);
    return !value;
  });
  return value;
}

std::optional<std::string> variable_at_start(std::string_view name) {
  const std::optional<std::string> environment = environment_at_start();
  return environment ? variable_in(*environment, name) : environment_variable(std::string(name).c_str());
}

const std::string& loader_tunables_at_start() {
  static const auto& text = *new std::string(variable_at_start("GLIBC_TUNABLES").value_or(""));
  return text;
}

std::vector<std::string> loader_variables_for_child() {
  std::vector<std::string> changes;
#ifdef __linux__
  // Variables of ld.so(8) that decide which libraries are loaded and how, and one that would make a child
  // only list them.
  static constexpr const char* names[] = {
      "LD_LIBRARY_PATH", "LD_PRELOAD",      "LD_AUDIT",      "GLIBC_TUNABLES",          "LD_BIND_NOW",
      "LD_BIND_NOT",     "LD_DYNAMIC_WEAK", "LD_HWCAP_MASK", "LD_TRACE_LOADED_OBJECTS", "LD_ORIGIN_PATH"};
  const bool secure = has_more_rights_than_its_caller();
  const std::optional<std::string> environment = environment_at_start();
  for (const std::string name : names) {
    const std::optional<std::string> now = environment_variable(name.c_str());
    std::optional<std::string> then = environment ? variable_in(*environment, name) : now;
    if (name == names[0]) then = library_path_at_start();
    if (secure) then.reset();
    if (then != now) changes.push_back(then ? name + "=" + *then : name);
  }
#endif
  return changes;
}

}  // namespace enginehost::linker
