// Options of transfers. Unless set here, proxies and netrc work as in libcurl (https_proxy, NO_PROXY, …).
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::transfer {

// Credentials of a request. Sent only to the scheme, host and port of the request's own URL; a redirect
// elsewhere gets none. Empty: netrc's, where they may go (netrc_for).
struct Authorization {
  std::string bearer;          // a token
  std::string user, password;  // if there is no token
  bool anonymous = false;      // no credentials, even if netrc has some
  bool empty() const { return bearer.empty() && user.empty() && !anonymous; }
};

struct TransferOptions {
  bool offline = false;            // no socket is opened: EH-N10
  std::string ca_bundle;           // a PEM file used instead of the system's; empty: the system's
  std::string client_certificate;  // a PEM file with certificate and key, for servers that ask for one
  std::vector<std::string> trusted_hosts;             // HOST[:PORT]: their certificates are not checked
  std::string extra_ca;                               // a PEM file trusted in addition; empty: none
  std::string extra_ca_set_by = "the configuration";  // what set extra_ca, for messages
  std::string proxy;  // for every host not in no_proxy; empty: from the environment
  std::string proxy_set_by = "the configuration";  // what set proxy, for messages
  std::string no_proxy;  // host names, separated by commas; empty: from the environment
  std::chrono::milliseconds connect_limit{20'000};
  std::chrono::milliseconds stall_limit{15'000};  // without a byte
  std::chrono::milliseconds document_limit{
      15'000};                                   // for a small document in all; see UrlRequest::time_limit
  int retries = 6;                               // consecutive, without progress
  std::chrono::milliseconds first_backoff{500};  // doubles up to 32 times; Retry-After is honored up to 60 s
  int max_redirects = 8;
  std::string user_agent = "enginehost";
  // Called with the URL before every request and every redirect. An error (of policy) becomes the result, and
  // no connection is made. Not set: all URLs are permitted.
  std::function<Result<void>(std::string_view url)> permit;
  // The origins (origin_of) that a file, a flag or a variable of the user or the administrator names, and not
  // only a manifest or a redirect. netrc's passwords go to them.
  std::vector<std::string> named_origins;
  std::string package_index;  // used in place of the indexes that pip is configured to use
  std::string package_index_set_by = "the configuration";  // what set package_index, for messages
  std::string answers_folder;  // where pip's answers are kept for the next process; empty: nowhere
  std::vector<std::string>
      plain_http_registries;                  // HOST[:PORT] of OCI registries that may be asked without TLS
  std::vector<std::string> registry_mirrors;  // "HOST[:PORT]=MIRROR[:PORT]": tried before HOST

  // For downloads from several mirrors or over several connections (download.hpp).
  int most_connections = 8;
  std::uint64_t smallest_part = std::uint64_t{16} << 20;
  std::chrono::milliseconds rate_window{500};  // time over which a rate is measured
  std::chrono::milliseconds patience{5'000};   // with a slow mirror if another may be faster
};

}  // namespace enginehost::transfer
