// A token service, as registries name one in WWW-Authenticate, and the header that names it.
#pragma once
#include <string>

#include "tests/support/fault_server.hpp"

namespace enginehost::test {

// Returns `token` to clients that send `basic` ("dXNlcjpwYXNz", base64 of user:password), or to everyone when
// that is empty.
class TokenServer {
 public:
  explicit TokenServer(std::string token, std::string basic = {})
      : server_([token = std::move(token), basic = std::move(basic)](const FaultServer::Request& request,
                                                                     FaultServer::Connection& connection) {
          if (!basic.empty() && request.header("Authorization") != "Basic " + basic)
            connection.answer("401 Unauthorized", R"({"details": "wrong user or password"})");
          else
            connection.answer("200 OK", R"({"token": ")" + token + R"(", "expires_in": 60})");
        }) {}

  std::string challenge(const std::string& repository, const std::string& actions) const {
    return "Bearer realm=\"" + server_.url("token") +
           "\",service=\"test registry\",scope=\"repository:" + repository + ":" + actions + "\"";
  }
  // A configuration for nginx that guards a registry on `port`, which itself requires no token.
  std::string guard(int port, const std::string& token, const std::string& repository,
                    const std::string& actions) const {
    return "client_max_body_size 0;\n  location /v2/ {\n    if ($http_authorization != \"Bearer " + token +
           "\") { add_header WWW-Authenticate '" + challenge(repository, actions) +
           "' always; return 401; }\n    proxy_set_header Host $http_host;\n    proxy_pass "
           "http://127.0.0.1:" +
           std::to_string(port) + ";\n  }\n";
  }
  std::vector<FaultServer::Request> seen() const { return server_.seen(); }

 private:
  FaultServer server_;
};

}  // namespace enginehost::test
