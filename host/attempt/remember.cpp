#include "host/attempt/remember.hpp"

#include <algorithm>

#include "base/file_calls.hpp"
#include "base/paths.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"
#include "host/history/program.hpp"
#include "host/preflight/judgments.hpp"

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
  std::string library(failure.value("missing_library"));
  const bool lazily_opened = failure.code == "EH-R15" || !library.empty();
  if (!lazily_opened && failure.value("status") != "ENGINE_UNAVAILABLE") return;
  if (library.empty()) library = std::string(failure.value("library"));
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
                                            std::move(facts), OpenContext::now());
  auto record = history::after_success(std::move(proof), context.before(basis.installed->build));
  if (!record) return;
  if (!context.settings().state_folder.empty())
    history::forget_survived(context.settings().state_folder, basis.installed->digest);
  static_cast<void>(context.remember(std::move(*record)));
}

}  // namespace enginehost::open
