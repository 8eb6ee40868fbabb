#include "host/attempt/load_check.hpp"

#include <algorithm>
#include <string>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"
#include "host/history/program.hpp"
#include "host/platform/driver_state.hpp"
#include "host/preflight/judgments.hpp"
#include "host/resolve/cuda.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

std::vector<history::DependencyStamp> dependency_stamps_of(const Basis& basis) {
  std::vector<history::DependencyStamp> all;
  for (const fs::path& path : basis.depends_on) all.push_back(history::dependency_stamp_of(path));
  return all;
}

// Adds the expected paths of a library whose absence caused the failure, if the static check could not know
// it: only running code looked for it, or the plugin does not report its name.
void add_expected_paths(const Basis& basis, const Diagnosis& failure,
                        std::vector<history::DependencyStamp>& all) {
  std::string library(failure.value(Key::missing_library));
  const bool lazily_opened = failure.code == Code::run_time_library_missing || !library.empty();
  if (!lazily_opened && failure.value(Key::status) != "ENGINE_UNAVAILABLE") return;
  if (library.empty()) library = std::string(failure.value(Key::library));
  if (library.find('/') != std::string::npos) {
    all.push_back(history::dependency_stamp_of(path_of(library)));
    return;
  }
  if (basis.spec == nullptr) return;
  const linker::Machine& machine = basis.spec->machine;
  std::vector<fs::path> folders;
  for (const std::string& folder : linker::library_path_folders(machine)) folders.push_back(path_of(folder));
  for (const std::string& folder : machine.default_directories) folders.push_back(path_of(folder));
  for (history::DependencyStamp& stamp :
       history::stamps_of_expected_paths(library, folders, path_of(machine.cache_file)))
    all.push_back(std::move(stamp));
  if (library.empty() || (machine.hwcaps.empty() && machine.legacy_hwcaps.empty())) return;
  const auto exists = [](const std::string& folder) { return calls::access(folder, F_OK) == 0; };
  for (const fs::path& folder : folders)
    for (const std::string& place : preflight::places_of(machine, path_text(folder), library, exists))
      if (const history::DependencyStamp stamp = history::dependency_stamp_of(path_of(place));
          std::find(all.begin(), all.end(), stamp) == all.end())
        all.push_back(stamp);
}

history::Failure failure_of(const Basis& basis, const Diagnosis& diagnosis, history::Category category) {
  history::Failure failure;
  failure.build = basis.installed->build;
  failure.engine = basis.installed->engine;
  failure.digest = basis.installed->digest;
  failure.artifacts_digest = basis.artifacts;
  failure.category = category;
  failure.diagnosis = explain::to_json(diagnosis);
  failure.dependency_stamps = dependency_stamps_of(basis);
  return failure;
}

history::Fingerprint machine_for(OpenContext& context, const Basis& basis) {
  history::Fingerprint parts =
      parts_for(context.fingerprint(), basis.installed->read_only ? basis.installed->layer : fs::path());
  if (!basis.loading.empty()) parts.emplace_back(history::loading_part, basis.loading);
  return parts;
}

bool remember(OpenContext& context, const Basis& basis, const history::Failure& failure) {
  auto record = history::after_failure(failure, context.before(failure.build), machine_for(context, basis),
                                       OpenContext::now());
  if (!record) return false;
  static_cast<void>(context.remember(std::move(*record)));  // warnings() says so
  return true;
}

}  // namespace

bool remember_failure(OpenContext& context, const Basis& basis, const Diagnosis& diagnosis) {
  history::Failure failure = failure_of(basis, diagnosis, explain::category(diagnosis));
  failure.only_here = basis.works_elsewhere;
  add_expected_paths(basis, diagnosis, failure.dependency_stamps);
  return remember(context, basis, failure);
}

history::Record proof_on_processor(OpenContext& context, const Basis& basis, Json facts) {
  facts.set("works_on_processor", true);
  return history::proof_of(basis.installed->build, basis.installed->digest, basis.artifacts,
                           machine_for(context, basis), dependency_stamps_of(basis), std::move(facts),
                           OpenContext::now(), true);
}

bool remember_device_failure(OpenContext& context, const Basis& basis, const Diagnosis& diagnosis,
                             const std::optional<history::Record>& on_processor) {
  history::Failure failure = failure_of(basis, diagnosis, history::Category::host);
  failure.of_device = true;
  if (on_processor) failure.facts = on_processor->facts;
  add_expected_paths(basis, diagnosis, failure.dependency_stamps);
  return remember(context, basis, failure);
}

void remember_success(OpenContext& context, const Basis& basis, Json facts,
                      const std::optional<Diagnosis>& crashed_once) {
  if (crashed_once) {
    history::Failure failure = failure_of(basis, *crashed_once, history::Category::crash);
    failure.repeated = false;
    remember(context, basis, failure);
    return;
  }
  history::Record proof = history::proof_of(basis.installed->build, basis.installed->digest, basis.artifacts,
                                            machine_for(context, basis), dependency_stamps_of(basis),
                                            std::move(facts), OpenContext::now(), basis.has_accelerators);
  proof.engine = basis.installed->engine;
  auto record = history::after_success(std::move(proof), context.before(basis.installed->build));
  if (!record) return;
  if (!context.settings().state_folder.empty())
    history::forget_survived(context.settings().state_folder, basis.installed->digest);
  static_cast<void>(context.remember(std::move(*record)));
}

namespace {

using platform::Cuda;

bool has_no_driver(const Cuda& cuda) {
  return !cuda.driver_cuda.is_known() && !cuda.library.is_known() &&
         (cuda.driver.is_absent() || cuda.driver_cuda.is_absent());
}

// Returns "12.8" for "cu128"; empty for a flavor of another kind.
std::string toolkit_of(std::string_view flavor) {
  if (!flavor.starts_with("cu")) return {};
  const std::string digits(flavor.substr(2));
  if (digits.size() != 3 || !std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; }))
    return {};
  return digits.substr(0, 2) + "." + digits.substr(2);
}

void report_no_driver(const platform::Platform& platform, const cache::Installed& installed,
                      Diagnosis& diagnosis) {
  Diagnosis why = platform::why_no_driver(platform);
  diagnosis.code = why.code;
  diagnosis.evidence.insert(diagnosis.evidence.end(), why.evidence.begin(), why.evidence.end());
  diagnosis.with(Key::needed_by, installed.plugin);
}

void report_driver(const platform::Platform& platform, const cache::Installed& installed,
                   Diagnosis& diagnosis) {
  const Cuda& cuda = platform.cuda;
  // The version that the engine got from the driver is more reliable.
  const std::string_view found = diagnosis.value(Key::found);
  const bool finds_none = found.empty() || found == "0" || found == "0.0";
  if ((has_no_driver(cuda) && finds_none) || hides_driver(platform::driver_library_state(platform)))
    return report_no_driver(platform, installed, diagnosis);
  platform::add_driver_facts(platform, diagnosis);
  if (cuda.driver_cuda.is_known())
    diagnosis.with(Key::driver_cuda, cuda.driver_cuda.value(), cuda.driver_cuda.source());
  const std::string toolkit = toolkit_of(installed.flavor);
  if (toolkit.empty()) return;
  const bool windows = resolve::has_windows_driver(platform);
  std::string least = resolve::minor_version_driver(
      static_cast<int>(parse_integer(toolkit.substr(0, 2)).value_or(0)), windows);
  if (least.empty()) least = resolve::native_driver(toolkit, windows);
  diagnosis.with(Key::required, toolkit, "the flavor " + installed.flavor);
  if (!least.empty()) diagnosis.with(Key::minimum_driver, least, "NVIDIA's table");
}

void report_versions(const Cuda& cuda, Diagnosis& diagnosis) {
  if (cuda.library.is_known() && !cuda.library.value().version.empty())
    diagnosis.with(Key::library_version, cuda.library.value().version, cuda.library.source());
}

// CUDA ends the list at the first invalid entry. An invalid first entry hides every device.
bool hides_all(const std::string& variable) {
  const std::string first(trim(variable.substr(0, variable.find(','))));
  if (first.starts_with("GPU-") || first.starts_with("MIG-")) return false;
  return parse_integer(first).value_or(-1) < 0;
}

void report_visible_devices(const Cuda& cuda, Diagnosis& diagnosis) {
  const auto& variable = cuda.visible_devices;
  if (!variable.is_known() || !diagnosis.value(Key::visible_devices).empty()) return;
  bool hidden = hides_all(variable.value());
  if (cuda.devices.is_known()) {
    const resolve::VisibleDevices visible = resolve::visible_devices(cuda);
    hidden = hidden || (visible.devices.empty() && !cuda.devices.value().empty());
    if (!hidden && visible.certain && visible.devices.size() == cuda.devices.value().size()) return;
  }
  diagnosis.with(hidden ? Key::visible_devices : Key::limited_to, variable.value(), variable.source());
  if (hidden && cuda.devices.is_known() && !cuda.devices.value().empty())
    diagnosis.with(Key::devices, std::to_string(cuda.devices.value().size()), cuda.devices.source());
}

// The driver query met the same before the engine did, and knows its cause.
bool follows_from_the_driver(Code code) {
  return code == Code::no_gpu_visible || code == Code::driver_and_library_differ ||
         code == Code::forward_compatibility_not_supported || code == Code::cuda_unknown_error ||
         code == Code::cuda_after_fork;
}

}  // namespace

void add_gpu_facts(const platform::Platform& platform, const cache::Installed& installed,
                   Diagnosis& diagnosis) {
  if (diagnosis.code == Code::driver_too_old)
    report_driver(platform, installed, diagnosis);
  else if (follows_from_the_driver(diagnosis.code) && hides_driver(platform::driver_library_state(platform)))
    report_no_driver(platform, installed, diagnosis);
  else if (area_of(diagnosis.code) == Area::gpus)
    platform::add_driver_facts(platform, diagnosis);
  if (diagnosis.code == Code::no_gpu_visible) {
    report_visible_devices(platform.cuda, diagnosis);
    platform::add_device_facts(platform, diagnosis);
  }
  if (diagnosis.code == Code::driver_and_library_differ) report_versions(platform.cuda, diagnosis);
}

}  // namespace enginehost::open
