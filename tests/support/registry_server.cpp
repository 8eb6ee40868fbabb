#include "tests/support/registry_server.hpp"

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/support/nginx_server.hpp"
#include "tests/support/sockets.hpp"

namespace enginehost::test {
namespace {

std::string configuration(const std::filesystem::path& folder, int port, const RegistryOptions& options) {
  const std::string at = host_path(folder);
  std::string text =
      "version: 0.1\nlog: {level: warn}\nstorage:\n  filesystem: {rootdirectory: " + at +
      "/storage}\n  delete: {enabled: true}\nhttp: {addr: \"127.0.0.1:" + std::to_string(port) +
      "\", secret: test}\n";
  if (!options.user.empty()) text += "auth:\n  htpasswd: {realm: test, path: " + at + "/users}\n";
  if (!options.mirror_of.empty()) text += "proxy: {remoteurl: \"" + options.mirror_of + "\"}\n";
  return text;
}

// htpasswd supports bcrypt, the only format that the registry accepts.
std::string password_line(const RegistryOptions& options) {
  auto line = run_host_program({"htpasswd", "-nbB", options.user, options.password});
  if (!line) throw std::runtime_error("htpasswd failed; install apache2-utils");
  return std::move(*line);
}

}  // namespace

bool RegistryServer::installed() {
  return !host_program("docker-registry").empty() && !host_program("htpasswd").empty();
}

RegistryServer::RegistryServer(const RegistryOptions& options) {
  if (!options.user.empty()) write_text(folder_ / "users", password_line(options));
  // Another process may take the port before the registry does.
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_port();
    write_text(folder_ / "registry.yml", configuration(folder_.path(), port_, options));
    // The registry reads variables that begin with REGISTRY_ as its configuration, including
    // REGISTRY_AUTH_FILE of the tools.
    process_.start({"env", "-u", "REGISTRY_AUTH_FILE", host_program("docker-registry"), "serve",
                    host_path(folder_ / "registry.yml")},
                   folder_ / "log");
    for (int wait = 0; wait < 1000; ++wait) {
      if (sockets::answers(port_)) return;
      if (process_.has_ended()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  throw std::runtime_error("docker-registry did not start: " + log());
}

RegistryServer::~RegistryServer() { process_.stop(); }

std::string RegistryServer::log() const {
  const auto file = folder_ / "log";
  return std::filesystem::exists(file) ? read_text(file) : std::string();
}

int RegistryServer::requests(const std::string& part) const {
  std::istringstream lines(log());
  int count = 0;
  for (std::string line; std::getline(lines, line);)
    count += line.find(" HTTP/1") != std::string::npos && line.find(part) != std::string::npos ? 1 : 0;
  return count;
}

std::filesystem::path RegistryServer::blob(const std::string& sha256) const {
  return folder_ / "storage/docker/registry/v2/blobs/sha256" / sha256.substr(0, 2) / sha256 / "data";
}

}  // namespace enginehost::test
