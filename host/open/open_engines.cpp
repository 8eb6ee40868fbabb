#include "host/open/open_engines.hpp"

#include <algorithm>
#include <mutex>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/load/in_process/audit.hpp"
#include "host/load/in_process/loaded.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::open {
namespace {

struct OpenEngine {
  std::string build, identity;
  std::vector<std::string> folders;

  bool brought(const std::string& library) const {
    return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
      return is_below(path_of(library), path_of(folder));
    });
  }
};

struct Process {
  std::mutex mutex;
  std::vector<OpenEngine> all;
  std::uint64_t noted = 0;
};

// Belongs to the process and not to a request. Never destroyed.
Process& process() {
  static Process& one = *new Process;
  return one;
}

// Returns the build whose engine brought that library, if it is another build.
std::string bringer(const std::string& library, std::string_view identity) {
  const std::lock_guard lock(process().mutex);
  for (const OpenEngine& open_engine : process().all)
    if (open_engine.identity != identity && open_engine.brought(library)) return open_engine.build;
  return {};
}

// A second copy ends the process: openmp/runtime/src/kmp_runtime.cpp, __kmp_register_library_startup.
bool duplicates_are_allowed() {
  const settings::Environment environment = settings::Environment::of_this_process();
  const std::string* const allowed = environment.find("KMP_DUPLICATE_LIB_OK");
  return allowed != nullptr && std::string_view("1tTyY").find(allowed->front()) != std::string_view::npos;
}

bool is_llvms_openmp(std::string_view library) {
  return library.starts_with("libomp") || library.starts_with("libiomp5");
}

std::optional<Diagnosis> served_by_another(const Diagnosis& warning, const std::string& identity) {
  const std::string path(warning.value("path"));
  if (warning.value("needed_by").empty()) return std::nullopt;
  const std::string holder = bringer(path, identity);
  if (holder.empty() || load::same_content(path_of(path), path_of(warning.value("wanted"))))
    return std::nullopt;
  Diagnosis refused = warning;
  refused.with("held_by", holder, "engines open in this process");
  return refused;
}

std::optional<Diagnosis> second_openmp(const Diagnosis& warning, const std::string& identity) {
  const std::vector<std::string> libraries = warning.values("library"), paths = warning.values("path");
  if (std::count_if(libraries.begin(), libraries.end(), is_llvms_openmp) < 2 || duplicates_are_allowed())
    return std::nullopt;
  for (std::size_t i = 0; i < std::min(libraries.size(), paths.size()); ++i) {
    const std::string holder = is_llvms_openmp(libraries[i]) ? bringer(paths[i], identity) : std::string();
    if (holder.empty()) continue;
    Diagnosis refused = warning;
    refused.with("held_by", holder, "engines open in this process");
    return refused;
  }
  return std::nullopt;
}

}  // namespace

std::string identity_of(const cache::Installed& installed) {
  return installed.digest.empty() ? path_text(installed.folder / path_of(installed.plugin))
                                  : installed.digest;
}

void note_engine(const std::string& build, const std::string& identity, std::vector<std::string> folders) {
  const std::lock_guard lock(process().mutex);
  for (OpenEngine& known : process().all)
    if (known.identity == identity) {
      known.folders = std::move(folders);
      return;
    }
  process().all.push_back({build, identity, std::move(folders)});
  ++process().noted;
}

std::uint64_t engines_noted() {
  const std::lock_guard lock(process().mutex);
  return process().noted;
}

bool engine_beside(std::string_view identity) {
  const std::lock_guard lock(process().mutex);
  std::vector<OpenEngine>& all = process().all;
  if (std::none_of(all.begin(), all.end(),
                   [&](const OpenEngine& open_engine) { return open_engine.identity != identity; }))
    return false;
  const std::vector<load::Library> mapped = load::mapped_libraries();
  std::erase_if(all, [&](const OpenEngine& open_engine) {
    return std::none_of(mapped.begin(), mapped.end(),
                        [&](const load::Library& library) { return open_engine.brought(library.path); });
  });
  return std::any_of(all.begin(), all.end(),
                     [&](const OpenEngine& open_engine) { return open_engine.identity != identity; });
}

std::optional<Diagnosis> conflict_with_engines(const std::string& identity,
                                               const std::vector<Diagnosis>& warnings) {
  for (const Diagnosis& warning : warnings) {
    std::optional<Diagnosis> refused;
    if (warning.code == "EH-L17") refused = served_by_another(warning, identity);
    if (warning.code == "EH-L35") refused = second_openmp(warning, identity);
    if (refused) return refused;
  }
  return std::nullopt;
}

}  // namespace enginehost::open
