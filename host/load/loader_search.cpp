#include "host/load/loader_search.hpp"

#include <algorithm>
#include <string_view>

#include "base/text.hpp"

namespace enginehost::load {
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

// Returns the folder for which this one may have been tried: without "glibc-hwcaps/LEVEL", or without one
// legacy folder of glibc before 2.37 (elf/dl-hwcaps.c: "tls", the platform, "x86_64", "avx512_1").
std::string parent_of(const std::string& folder) { return folder_of(folder); }

bool is_hwcaps_level(const std::string& folder) {
  const std::string above = parent_of(folder);
  return above.ends_with("/glibc-hwcaps");
}

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
    if (is_hwcaps_level(folder.path)) return tried(parent_of(parent_of(folder.path)), folder.rule);
    for (std::string at = folder.path; is_legacy_name(at.substr(at.rfind('/') + 1));) {
      at = parent_of(at);
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
    diagnosis.with("loader_search_left_out", "the loader reported no search that failed", "LD_AUDIT");
    return;
  }
  diagnosis.with("loader_asked_for", failed->name, "LD_AUDIT")
      .with("loader_asked_by", failed->needed_by, "LD_AUDIT");
  for (const LoaderSearch::Folder& folder : failed->folders)
    diagnosis.with("loader_searched", folder.path, "LD_AUDIT, " + folder.rule);
}

}  // namespace enginehost::load
