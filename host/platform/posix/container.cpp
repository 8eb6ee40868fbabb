#include "base/environment.hpp"
#include "base/text.hpp"
#include "host/platform/parts.hpp"

namespace enginehost::platform {
namespace {

bool is_set(const char* name) { return !environment_variable(name).value_or("").empty(); }

}  // namespace

// Checks the most specific marks first, because a pod's containers also carry the marks of the runtime below.
Fact<std::string> detect_container(const Root& root) {
  using Found = Fact<std::string>;
  if (is_set("KUBERNETES_SERVICE_HOST")) return Found::known("kubernetes", "KUBERNETES_SERVICE_HOST");
  for (const char* name : {"APPTAINER_CONTAINER", "SINGULARITY_CONTAINER"})
    if (is_set(name)) return Found::known("apptainer", name);
  if (root.exists("/.singularity.d")) return Found::known("apptainer", "/.singularity.d");
  if (root.exists("/run/.containerenv")) return Found::known("podman", "/run/.containerenv");
  if (root.exists("/.dockerenv")) return Found::known("docker", "/.dockerenv");
  if (const auto manager = root.read("/run/systemd/container"); manager && !manager->empty())
    return Found::known(*manager, "/run/systemd/container");
  const std::string groups = root.read("/proc/1/cgroup").value_or("");
  static constexpr std::pair<std::string_view, const char*> marks[] = {{"kubepods", "kubernetes"},
                                                                       {"/docker", "docker"},
                                                                       {"docker-", "docker"},
                                                                       {"libpod", "podman"},
                                                                       {"/lxc/", "lxc"}};
  for (const auto& [mark, name] : marks)
    if (groups.find(mark) != std::string::npos) return Found::known(name, "/proc/1/cgroup");
  return Found::absent(
      "/.dockerenv, /run/.containerenv, /run/systemd/container, /proc/1/cgroup, environment");
}

}  // namespace enginehost::platform
