// A real registry (Debian's docker-registry) on the loopback interface, with its own storage, for one test.
#pragma once
#include <filesystem>
#include <string>

#include "tests/support/host_programs.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

struct RegistryOptions {
  std::string user, password;  // htpasswd, when set
  std::string mirror_of;       // URL of a registry: acts as its pull-through cache, which accepts no pushes
};

// The constructor returns when the registry answers; it throws when the registry does not start. The
// destructor ends it.
class RegistryServer {
 public:
  explicit RegistryServer(const RegistryOptions& options = {});
  ~RegistryServer();
  RegistryServer(const RegistryServer&) = delete;
  RegistryServer& operator=(const RegistryServer&) = delete;

  // False when docker-registry (or, with a user, htpasswd) is not installed.
  static bool installed();

  int port() const { return port_; }
  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string url() const { return "http://" + host(); }
  // Requests in the access log that contain `part`.
  int requests(const std::string& part) const;
  std::string log() const;
  // The file of that blob or image manifest, so that a test can change what the registry serves.
  std::filesystem::path blob(const std::string& sha256) const;

 private:
  TemporaryFolder folder_;
  int port_ = 0;
  HostServer process_;
};

}  // namespace enginehost::test
