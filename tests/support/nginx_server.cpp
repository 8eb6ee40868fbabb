#include "tests/support/nginx_server.hpp"

#include <chrono>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/support/sockets.hpp"

namespace enginehost::test {
namespace {

// Sends a request and reads until the server closes; false if no server listens.
bool ask(int port, const std::string& request) {
  const sockets::Socket socket = sockets::connect(port);
  if (socket < 0) return false;
  const bool sent =
      sockets::send(socket, request.data(), request.size()) == static_cast<std::ptrdiff_t>(request.size());
  char buffer[512];
  while (sent && sockets::receive(socket, buffer, sizeof buffer) > 0) {
  }
  sockets::close(socket);
  return sent;
}

// The log lines of the test's own requests.
std::string without_looks(const std::string& text) {
  std::istringstream lines(text);
  std::string kept;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("HEAD /look-at-the-log-")) kept += line + "\n";
  return kept;
}

std::string configuration(const std::filesystem::path& folder, int port, const std::string& directives) {
  const std::string at = host_path(folder);
  return (is_host_root() ? std::string("user root;\n") : std::string()) +
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
  int port = 0;
  const sockets::Socket socket = sockets::listen(port);
  if (socket < 0) throw std::runtime_error("no free port");
  sockets::close(socket);
  return port;
}

NginxServer::NginxServer(const std::string& directives) : root_(folder_ / "root") {
  std::filesystem::create_directory(root_);
  // Another process may take the port before nginx does.
  for (int attempt = 0; attempt < 5; ++attempt) {
    port_ = free_port();
    write_text(folder_ / "nginx.conf", configuration(folder_.path(), port_, directives));
    process_.start({host_program("nginx"), "-p", host_path(folder_.path()), "-c",
                    host_path(folder_ / "nginx.conf"), "-e", host_path(folder_ / "error.log")},
                   folder_ / "output");
    for (int wait = 0; wait < 500; ++wait) {
      if (sockets::answers(port_)) return;
      if (process_.has_ended()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  throw std::runtime_error("nginx did not start: " + read_text(folder_ / "error.log"));
}

NginxServer::~NginxServer() { process_.stop(); }

std::string NginxServer::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/" + path;
}

// nginx writes a request's line when it is done with the request, which may be after the client has its last
// byte. Its one worker handles events in order: once the line of a request sent now is in the log, so are
// those of all earlier answers.
std::string NginxServer::log() const {
  const std::string marker = "/look-at-the-log-" + std::to_string(++inputs_);
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
