// An installation over a link of 1 Gbit/s. This process makes a network of its own whose loopback interface
// is shaped (tc, token bucket), serves the archive there with nginx, and measures itself.
//
// bench_wire_child install ARCHIVE KIND FOLDER [RATE]   -> "acquire_ns curl_ns wire_ns bytes unpacked rss_kb"
// bench_wire_child wait ARCHIVE KIND FOLDER PROCESSES   -> "wall_ns waiters_cpu_ns processes"
// Any other line is the reason of a failure.
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <sstream>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "base/sha256.hpp"
#include "host/acquire/acquire.hpp"
#include "tests/bench/named_files.hpp"
#include "tests/support/nginx_server.hpp"

using namespace enginehost;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

bool run(std::vector<std::string> command) {
  ChildRequest request;
  request.argv = std::move(command);
  request.deadline = std::chrono::minutes(5);
  const auto outcome = run_child(request);
  return outcome && outcome->succeeded();
}

long long nanoseconds(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// A build of one component; its "plugin" is the first file of the archive.
struct OneBuild {
  std::shared_ptr<manifest::Manifest> manifest = std::make_shared<manifest::Manifest>();
  std::shared_ptr<manifest::Build> build = std::make_shared<manifest::Build>();
  bool is_read = false;

  OneBuild(const fs::path& archive, const std::string& kind, const std::string& url,
           const fs::path& scratch) {
    manifest->engine = build->engine = "bench";
    build->id = "bench-1-cpu-linux-x86_64";
    build->version = "1";
    build->plugin_component = "runtime";
    build->plugin_path = "marker";
    build->manifest = manifest;
    manifest::Component& component = manifest->components["runtime"];
    component.id = "runtime";
    manifest::Artifact artifact;
    artifact.sha256 = sha256_of_file(archive).value_or("");
    artifact.size = fs::file_size(archive);
    artifact.archive = kind;
    manifest::Source source;
    source.location = url;
    artifact.sources = {source};
    is_read = bench::name_files(artifact, archive, scratch);
    component.artifacts = {artifact};
    manifest->builds.push_back(build);
  }
};

int say(const char* reason) {
  std::printf("%s\n", reason);
  return 0;
}

// The peak memory of this program alone. getrusage() would include the process that started it, because its
// figure survives exec.
long most_memory_kb() {
  std::istringstream lines(read_kernel_file("/proc/self/status"));
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6));
  return 0;
}

int install(const fs::path& archive, const std::string& kind, const fs::path& folder,
            const std::string& rate) {
  const test::NginxServer server;
  fs::create_symlink(archive, server.root() / "archive");
  const OneBuild one(archive, kind, server.url("archive"), folder / "names");
  if (!one.is_read) return say("the archive cannot be read");
  const auto curl_began = Clock::now();
  if (!run({"curl", "-sS", "-f", "-o", "/dev/null", server.url("archive")})) return say("curl fails");
  const auto curl_time = Clock::now() - curl_began;
  const auto began = Clock::now();
  const cache::Store store = cache::Store::open(folder / "cache");
  const auto acquired = acquire::acquire(*one.build, store, {});
  const auto time = Clock::now() - began;
  if (!acquired) return say(acquired.error().code_text().data());
  const long most_memory = most_memory_kb();
  std::uint64_t unpacked = 0;
  for (const auto& file : fs::recursive_directory_iterator(acquired->installed.folder))
    if (file.is_regular_file()) unpacked += file.file_size();
  const double bits = std::stod(rate) * 1e6;
  std::printf("%lld %lld %.0f %ju %ju %ld\n", nanoseconds(time), nanoseconds(curl_time),
              static_cast<double>(fs::file_size(archive)) * 8 / bits * 1e9,
              static_cast<std::uintmax_t>(fs::file_size(archive)), static_cast<std::uintmax_t>(unpacked),
              most_memory);
  return 0;
}

int wait(const fs::path& archive, const std::string& kind, const fs::path& folder, int processes) {
  const test::NginxServer server("limit_rate_after 1m; limit_rate 8m;");
  fs::create_symlink(archive, server.root() / "archive");
  const OneBuild one(archive, kind, server.url("archive"), folder / "names");
  if (!one.is_read) return say("the archive cannot be read");
  const auto began = Clock::now();
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    const pid_t child = ::fork();  // no thread runs yet
    if (child == 0) {
      acquire::AcquireOptions options;
      options.transfer.most_connections = 1;
      const cache::Store store = cache::Store::open(folder / "cache");
      const auto acquired = acquire::acquire(*one.build, store, options);
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      ::_exit(!acquired ? 3 : acquired->downloaded > 0 ? 1 : 0);
    }
    children.push_back(child);
  }
  double waiters = 0;
  int waited = 0;
  for (const pid_t child : children) {
    int status = 0;
    rusage usage{};
    if (::wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1)
      return say("a process did not succeed");
    if (WEXITSTATUS(status) == 1) continue;  // the process that downloaded
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    waiters += seconds(usage.ru_utime) + seconds(usage.ru_stime);
    ++waited;
  }
  std::printf("%lld %.0f %d\n", nanoseconds(Clock::now() - began), waiters * 1e9, waited);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const std::string rate = count > 5 ? arguments[5] : "1000";
  if (std::strcmp(arguments[1], "wait") == 0)
    return wait(arguments[2], arguments[3], arguments[4], std::atoi(rate.c_str()));
  if (::unshare(CLONE_NEWNET) != 0) return say("a network of its own needs root");
  if (!run({"ip", "link", "set", "lo", "up"})) return say("no ip (iproute2)");
  if (!run({"tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", rate + "mbit", "burst", "1mb",
            "latency", "100ms"}))
    return say("no tc (iproute2), or no token bucket in this kernel");
  return install(arguments[2], arguments[3], arguments[4], rate);
}
