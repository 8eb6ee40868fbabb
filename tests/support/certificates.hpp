// A certificate authority for one test, and a server's certificate signed by it.
#pragma once
#include <filesystem>
#include <string>

#include "base/paths.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {

// For 127.0.0.1 and localhost. Throws when the openssl program is missing.
class Certificates {
 public:
  // The server's certificate is valid from yesterday until tomorrow, or between two times
  // ("20350101000000Z").
  Certificates();
  Certificates(const std::string& from, const std::string& until);
  std::string authority() const { return generic_text(folder_ / "ca.pem"); }
  // A file with a certificate of this authority and its key.
  std::string client() const { return generic_text(folder_ / "client.pem"); }
  // A folder with the authority, as `openssl rehash` makes it.
  std::string folder() const { return generic_text(folder_ / "authorities"); }
  // Directives for NginxServer: a second port that speaks TLS. It wants a client certificate with `asks`.
  std::string directives(int port, bool asks = false) const;

 private:
  TemporaryFolder folder_;
};

}  // namespace enginehost::test
