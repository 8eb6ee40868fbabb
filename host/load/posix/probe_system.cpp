#include "host/load/probe_outcome.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>
#include <system_error>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"

namespace enginehost::load {

#ifdef __linux__
const bool probe_ends_descendants = true;
#else
const bool probe_ends_descendants = false;
#endif

std::uint64_t default_memory_limit() {
  constexpr std::uint64_t least = std::uint64_t{4} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return 0;
  return std::max(least, static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page));
}

void ask_loader(const ProbeRequest& request, Diagnosis& diagnosis) {
  const auto left_out = [&](std::string_view why) {
    diagnosis.with(Key::loader_search_left_out, why, "LD_AUDIT");
  };
  const std::filesystem::path audit = request.helper.parent_path() / "enginehost_audit.so";
  if (!request.launcher.empty()) return left_out("the probe is started by another program");
  if (std::error_code error; !std::filesystem::exists(audit, error))
    return left_out(path_text(audit) + " does not exist");
  // The variable holds a list, so a path must not contain its separators.
  if (path_text(audit).find_first_of(": ") != std::string::npos)
    return left_out("LD_AUDIT cannot hold the path of the probe's folder");
  const std::string nonce = random_hex(16);
  const auto outcome = run_helper(request, random_hex(16), audit, nonce);
  if (!outcome || outcome->canceled) return left_out("the second run could not be made");
  add_loader_search(read_loader_searches(outcome->channel, nonce), diagnosis);
}

std::optional<std::int64_t> count_oom_kills() {
  const auto groups = read_file("/proc/self/cgroup");
  if (!groups) return std::nullopt;
  for (const std::string& line : split(*groups, '\n')) {
    const std::vector<std::string> parts = split(line, ':');  // hierarchy, controllers, path
    if (parts.size() != 3 || (parts[0] != "0" && parts[1] != "memory")) continue;
    const std::string file = parts[0] == "0" ? "/sys/fs/cgroup" + parts[2] + "/memory.events"
                                             : "/sys/fs/cgroup/memory" + parts[2] + "/memory.oom_control";
    const auto events = read_file(path_of(file));
    if (!events) continue;
    for (const std::string& event : split(*events, '\n'))
      if (event.starts_with("oom_kill ")) return parse_integer(std::string_view(event).substr(9));
  }
  return std::nullopt;
}

Ending ending_of(int signal) {
  switch (signal) {
    // The three signals that end a whole service, a terminal's programs or a job. Someone sent them; no fault
    // raises them.
    case SIGKILL:
    case SIGTERM:
    case SIGINT:
    case SIGHUP:
      return Ending::killed;
    case SIGALRM:
      return Ending::alarm;
    default:
      return Ending::crash;
  }
}

bool is_reported_signal(int number) {
  return number == SIGILL || number == SIGABRT || number == SIGBUS || number == SIGFPE || number == SIGSEGV ||
         ending_of(number) == Ending::killed;
}

namespace {

std::string rule_name(std::string_view rule) {
  if (rule == "path") return "LD_LIBRARY_PATH";
  if (rule == "runpath") return "RPATH or RUNPATH";
  if (rule == "cache") return "ld.so.cache";
  return "default";
}

std::string folder_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

bool is_hwcaps_level(const std::string& folder) { return folder_of(folder).ends_with("/glibc-hwcaps"); }

// Folders of glibc before 2.37 (elf/dl-hwcaps.c).
bool is_legacy_name(std::string_view name) {
  for (const std::string_view legacy : {"tls", "x86_64", "haswell", "xeon_phi", "avx512_1", "aarch64",
                                        "atomics", "i686", "sse2", "power9", "z15"})
    if (name == legacy) return true;
  return false;
}

// Removes subfolders: the loader tries all of a folder's subfolders before the folder itself, and only the
// folder is of interest. A folder that merely has such a name stays, because nothing above it was tried.
void leave_out_subfolders(std::vector<LoaderSearch::Folder>& folders) {
  const std::vector<LoaderSearch::Folder> all = folders;
  const auto tried = [&](const std::string& path, const std::string& rule) {
    return std::any_of(all.begin(), all.end(), [&](const LoaderSearch::Folder& folder) {
      return folder.path == path && folder.rule == rule;
    });
  };
  std::erase_if(folders, [&](const LoaderSearch::Folder& folder) {
    if (is_hwcaps_level(folder.path)) return tried(folder_of(folder_of(folder.path)), folder.rule);
    for (std::string at = folder.path; is_legacy_name(at.substr(at.rfind('/') + 1));) {
      at = folder_of(at);
      if (tried(at, folder.rule)) return true;
    }
    return false;
  });
}

}  // namespace

std::vector<LoaderSearch> read_loader_searches(const std::string& channel, const std::string& nonce) {
  std::vector<LoaderSearch> searches;
  bool loading = false;
  for (const std::string& line : split(channel, '\n')) {
    // Lines before that belong to the start of the probe itself.
    loading |= line.find("\"stage\":\"preload\"") != std::string::npos ||
               line.find("\"stage\":\"load\"") != std::string::npos;
    const std::vector<std::string> words = split(line, '\t');
    if (!loading || words.size() < 4 || words[0] != "audit" || words[1] != nonce) continue;
    if (words[2] == "ask") {
      searches.push_back({words[3], words.size() > 4 ? words[4] : "", {}, {}});
    } else if (words[2] == "try" && words.size() > 4 && !searches.empty()) {
      LoaderSearch::Folder folder{folder_of(words[4]), rule_name(words[3])};
      std::vector<LoaderSearch::Folder>& folders = searches.back().folders;
      const bool known = std::any_of(folders.begin(), folders.end(), [&](const LoaderSearch::Folder& other) {
        return other.path == folder.path;
      });
      if (!known) folders.push_back(std::move(folder));
    } else if (words[2] == "take" && !searches.empty()) {
      searches.back().taken = words[3];
    }
  }
  for (LoaderSearch& search : searches) leave_out_subfolders(search.folders);
  return searches;
}

void add_loader_search(const std::vector<LoaderSearch>& searches, Diagnosis& diagnosis) {
  const auto failed = std::find_if(searches.rbegin(), searches.rend(), [](const LoaderSearch& search) {
    return search.taken.empty() && search.name.find('/') == std::string::npos;
  });
  if (failed == searches.rend()) {
    diagnosis.with(Key::loader_search_left_out, "the loader reported no search that failed", "LD_AUDIT");
    return;
  }
  diagnosis.with(Key::loader_asked_for, failed->name, "LD_AUDIT")
      .with(Key::loader_asked_by, failed->needed_by, "LD_AUDIT");
  for (const LoaderSearch::Folder& folder : failed->folders)
    diagnosis.with(Key::loader_searched, folder.path, "LD_AUDIT, " + folder.rule);
}

}  // namespace enginehost::load
