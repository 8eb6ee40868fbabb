// The results of the machine's own loader: the output of ldd and `ld-musl --list`.
#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/search.hpp"

namespace enginehost::test {

struct LoaderAnswer {
  std::vector<std::string> order;  // real paths of what was found, in load order, without ld.so and the vdso
  std::set<std::string> missing;
  std::set<std::string> versions;  // "GLIBC_2.99 of /lib/.../libc.so.6 by /a/libx.so"
  std::string error;               // the loader gave up
  // For each search the existing places in order: (needer, name) -> folders, and "cache:PATH". Subfolders for
  // processors count as the folder they are in. With an audit library only.
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> searches;
};

inline std::string real_path(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(path, ignored);
  return ignored ? path : real.native();
}

inline bool is_loader_itself(const std::string& path) {
  return path.find("/ld-linux") != std::string::npos || path.find("/ld-musl") != std::string::npos ||
         path.find("/ld-2.") != std::string::npos;
}

// The real names of folders, cached, because the same few are resolved thousands of times.
inline const std::string& real_folder(const std::string& folder) {
  static std::map<std::string, std::string> known;
  auto [at, added] = known.try_emplace(folder);
  std::error_code ignored;
  if (added && std::filesystem::is_directory(folder, ignored)) at->second = real_path(folder);
  return at->second;  // empty: the folder does not exist
}

// The folder that `folder` is a processor's subfolder of: glibc searches glibc-hwcaps/x86-64-v3, and before
// 2.37 tls, the platform and x86_64 in any combination. Empty: it is none.
inline std::string parent_of_sub_folder(const std::string& folder) {
  static const std::set<std::string> sub_folders{"tls",       "x86_64",    "haswell",
                                                 "xeon_phi",  "avx512_1",  "x86-64-v2",
                                                 "x86-64-v3", "x86-64-v4", "glibc-hwcaps"};
  const std::size_t slash = folder.rfind('/');
  if (slash == std::string::npos || slash == 0 || sub_folders.count(folder.substr(slash + 1)) == 0) return {};
  return folder.substr(0, slash);
}

inline std::string searched_folder(std::string folder) {
  for (std::string parent; !(parent = parent_of_sub_folder(folder)).empty();) folder = parent;
  return folder;
}

// Whether `file` is in the folder or in one of its subfolders for processors.
inline bool lies_in(const std::string& file, const std::string& folder) {
  std::string at = file.substr(0, file.rfind('/'));
  for (; !at.empty() && at != folder;) at = parent_of_sub_folder(at);
  return at == folder;
}

inline void add_place(std::vector<std::string>& places, const std::string& place) {
  if (!place.empty() && std::find(places.begin(), places.end(), place) == places.end())
    places.push_back(place);
}

// Parses the lines of tests/linker/audit.c.
inline std::map<std::pair<std::string, std::string>, std::vector<std::string>> parse_searches(
    const std::string& text, const std::string& file) {
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> searches;
  std::vector<std::string>* current = nullptr;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t tab = line.find('\t');
    const std::string first = line.substr(2, tab - 2), second = line.substr(tab + 1);
    if (line.front() == 'n') {
      // The program itself has no name there.
      current = &searches[{real_path(second.empty() ? file : second), first}];
    } else if (current != nullptr && first == "8") {  // LA_SER_CONFIG
      add_place(*current, "cache:" + real_path(second));
    } else if (current != nullptr && second.find('/') == std::string::npos) {
      add_place(*current, real_folder("."));  // an empty element
    } else if (current != nullptr) {
      add_place(*current, real_folder(searched_folder(second.substr(0, second.rfind('/')))));
    }
  }
  return searches;
}

inline LoaderAnswer ask_loader(const std::string& loader, const std::string& file,
                               const std::string& library_path, const std::string& audit = {}) {
  ChildRequest request;
  // glibc's --list stops at the first missing library; the variable that ldd sets makes it continue.
  const bool musl = loader.find("musl") != std::string::npos;
  request.argv =
      musl ? std::vector<std::string>{loader, "--list", file} : std::vector<std::string>{loader, file};
  request.environment = {library_path.empty() ? "LD_LIBRARY_PATH" : "LD_LIBRARY_PATH=" + library_path};
  if (!musl) request.environment.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
  if (!audit.empty()) request.environment.push_back("LD_AUDIT=" + audit);
  request.private_channel = !audit.empty();
  request.keep_bytes = 4u << 20;
  Result<ChildOutcome> outcome = run_child(request);
  LoaderAnswer answer;
  if (!outcome) {
    answer.error = "cannot be started";
    return answer;
  }
  std::istringstream lines(outcome->output + outcome->error);
  for (std::string line; std::getline(lines, line);) {
    if (std::size_t mark = line.find(": version `"); mark != std::string::npos) {
      const std::size_t start = mark + 11, end = line.find('\'', start), by = line.find("(required by ");
      answer.versions.insert(line.substr(start, end - start) + " of " + real_path(line.substr(0, mark)) +
                             " by " + real_path(line.substr(by + 13, line.size() - by - 14)));
      continue;
    }
    // "Error loading shared library a.so: No such file or directory (needed by /b.so)": musl continues and
    // reports all.
    constexpr std::string_view musl_misses = "Error loading shared library ";
    if (line.starts_with(musl_misses)) {
      answer.missing.insert(line.substr(musl_misses.size(), line.find(": ") - musl_misses.size()));
      continue;
    }
    if (line.find("error while loading") != std::string::npos || line.find("Error ") == 0 ||
        line.find("Inconsistency") != std::string::npos)
      answer.error = line;
    if (line.empty() || line.front() != '\t') continue;
    line.erase(0, 1);
    const std::size_t arrow = line.find(" => ");
    const std::string name = line.substr(0, arrow == std::string::npos ? line.find(" (") : arrow);
    std::string path = arrow == std::string::npos ? name : line.substr(arrow + 4);
    path = path.substr(0, path.find(" (0x"));
    if (path == "not found")
      answer.missing.insert(name);
    else if (!path.empty() && path.front() == '/' && !is_loader_itself(path))
      answer.order.push_back(real_path(path));
  }
  if (outcome->exit_code == 127 && answer.error.empty() && answer.order.empty())
    answer.error = outcome->error;
  if (!audit.empty()) answer.searches = parse_searches(outcome->channel, file);
  return answer;
}

// The places that glibc's loader searches for `name` by our rules, up to the file that it takes ("" = none).
inline std::vector<std::string> places_looked_at(const linker::Machine& machine,
                                                 const std::vector<linker::Needer>& chain,
                                                 const std::string& name, const std::string& taken) {
  std::vector<std::string> looked_at;
  std::vector<linker::SearchPlace> places = linker::glibc_own_places(machine, chain);
  const bool no_default =
      !chain.empty() && chain.front().info != nullptr && chain.front().info->no_default_directories;
  for (linker::SearchPlace& place : linker::glibc_shared_places(machine))
    if (!place.compiled_in || !no_default) places.push_back(std::move(place));
  for (const linker::SearchPlace& place : places) {
    if (place.kind == linker::SearchPlace::Kind::cache) {
      const auto path =
          machine.cache.find(name, machine.cache_flags, machine.hwcaps, machine.legacy_hwcap_bits);
      if (!path) continue;
      add_place(looked_at, "cache:" + real_path(*path));
      if (*path == taken) return looked_at;
      continue;
    }
    add_place(looked_at, real_folder(searched_folder(place.directory)));
    if (!taken.empty() && lies_in(taken, place.directory)) return looked_at;
  }
  return looked_at;
}

inline void report_searches(const linker::Machine& machine, const linker::Closure& closure,
                            LoaderAnswer& answer) {
  const auto chain_of = [&](int index) {
    std::vector<linker::Needer> chain;
    for (; index >= 0; index = closure.objects[static_cast<std::size_t>(index)].parent)
      chain.push_back({closure.objects[static_cast<std::size_t>(index)].path,
                       closure.objects[static_cast<std::size_t>(index)].info});
    return chain;
  };
  for (const linker::Object& object : closure.objects)
    // The loader is in its process before any search.
    if (object.parent >= 0 && !is_loader_itself(object.path) && object.name.find('/') == std::string::npos)
      answer.searches[{real_path(object.needed_by), object.name}] =
          places_looked_at(machine, chain_of(object.parent), object.name, object.path);
  for (const linker::Missing& missing : closure.missing) {
    if (missing.name.find('/') != std::string::npos) continue;
    int needer = 0;
    while (closure.objects[static_cast<std::size_t>(needer)].path != missing.needed_by) ++needer;
    answer.searches[{real_path(missing.needed_by), missing.name}] =
        places_looked_at(machine, chain_of(needer), missing.name, "");
  }
}

inline LoaderAnswer ask_linker(const linker::Machine& machine, const std::string& file,
                               linker::Reader& reader) {
  linker::Request request;
  request.file = file;
  const linker::Closure closure = linker::close(machine, request, reader);
  LoaderAnswer answer;
  for (const linker::Object& object : closure.objects)
    if (object.found_by != "request" && !is_loader_itself(object.path))
      answer.order.push_back(real_path(object.path));
  for (const linker::Missing& missing : closure.missing) answer.missing.insert(missing.name);
  if (machine.libc == linker::Libc::glibc) report_searches(machine, closure, answer);
  for (const linker::VersionProblem& problem : closure.versions)
    if (!problem.weak)
      answer.versions.insert(problem.version + " of " + real_path(problem.path) + " by " +
                             real_path(problem.required_by));
  for (const linker::Rejected& rejected : closure.rejected)
    // Run as by ldd, the loader accepts programs too; only dlopen does not.
    if (rejected.fatal && answer.error.empty() && !rejected.why.ends_with("executable") &&
        rejected.why != "refuses dlopen")
      answer.error = rejected.path + ": " + rejected.why;
  return answer;
}

}  // namespace enginehost::test
