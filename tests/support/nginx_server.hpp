// A real nginx on the loopback interface, with its own folder and configuration, for one test.
#pragma once
#include <filesystem>
#include <string>

#include "tests/support/host_programs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

// The constructor returns when the server answers; it throws when there is no nginx or it does not start.
// Files go below root(). The destructor ends the server.
class NginxServer {
 public:
  // `directives` stand in the server block after "location / { … }"s own: `limit_rate 1m;`, `max_ranges 0;`
  // (no range requests), `location = /old { return 302 /new; }`, `location /cut { return 444; }`, …
  explicit NginxServer(const std::string& directives = {});
  ~NginxServer();
  NginxServer(const NginxServer&) = delete;
  NginxServer& operator=(const NginxServer&) = delete;

  const std::filesystem::path& root() const { return root_; }
  int port() const { return port_; }
  // "http://127.0.0.1:PORT/" + path
  std::string url(const std::string& path) const;
  // One line per request: "GET /path 200 BYTES RANGE"; includes every request answered before the call.
  // Throws when the server has ended. Not for several threads at once.
  std::string log() const;
  // Requests in the log whose line begins with `start`.
  int requests(const std::string& start) const;

 private:
  TemporaryFolder folder_;
  std::filesystem::path root_;
  int port_ = 0;
  HostServer process_;
  mutable int inputs_ = 0;
};

// A port on 127.0.0.1 that was unused a moment ago.
int free_port();

}  // namespace enginehost::test
