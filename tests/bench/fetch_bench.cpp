// engine-cache fetch as a process, from a package index on the loopback interface into an empty cache,
// compared with the installer for Python that is known as the fastest.
#include <algorithm>

#include "base/sha256.hpp"
#include "tests/bench/archive.hpp"
#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/repository.hpp"
#include "tests/bench/workplace.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

// The published wheel, through the pip of this machine; fetched once. Empty when pip cannot get it.
fs::path wheel_of(const std::string& project, const std::string& version) {
  const fs::path folder = workplace("wheels") / (project + "-" + version);
  const auto find = [&] {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      if (entry->path().extension() == ".whl") return entry->path();
    return fs::path();
  };
  if (const fs::path known = find(); !known.empty()) return known;
  return run({"python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest",
              folder.native(), project + "==" + version})
             ? find()
             : fs::path();
}

// A Python environment with uv in it; made once. Empty when it cannot be made.
fs::path environment_with_uv() {
  const fs::path folder = workplace("uv") / "environment";
  if (fs::exists(folder / "bin/uv")) return folder;
  return run({"python3", "-m", "venv", folder.native()}) &&
                 run({(folder / "bin/python").native(), "-m", "pip", "install", "--quiet", "uv"})
             ? folder
             : fs::path();
}

Comparison fetch(bool quick) {
  if (!has_program("nginx") && !fs::exists("/usr/sbin/nginx")) return skipped("no nginx");
  const std::string version = "1.24.4";
  const fs::path wheel = quick ? archive_of(2u << 20, "zip") : wheel_of("onnxruntime", version);
  if (wheel.empty()) return skipped("pip cannot fetch the wheel");
  const auto sha256 = sha256_of_file(wheel);
  Part runtime{"runtime", wheel, "zip", "", false, {}, "onnxruntime"};
  // As manifests/templates/onnxruntime.json selects. uv installs the whole wheel.
  if (!quick)
    runtime.select = {"onnxruntime/capi/libonnxruntime.so." + version, "onnxruntime/LICENSE",
                      "onnxruntime/ThirdPartyNotices.txt"};
  const auto manifest =
      manifest_of("bench", {runtime, {"plugin", built("engines/libengine_reference.so"), "none", "", true}});
  const fs::path repository = empty_workplace("fetch-repository");
  if (!sha256 || !manifest || !write_repository(repository, "bench", *manifest))
    return skipped("no repository could be made");
  auto server = std::make_shared<test::NginxServer>();
  const std::string name = wheel.filename().native();
  fs::create_symlink(wheel, server->root() / name);
  test::write_text(server->root() / "simple/onnxruntime/index.html",
                   "<!DOCTYPE html><html><body><a href=\"../../" + name + "#sha256=" + *sha256 + "\">" +
                       name + "</a></body></html>");
  const std::string index = server->url("simple");
  // The remains of an earlier turn are written to the disk before the time is taken.
  const auto settled = [](const std::string& place) {
    const fs::path folder = empty_workplace(place);
    run({"sync", "-f", folder.native()});
    return folder;
  };
  Comparison comparison;
  comparison.sides.push_back({"fetch", [=] {
                                static_cast<void>(server);  // runs as long as the comparison
                                const fs::path cache = settled("fetch-cache");
                                return timed([&] {
                                  return spawn({built("bin/engine-cache").native(), "fetch", "bench", "--yes",
                                                "--quiet", "--cache", cache.native(), "--repository",
                                                repository.native(), "--package-index", index});
                                })();
                              }});
  if (quick) return comparison;
  const fs::path uv = environment_with_uv();
  if (uv.empty()) return skipped("uv cannot be installed");
  comparison.sides.push_back(
      {"uv", [=] {
         const fs::path cache = settled("fetch-uv-cache"), target = settled("fetch-uv");
         return timed([&] {
           return spawn({(uv / "bin/uv").native(), "pip", "install", "--quiet", "--no-deps", "--no-config",
                         "--python", (uv / "bin/python").native(), "--cache-dir", cache.native(), "--target",
                         target.native(), "--index-url", index, "onnxruntime==" + version});
         })();
       }});
  return comparison;
}

}  // namespace

void add_fetch_benchmarks(const Effort& effort) {
  add_comparison(effort, "fetch/onnxruntime", 11, [quick = effort.quick] { return fetch(quick); });
}

}  // namespace enginehost::bench
