// A real nginx on the loopback interface, with a folder and a configuration of its own, for one test.
#pragma once
#include <filesystem>
#include <string>

#include "tests/support/host_programs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

// The constructor returns when the server answers; throws when there is no nginx or it does not start. Files
// go below root(). The destructor ends it.
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
  // One line a request: "GET /path 200 BYTES RANGE"; every request answered before the call is in it. Throws
  // when the server has ended. Not for several threads at once.
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

// A port on 127.0.0.1 that nobody listened on a moment ago.
int free_port();

}  // namespace enginehost::test
