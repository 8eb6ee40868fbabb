// How transfers behave. Proxies and netrc are those libcurl's users know (https_proxy, NO_PROXY, …), unless
// they are set here.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::transfer {

// Who asks. Sent to the scheme, host and port of the request's own URL and to no other: a redirect elsewhere
// goes without. Empty: what libcurl finds in netrc.
struct Authorization {
  std::string bearer;          // a token
  std::string user, password;  // where there is no token
  bool anonymous = false;      // nobody, whatever netrc says
  bool empty() const { return bearer.empty() && user.empty() && !anonymous; }
};

struct TransferOptions {
  bool offline = false;   // no socket is opened: EH-N10
  std::string ca_bundle;  // a PEM file used instead of the system's; empty: the system's
  std::string extra_ca;   // a PEM file whose certificates are trusted besides those; empty: none
  std::string extra_ca_set_by = "the configuration";  // who named that file, for messages
  std::string proxy;     // for every host but those of no_proxy; empty: what the environment says
  std::string no_proxy;  // host names, separated by commas; empty: what the environment says
  std::chrono::milliseconds connect_limit{20'000};
  std::chrono::milliseconds stall_limit{15'000};  // without a byte
  std::chrono::milliseconds document_limit{
      15'000};                                   // for a small document in all; see UrlRequest::time_limit
  int retries = 6;                               // in a row without progress
  std::chrono::milliseconds first_backoff{500};  // doubles up to 32 times; Retry-After is honored up to 60 s
  int max_redirects = 8;
  std::string user_agent = "enginehost";
  // Asked before every request and every redirection with its URL; an error (policy's) is the answer then,
  // and no connection is made. Not set: everything may be asked.
  std::function<Result<void>(std::string_view url)> permit;
  std::string package_index;  // when pip cannot be asked; empty: such sources are skipped
  std::vector<std::string>
      plain_http_registries;                  // HOST[:PORT] of OCI registries that may be asked without TLS
  std::vector<std::string> registry_mirrors;  // "HOST[:PORT]=MIRROR[:PORT]": asked first for what HOST has

  // Of downloads from several mirrors or over several connections, see download.hpp.
  int most_connections = 8;
  std::uint64_t smallest_part = std::uint64_t{16} << 20;
  std::chrono::milliseconds rate_window{500};  // over which a rate is measured
  std::chrono::milliseconds patience{5'000};   // with a mirror that is slow where another may be faster
};

}  // namespace enginehost::transfer
