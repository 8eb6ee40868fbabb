// The machine's own loader as the judge: what ldd and `ld-musl --list` print.
#pragma once
#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "host/linker/linker.hpp"

namespace enginehost::test {

struct LoaderAnswer {
  std::vector<std::string> order;  // real paths of what was found, in load order, without ld.so and the vdso
  std::set<std::string> missing;
  std::set<std::string> versions;  // "GLIBC_2.99 of /lib/.../libc.so.6 by /a/libx.so"
  std::string error;               // the loader gave up
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

inline LoaderAnswer ask_loader(const std::string& loader, const std::string& file,
                               const std::string& library_path) {
  ChildRequest request;
  // glibc's --list stops at the first missing library; the variable that ldd sets makes it go on.
  const bool musl = loader.find("musl") != std::string::npos;
  request.argv =
      musl ? std::vector<std::string>{loader, "--list", file} : std::vector<std::string>{loader, file};
  request.environment = {library_path.empty() ? "LD_LIBRARY_PATH" : "LD_LIBRARY_PATH=" + library_path};
  if (!musl) request.environment.emplace_back("LD_TRACE_LOADED_OBJECTS=1");
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
    // "Error loading shared library a.so: No such file or directory (needed by /b.so)": musl goes on and
    // tells all.
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
  return answer;
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
  for (const linker::VersionProblem& problem : closure.versions)
    if (!problem.weak)
      answer.versions.insert(problem.version + " of " + real_path(problem.path) + " by " +
                             real_path(problem.required_by));
  for (const linker::Rejected& rejected : closure.rejected)
    if (rejected.fatal && answer.error.empty()) answer.error = rejected.path + ": " + rejected.why;
  return answer;
}

}  // namespace enginehost::test
