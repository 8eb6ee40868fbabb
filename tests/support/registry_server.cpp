#include "tests/support/registry_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "base/child_process.hpp"
#include "base/files.hpp"
#include "tests/support/nginx_server.hpp"

extern char** environ;

namespace enginehost::test {
namespace {

bool answers(int port) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

std::string configuration(const std::filesystem::path& folder, int port, const RegistryOptions& options) {
  const std::string at = folder.native();
  std::string text =
      "version: 0.1\nlog: {level: warn}\nstorage:\n  filesystem: {rootdirectory: " + at +
      "/storage}\n  delete: {enabled: true}\nhttp: {addr: \"127.0.0.1:" + std::to_string(port) +
      "\", secret: test}\n";
  if (!options.user.empty()) text += "auth:\n  htpasswd: {realm: test, path: " + at + "/users}\n";
  if (!options.mirror_of.empty()) text += "proxy: {remoteurl: \"" + options.mirror_of + "\"}\n";
  return text;
}

// htpasswd knows bcrypt, which is all that the registry takes.
std::string password_line(const RegistryOptions& options) {
  ChildRequest request;
  request.argv = {"htpasswd", "-nbB", options.user, options.password};
  request.keep_bytes = 4096;
  const auto outcome = run_child(request);
  if (!outcome || !outcome->succeeded()) throw std::runtime_error("htpasswd failed; install apache2-utils");
  return outcome->output;
}

}  // namespace

bool RegistryServer::installed() {
  return ::access("/usr/bin/docker-registry", X_OK) == 0 && ::access("/usr/bin/htpasswd", X_OK) == 0;
}

RegistryServer::RegistryServer(const RegistryOptions& options) {
  if (!options.user.empty()) write_text(folder_ / "users", password_line(options));
  // Another process may take the port between our look and the registry's.
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_port();
    write_text(folder_ / "registry.yml", configuration(folder_.path(), port_, options));
    const std::string file = (folder_ / "registry.yml").native(), log = (folder_ / "log").native();
    // A test that crashes must not leave its server behind.
    // It takes variables that begin with REGISTRY_ for its own configuration, REGISTRY_AUTH_FILE of the tools
    // too.
    const char* arguments[] = {
        "setpriv", "--pdeathsig", "TERM", "env", "-u", "REGISTRY_AUTH_FILE", "/usr/bin/docker-registry",
        "serve",   file.c_str(),  nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    for (const int stream : {1, 2})
      ::posix_spawn_file_actions_addopen(&actions, stream, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int error =
        ::posix_spawnp(&process_, arguments[0], &actions, nullptr, const_cast<char**>(arguments), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("docker-registry cannot be started");
    for (int wait = 0; wait < 1000; ++wait) {
      if (answers(port_)) return;
      if (::waitpid(process_, nullptr, WNOHANG) == process_) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  throw std::runtime_error("docker-registry did not start: " + log());
}

RegistryServer::~RegistryServer() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);
  for (int wait = 0; wait < 200; ++wait) {
    if (::waitpid(process_, nullptr, WNOHANG) == process_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

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

}  // namespace enginehost::test
