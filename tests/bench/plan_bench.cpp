// The first plan over a repository of 100 engines: a process with empty caches, over a line with a round trip
// of 50 ms, and the reading of manifests alone, in a folder.
#include <string>

#include "base/sha256.hpp"
#include "host/manifest/repository.hpp"
#include "tests/bench/child_time.hpp"
#include "tests/bench/compare.hpp"
#include "tests/bench/workplace.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/delayed_link.hpp"
#include "tests/support/nginx_server.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::chrono::milliseconds round_trip = 50ms;

std::string name_of(int number) { return "engine" + std::to_string(number); }

// Returns the manifest of that engine as this build completed it.
std::optional<Json> published_manifest(const std::string& engine) {
  const fs::path repository = built("share/enginehost/repository");
  const auto text = read_file(repository / "index.json", 1u << 20);
  const auto index = text ? parse_json(*text, "index.json") : fail(text.error());
  if (!index) return std::nullopt;
  for (const Json& entry : (*index)["manifests"].as_array()) {
    const auto bytes = read_file(repository / entry["path"].as_string(), 8u << 20);
    auto manifest = bytes ? parse_json(*bytes, "manifest") : fail(bytes.error());
    if (manifest && (*manifest)["engine"].as_string() == engine) return std::move(*manifest);
  }
  return std::nullopt;
}

// Writes NAME.json for each engine, like the named one; every build gets an id of its own.
bool write_engines(const fs::path& folder, int count, const std::string& like) {
  const auto published = published_manifest(like);
  if (!published) return false;
  for (int number = 0; number < count; ++number) {
    Json manifest = *published, builds = Json::array();
    for (const Json& build : manifest["builds"].as_array())
      builds.push(Json(build).set("id", name_of(number) + "-" + build["id"].as_string()));
    manifest.set("engine", name_of(number)).set("builds", std::move(builds));
    test::write_text(folder / (name_of(number) + ".json"), manifest.dump(1) + "\n");
  }
  return true;
}

std::string program(const char* name) { return built(std::string("bin/") + name).native(); }

// A signed repository, in the folder of a server.
bool publish(const fs::path& folder, const fs::path& served, int count) {
  const std::string workspace = (folder / "repository").native(), key = (folder / "key").native();
  return run({program("engine-manifest"), "init", workspace, "--name", "Many"}) &&
         write_engines(folder / "repository/engines", count, "reference") &&
         run({"minisign", "-G", "-W", "-p", key + ".pub", "-s", key + ".key"}) &&
         run({program("engine-manifest"), "sign", workspace, "--key", key + ".key"}) &&
         run({"cp", "-r", workspace, served.native()});
}

// One request over a connection that is open already: what no client can go below.
std::optional<double> one_round_trip(int port) {
  const auto socket = test::sockets::connect(port);
  if (socket < 0) return std::nullopt;
  test::sockets::send_at_once(socket);
  const auto exchange = [&] {
    const std::string request = "HEAD /repository/index.json HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char buffer[4096];
    return test::sockets::send(socket, request.data(), request.size()) > 0 &&
           test::sockets::receive(socket, buffer, sizeof buffer) > 0;
  };
  std::optional<double> time;
  if (exchange()) time = timed(exchange)();
  test::sockets::close(socket);
  return time;
}

Comparison first_plan(bool quick, bool tls) {
  if (!has_program("minisign")) return skipped("no minisign");
  if (!has_program("nginx") && !fs::exists("/usr/sbin/nginx")) return skipped("no nginx");
  const int count = quick ? 3 : 100, secure = test::free_port();
  const auto certificates = std::make_shared<test::Certificates>();
  const auto server = std::make_shared<test::NginxServer>(tls ? certificates->directives(secure) : "");
  const fs::path folder = empty_workplace("plan"), cache = folder / "cache";
  if (!publish(folder, server->root() / "repository", count)) return skipped("no repository could be made");
  const auto link = std::make_shared<test::DelayedLink>(tls ? secure : server->port(), round_trip);
  const auto plain = std::make_shared<test::DelayedLink>(server->port(), round_trip);
  const std::string url =
      std::string(tls ? "https" : "http") + "://localhost:" + std::to_string(link->port()) + "/repository";
  // A user's configuration does not change the figure.
  Json configuration = Json::object();
  if (tls) configuration.set("extra_ca", certificates->authority());
  test::write_text(folder / "config/enginehost/config.json", configuration.dump());
  // The sides keep the servers alive.
  const std::vector<std::shared_ptr<void>> running = {certificates, server, link, plain};
  const std::vector<std::string> environment = {"XDG_CONFIG_HOME=" + (folder / "config").native(),
                                                "ENGINEHOST_CACHE=" + cache.native()};
  const std::string key = (folder / "key.pub").native();
  Comparison comparison;
  comparison.sides = {{"plan",
                       [=]() -> std::optional<double> {
                         static_cast<void>(running);
                         std::error_code ignored;
                         fs::remove_all(cache, ignored);
                         if (!spawn({program("engine-cache"), "trust", "add", key}, environment))
                           return std::nullopt;
                         return timed([&] {
                           return spawn(
                               {program("engine-info"), name_of(count - 1), "--plan", "--repository", url},
                               environment);
                         })();
                       }},
                      {"round_trip", [=] { return one_round_trip(plain->port()); }}};
  return comparison;
}

// One engine of a folder whose index names the engines, and all of them.
Comparison folder_of(int count) {
  const fs::path folder = empty_workplace("plan-folder");
  if (!write_engines(folder / "engines", count, "onnxruntime"))
    return skipped("the shipped manifest cannot be read");
  Json entries = Json::array();
  for (int number = 0; number < count; ++number) {
    const auto bytes = read_file(folder / "engines" / (name_of(number) + ".json"), 8u << 20);
    if (!bytes) return skipped("the manifests cannot be read");
    const std::string digest = sha256_hex(*bytes), path = manifest::path_of_manifest(name_of(number), digest);
    test::write_text(folder / path, *bytes);
    entries.push(Json::object().set("path", path).set("sha256", digest).set("size", bytes->size()));
  }
  test::write_text(
      folder / "index.json",
      Json::object().set("format", 1).set("serial", 1).set("manifests", std::move(entries)).dump(1));
  const auto read = [=](const std::set<std::string>& engines, std::size_t expected) {
    return timed([=] {
      manifest::FolderReader reader;
      const auto content =
          manifest::load_repository(folder.native(), reader, 1'795'000'000, nullptr, engines);
      return content && content->manifests.size() == expected;
    });
  };
  Comparison comparison;
  comparison.sides = {{"one", read({name_of(count - 1)}, 1)},
                      {"all", read({}, static_cast<std::size_t>(count))}};
  return comparison;
}

}  // namespace

void add_plan_benchmarks(const Effort& effort) {
  add_comparison(effort, "plan/first", 11, [quick = effort.quick] { return first_plan(quick, false); });
  add_comparison(effort, "plan/first_tls", 11, [quick = effort.quick] { return first_plan(quick, true); });
  add_comparison(effort, "plan/folder", 21, [=] { return folder_of(effort.quick ? 3 : 100); });
}

}  // namespace enginehost::bench
