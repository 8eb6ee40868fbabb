// Requests to one repository of a registry, with or without TLS, signed in as the registry requires.
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/oci/authorization.hpp"
#include "host/transfer/http_exchange.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::oci {

// One request. `path` is relative to /v2/NAME/ ("blobs/sha256:…"), unless it is a whole URL.
struct RegistryRequest {
  std::string method = "GET";
  std::string path;
  std::string accept;
  std::function<transfer::HttpUpload()> body;  // called again after signing in
  std::uint64_t limit = 4u << 20;              // of the response's body
};

struct RegistryAnswer {
  long status = 0;
  std::string body, location, url;  // url: never contains credentials
  std::optional<std::uint64_t> length;
  std::string said;           // the registry's own error text, on one line
  bool is_transient = false;  // an error that may pass soon: 429, 5xx and the like
  std::optional<std::chrono::seconds> retry_after;
};

// Speaks the OCI distribution protocol with one repository, and keeps its connections and its token between
// requests. One thread at a time. Stored credentials go only to the registry's host, and over TLS to the
// token service that it names.
class Registry {
 public:
  // `actions`: "pull" or "pull,push".
  Registry(std::string host, std::string repository, std::string actions, transfer::TransferOptions options,
           std::optional<CancelToken> cancel);

  // Sends a request. Any response with a status is a success, including redirects, which are not followed.
  // Errors: EH-N30 (401 and 403 after signing in: "registry", "repository", "status", "registry_said"),
  // EH-N37 (the registry speaks no TLS and may not be used without), EH-N10 offline, EH-P10, and
  // fetch_url()'s connection errors.
  Result<RegistryAnswer> ask(const RegistryRequest& request);

  // Waits before another attempt: as long as the registry asked for, up to half a minute, else twice as long
  // each time. `failures` counts from 0. Error: EH-P10.
  Result<void> pause(int failures, std::optional<std::chrono::seconds> asked) const;

  // For transfers of blobs. Valid after a successful request.
  std::string url_of(std::string_view path) const;
  const transfer::Authorization& authorization() const { return authorization_; }

  const std::string& host() const { return host_; }
  const std::string& repository() const { return repository_; }

 private:
  transfer::HttpOutcome exchange(const RegistryRequest& request, std::string& body);
  Result<transfer::HttpOutcome> with_patience(const std::function<transfer::HttpOutcome()>& once,
                                              transfer::HttpOutcome outcome) const;
  Result<transfer::HttpOutcome> go_on(const RegistryRequest& request, std::string& body,
                                      transfer::HttpOutcome outcome);
  Result<transfer::HttpOutcome> first_exchange(const RegistryRequest& request, std::string& body);
  void add_reason(const RegistryRequest& request, transfer::HttpOutcome& refused);
  Result<void> sign_in(const RegistryRequest& request, const std::vector<Challenge>& challenges,
                       transfer::HttpOutcome& refused);
  Result<void> fetch_token(const Challenge& challenge);
  transfer::HttpOutcome read_whole(const transfer::HttpRequest& request, std::string& body,
                                   std::uint64_t limit, const Diagnosis& too_long, bool timed);
  Diagnosis refusal(const transfer::HttpOutcome& refused) const;

  std::string host_, repository_, actions_;
  transfer::TransferOptions options_;
  std::optional<CancelToken> cancel_;
  transfer::HttpClient client_;
  bool plain_allowed_ = false;
  std::string scheme_;  // empty until the first answer
  transfer::Authorization authorization_;
};

// Returns the token of a token service's response. Error: EH-N30 with "problem" when it holds none that is
// valid in a header.
Result<std::string> token_in(std::string_view body);

}  // namespace enginehost::oci
