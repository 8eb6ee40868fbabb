// Download, verification and unpacking in one pass, from a real server on the loopback interface, compared
// with the programs that people use for each.
#include "base/sha256.hpp"
#include "host/acquire/acquire.hpp"
#include "tests/bench/archive.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/named_files.hpp"
#include "tests/bench/repository.hpp"
#include "tests/bench/workplace.hpp"
#include "tests/support/nginx_server.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;

std::shared_ptr<const manifest::Manifest> manifest_for(const fs::path& archive, const std::string& kind,
                                                       const std::string& url) {
  const auto document =
      manifest_of("bench", {{"runtime", archive, kind, url, false},
                            {"plugin", built("engines/libengine_reference.so"), "none", "", true}});
  if (!document) return nullptr;
  auto read = manifest::read_manifest(*document, "/", "bench.json");
  if (!read) return nullptr;
  const auto manifest = std::const_pointer_cast<manifest::Manifest>(*read);
  manifest::Artifact& runtime = manifest->components.at("runtime").artifacts.at(0);
  return name_files(runtime, archive, empty_workplace("install-names-" + kind)) ? manifest : nullptr;
}

Comparison install(std::uintmax_t bytes, const std::string& kind) {
  if (!has_program("nginx") && !fs::exists("/usr/sbin/nginx")) return skipped("no nginx");
  for (const char* program : {"curl", "sha256sum", kind == "zip" ? "unzip" : "zstd"})
    if (!has_program(program)) return skipped(std::string("no ") + program);
  const fs::path archive = archive_of(bytes, kind);
  if (archive.empty()) return skipped("the archive could not be made");
  auto server = std::make_shared<test::NginxServer>();
  const std::string name = archive.filename().native();
  fs::create_symlink(archive, server->root() / name);
  const auto manifest = manifest_for(archive, kind, server->url(name));
  if (!manifest || manifest->builds.empty()) return skipped("the manifest could not be read");

  const fs::path place = empty_workplace("install-" + kind), fetched = place / name;
  // The remains of an earlier turn are written to the disk before the time is taken.
  const auto settle = [=] { run({"sync", "-f", place.native()}); };
  const auto acquire = [=] {
    const fs::path cache = empty_workplace("install-" + kind + "-cache");
    settle();
    return timed([&] {
      acquire::AcquireOptions options;
      const cache::Store store = cache::Store::open(cache);
      return acquire::acquire(*manifest->builds.front(), store, options).has_value();
    })();
  };
  // Each stage of the peers finds the files of the stage before it. acquire runs first or in between, and
  // does not depend on them.
  const auto unpack = [=](const std::string& folder, bool durable) {
    const fs::path unpacked = place / folder;
    std::error_code ignored;
    fs::remove_all(unpacked, ignored);
    fs::create_directories(unpacked, ignored);
    settle();
    return timed([&] {
      const bool done = kind == "zip"
                            ? run({"unzip", "-q", "-o", fetched.native(), "-d", unpacked.native()})
                            : run({"tar", "--zstd", "-xf", fetched.native(), "-C", unpacked.native()});
      return done && (!durable || run({"find", unpacked.native(), "-exec", "sync", "{}", "+"}));
    })();
  };
  const std::string url = server->url(name);
  const auto download = timed([=] { return run({"curl", "-sS", "-f", "-o", fetched.native(), url}); });
  if (!download()) return skipped("curl fails");
  Comparison comparison;
  comparison.sides = {{"acquire", [server, acquire] { return acquire(); }},
                      {"curl", download},
                      {"sha256sum", timed([=] {
                         return run({"sha256sum", fetched.native()});
                       })},
                      {"unpack", [=] { return unpack("unpacked", false); }},
                      {"durable", [=] { return unpack("durable", true); }}};
  return comparison;
}

}  // namespace

void add_install_benchmarks(const Effort& effort) {
  const std::uintmax_t bytes = std::uintmax_t{effort.quick ? 2U : 250U} << 20;
  add_comparison(effort, "install/zip", 5, [=] { return install(bytes, "zip"); });
  add_comparison(effort, "install/tar.zst", 5, [=] { return install(bytes, "tar.zst"); });
}

}  // namespace enginehost::bench
