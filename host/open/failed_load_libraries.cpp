#include "host/open/failed_load_libraries.hpp"

#include <filesystem>
#include <mutex>
#include <system_error>

#include "base/paths.hpp"

namespace enginehost::open {
namespace {

struct FailedLoad {
  std::string build, digest;
  std::vector<load::Library> libraries;
  bool remembered = false;
};

struct Process {
  std::mutex mutex;
  std::vector<FailedLoad> all;
};

// Belongs to the process, because later requests meet the same libraries. Never destroyed.
Process& process() {
  static Process& one = *new Process;
  return one;
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || std::filesystem::equivalent(path_of(a), path_of(b), error);
}

}  // namespace

void note_failed_load_libraries(const cache::Installed& installed, std::vector<load::Library> libraries,
                                bool remembered) {
  std::erase_if(libraries, [](const load::Library& library) { return library.soname.empty(); });
  const std::lock_guard lock(process().mutex);
  for (FailedLoad& known : process().all)
    known.remembered = known.remembered || (remembered && known.build == installed.build);
  if (libraries.empty()) return;
  process().all.push_back({installed.build, installed.digest, std::move(libraries), remembered});
}

void forget_failed_load_libraries(const cache::Installed& installed) {
  const std::lock_guard lock(process().mutex);
  std::erase_if(process().all, [&](const FailedLoad& known) { return known.digest == installed.digest; });
}

bool any_failed_load_libraries() {
  const std::lock_guard lock(process().mutex);
  return !process().all.empty();
}

std::optional<Diagnosis> conflict_with_failed_load(const cache::Installed& installed,
                                                   const std::vector<load::Library>& needs) {
  const std::lock_guard lock(process().mutex);
  for (const FailedLoad& left : process().all) {
    if (left.digest == installed.digest) continue;
    for (const load::Library& there : left.libraries)
      for (const load::Library& need : needs) {
        if (need.soname != there.soname || same_file(need.path, there.path)) continue;
        Diagnosis diagnosis = diagnose("EH-L17");
        diagnosis.with("library", need.soname)
            .with("path", there.path, "libraries of this process")
            .with("wanted", need.path, "files of the build")
            .with("left_by", left.build, "a build that failed to load in this process");
        // A build that is not quarantined is the first choice of a new process again.
        if (left.remembered) diagnosis.with("next_open", installed.build);
        return diagnosis;
      }
  }
  return std::nullopt;
}

}  // namespace enginehost::open
