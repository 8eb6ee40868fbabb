#include "host/history/store.hpp"

#include <algorithm>
#include <limits>
#include <system_error>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/platform/thread_variables.hpp"

namespace enginehost::history {
namespace {

using platform::Fact;

// An unknown fact leaves its part out: a driver that did not respond in time does not mean that the machine
// changed.
template <class T, class Text>
void add(Fingerprint& parts, const char* name, const Fact<T>& fact, Text text) {
  if (fact.is_known()) parts.emplace_back(name, text(fact.value()));
  if (fact.is_absent()) parts.emplace_back(name, "none");
}

std::string itself(const std::string& text) { return text; }

}  // namespace

Fingerprint host_fingerprint(const platform::Platform& platform) {
  Fingerprint parts;
  add(parts, "operating system", platform.os, itself);
  add(parts, "processor architecture", platform.arch, itself);
  add(parts, "kernel", platform.kernel, itself);
  add(parts, "C library", platform.libc,
      [](const platform::Libc& libc) { return libc.name + " " + libc.version; });
  add(parts, "C++ runtime", platform.libstdcxx, [](const platform::Libstdcxx& runtime) {
    return runtime.path + " " + runtime.glibcxx + " " + runtime.cxxabi;
  });
  add(parts, "processor", platform.cpu,
      [](const platform::Cpu& cpu) { return cpu.model + ": " + join(cpu.features, " "); });
  add(parts, "NVIDIA driver", platform.cuda.driver, itself);
  add(parts, "CUDA of the driver", platform.cuda.driver_cuda, itself);
  add(parts, "driver library", platform.cuda.library, [](const platform::Installed& library) {
    return library.path + " " + library.version + " " + library.note;
  });
  add(parts, "GPUs", platform.cuda.devices, [](const std::vector<platform::CudaDevice>& devices) {
    std::vector<std::string> texts;
    for (const platform::CudaDevice& device : devices)
      texts.push_back(device.name + " " + device.compute_capability + " " + device.uuid);
    return join(texts, ", ");
  });
  add(parts, "visible GPUs", platform.cuda.visible_devices, itself);
  add(parts, "ROCm", platform.rocm,
      [](const platform::Rocm& rocm) { return rocm.version + " " + join(rocm.gfx, " "); });
  add(parts, "loader environment", platform.loader_environment, [](const platform::Variables& variables) {
    std::vector<std::string> texts;
    for (const auto& [name, value] : variables)
      if (!platform::is_thread_variable(name)) texts.push_back(name + "=" + value);
    std::sort(texts.begin(), texts.end());
    return texts.empty() ? std::string("none") : join(texts, " ");
  });
  add(parts, "cache folder allows code", platform.disk,
      [](const platform::Disk& disk) { return std::string(disk.noexec ? "no" : "yes"); });
  return parts;
}

// Checks the dependencies of records again.

namespace {

bool is_a_limit(std::string_view part) {
  return part == deadline_part || part == stack_part || part == probe_memory_part;
}

// Parses "30 s", "8192 KiB", "unlimited".
double amount_in(const std::string& limit) {
  if (limit == "unlimited") return std::numeric_limits<double>::infinity();
  return static_cast<double>(parse_integer(limit.substr(0, limit.find_first_of(" ."))).value_or(0));
}

// A lower limit elsewhere does not make the record stale.
bool allows_more(const std::string& is, const std::string& was) { return amount_in(is) > amount_in(was); }

}  // namespace

DependencyStamp dependency_stamp_of(const std::filesystem::path& path) {
  DependencyStamp dependency;
  dependency.path = path_text(path);
  const auto stamp = stamp_of(path);
  dependency.present = stamp.has_value();
  if (stamp) dependency.stamp = *stamp;
  return dependency;
}

std::vector<DependencyStamp> stamps_of_expected_paths(std::string_view library,
                                                      const std::vector<std::filesystem::path>& folders,
                                                      const std::filesystem::path& loader_cache) {
  std::vector<DependencyStamp> dependency_stamps;
  for (const std::filesystem::path& folder : folders) {
    std::error_code error;
    const bool there = std::filesystem::is_directory(folder, error);
    dependency_stamps.push_back(
        dependency_stamp_of(there && !library.empty() ? folder / path_of(library) : folder));
  }
  if (!loader_cache.empty()) dependency_stamps.push_back(dependency_stamp_of(loader_cache));
  return dependency_stamps;
}

std::string deadline_text(std::chrono::seconds deadline) { return std::to_string(deadline.count()) + " s"; }

std::string probe_memory_text(std::uint64_t bytes) {
  return bytes == 0 ? "unlimited" : std::to_string(bytes / 1024) + " KiB";
}

bool rests_on_a_limit(const Record& record) {
  return std::ranges::any_of(
      record.host, [](const auto& part) { return part.first != deadline_part && is_a_limit(part.first); });
}

bool is_of_loading(const Record& record, std::string_view loading_digest) {
  return std::ranges::none_of(record.host, [&](const auto& part) {
    return part.first == loading_part && part.second != loading_digest;
  });
}

std::string what_changed(const Fingerprint& was, const Fingerprint& is) {
  const auto stays = [](const std::string& name, const std::string& value, const std::string& other) {
    if (is_a_limit(name)) return !allows_more(other, value);
    if (name != helper_part) return value == other;
    const std::vector<std::string> helpers = split(value, ',');
    return std::find(helpers.begin(), helpers.end(), other) != helpers.end();
  };
  // A part that one side lacks is not compared, because it was or is unknown.
  for (const auto& [name, value] : was)
    for (const auto& [other_name, other] : is)
      if (name == other_name && !stays(name, value, other)) {
        std::string text = "the ";
        text.append(name).append(" changed from \"").append(value).append("\" to \"").append(other);
        return text + "\"";
      }
  return {};
}

}  // namespace enginehost::history
