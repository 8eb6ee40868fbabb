#include "tests/support/nginx_server.hpp"

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

#include "base/files.hpp"

extern char** environ;

namespace enginehost::test {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool answers(int port) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Sends a request and reads until the server closes; false where nobody listens.
bool ask(int port, const std::string& request) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL) !=
          static_cast<ssize_t>(request.size()))
    return false;
  char buffer[512];
  while (::recv(socket.get(), buffer, sizeof buffer, 0) > 0) {
  }
  return true;
}

// The log as the test's own requests made it.
std::string without_looks(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("HEAD /look-at-the-log-")) kept += line + "\n";
  return kept;
}

std::string configuration(const std::filesystem::path& folder, int port, const std::string& directives) {
  const std::string at = folder.native();
  return (::geteuid() == 0 ? std::string("user root;\n") : std::string()) +
         "daemon off;\nmaster_process off;\nworker_processes 1;\npid " + at + "/nginx.pid;\nerror_log " + at +
         "/error.log;\nevents { worker_connections 256; }\nhttp {\n"
         "  log_format line '$request_method $uri $status $body_bytes_sent $http_range';\n  access_log " +
         at + "/access.log line;\n  client_body_temp_path " + at + "/body;\n  proxy_temp_path " + at +
         "/proxy;\n  fastcgi_temp_path " + at + "/fastcgi;\n  uwsgi_temp_path " + at +
         "/uwsgi;\n  scgi_temp_path " + at +
         "/scgi;\n  default_type application/octet-stream;\n  types { text/html html; }\n  sendfile on;\n"
         "  server {\n    listen 127.0.0.1:" +
         std::to_string(port) + ";\n    root " + at + "/root;\n    " + directives + "\n  }\n}\n";
}

}  // namespace

int free_port() {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

NginxServer::NginxServer(const std::string& directives) : root_(folder_ / "root") {
  std::filesystem::create_directory(root_);
  // Another process may take the port between our look and nginx's.
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_port();
    write_text(folder_ / "nginx.conf", configuration(folder_.path(), port_, directives));
    const std::string file = (folder_ / "nginx.conf").native(), prefix = folder_.path().native(),
                      errors = (folder_ / "error.log").native();
    // A test that crashes must not leave its server behind: setpriv (util-linux) asks the kernel to end it
    // then.
    const char* nginx = ::access("/usr/sbin/nginx", X_OK) == 0 ? "/usr/sbin/nginx" : "nginx";
    const char* arguments[] = {"setpriv", "--pdeathsig", "TERM", nginx,          "-p",   prefix.c_str(),
                               "-c",      file.c_str(),  "-e",   errors.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    const int error =
        ::posix_spawnp(&process_, arguments[0], &actions, nullptr, const_cast<char**>(arguments), environ);
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0) throw std::runtime_error("nginx cannot be started; install nginx-light");
    for (int wait = 0; wait < 500; ++wait) {
      if (answers(port_)) return;
      if (::waitpid(process_, nullptr, WNOHANG) == process_) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  throw std::runtime_error("nginx did not start: " + read_text(folder_ / "error.log"));
}

NginxServer::~NginxServer() {
  if (process_ <= 0) return;
  ::kill(process_, SIGTERM);
  for (int wait = 0; wait < 200; ++wait) {
    if (::waitpid(process_, nullptr, WNOHANG) == process_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::string NginxServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + path;
}

// nginx writes a request's line when it is done with the request, which may be after the client has its last
// byte. Its one worker handles events in turn: once the line of a request sent now stands there, so do those
// of all that were answered before.
std::string NginxServer::log() const {
  const std::string marker = "/look-at-the-log-" + std::to_string(++looks_);
  if (!ask(port_, "HEAD " + marker + " HTTP/1.0\r\n\r\n"))
    throw std::runtime_error("nginx has ended: " + read_text(folder_ / "error.log"));
  const auto file = folder_ / "access.log";
  for (int wait = 0; wait < 2000; ++wait) {
    const std::string text = std::filesystem::exists(file) ? read_text(file) : std::string();
    if (text.find(marker) != std::string::npos) return without_looks(text);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  throw std::runtime_error("nginx did not log a request within 10 s");
}

int NginxServer::requests(const std::string& start) const {
  std::istringstream lines(log());
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with(start) ? 1 : 0;
  return count;
}

}  // namespace enginehost::test
