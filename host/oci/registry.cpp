#include "host/oci/registry.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/oci/authorization.hpp"
#include "host/oci/reference.hpp"
#include "host/transfer/http_exchange.hpp"
#include "host/transfer/server_message.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::oci {
namespace {

constexpr std::size_t longest_token = 64u << 10;
constexpr std::uint64_t largest_token_answer = 1u << 20;

std::string host_of(std::string_view url) {
  const std::size_t start = url.find("://");
  if (start == std::string_view::npos) return {};
  std::string_view host = url.substr(start + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  return to_lower(host.substr(host.rfind('@') + 1));
}

std::string_view name_of(std::string_view host) {
  return host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
}

bool may_go_plain(const std::string& host, const std::vector<std::string>& allowed) {
  return is_loopback(host) || std::find(allowed.begin(), allowed.end(), host) != allowed.end();
}

}  // namespace

Result<std::string> token_in(std::string_view body) {
  const auto refuse = [](std::string_view problem) {
    return fail(diagnose(Code::registry_refuses_access).with(Key::problem, problem));
  };
  const auto document = parse_json(body, "token service", {largest_token_answer, 16});
  if (!document) return refuse("the token service's answer is not JSON");
  const Json* token = document->find("token");
  if (token == nullptr || token->as_string().empty()) token = document->find("access_token");
  if (token == nullptr || token->as_string().empty())
    return refuse("the token service's answer holds no token");
  const std::string& text = token->as_string();
  // The token goes into a header.
  const bool printable = std::all_of(text.begin(), text.end(), [](char character) {
    return static_cast<unsigned char>(character) > 0x20 && static_cast<unsigned char>(character) < 0x7f;
  });
  if (!printable || text.size() > longest_token) return refuse("the token service's token cannot be sent");
  return text;
}

Registry::Registry(std::string host, std::string repository, std::string actions,
                   transfer::TransferOptions options, std::optional<CancelToken> cancel)
    : host_(std::move(host)),
      repository_(std::move(repository)),
      actions_(std::move(actions)),
      options_(std::move(options)),
      cancel_(std::move(cancel)),
      client_(options_, cancel_),
      plain_allowed_(may_go_plain(host_, options_.plain_http_registries)) {}

std::string Registry::url_of(std::string_view path) const {
  if (transfer::is_url(path)) return std::string(path);
  const std::string base =
      (scheme_.empty() ? std::string(plain_allowed_ ? "http" : "https") : scheme_) + "://" + host_;
  if (path.starts_with('/')) return base + std::string(path);
  return base + "/v2/" + repository_ + "/" + std::string(path);
}

transfer::HttpOutcome Registry::exchange(const RegistryRequest& request, std::string& body) {
  transfer::HttpRequest http;
  http.url = url_of(request.path);
  http.accept = request.accept;
  http.follow = false;
  http.decode = true;
  http.head_only = request.method == "HEAD";
  if (request.method != "GET" && request.method != "HEAD") http.method = request.method;
  if (request.body) http.upload = request.body();
  // The registry chooses where an upload continues, but credentials go only to the registry's own host.
  if (http.url.starts_with(url_of("/")))
    http.authorization = authorization_;
  else
    http.authorization.anonymous = true;
  const Diagnosis too_long = diagnose(Code::not_an_image_manifest)
                                 .with(Key::reference, http.url)
                                 .with(Key::problem, "it is longer than " + format_bytes(request.limit));
  return read_whole(http, body, request.limit, too_long, !request.body);
}

// `timed`: the answer is a document, whose time is limited.
transfer::HttpOutcome Registry::read_whole(const transfer::HttpRequest& request, std::string& body,
                                           std::uint64_t limit, const Diagnosis& too_long, bool timed) {
  body.clear();
  const transfer::DocumentTime time(options_.document_limit);
  transfer::HttpOutcome outcome = client_.exchange(
      request, [](const transfer::HttpAnswer&) { return Result<void>(); },
      [&](std::string_view bytes) -> Result<void> {
        if (bytes.size() > limit - body.size()) return fail(too_long);
        body += bytes;
        return {};
      },
      [&] { return timed ? time.check(request.url, body.size()) : Result<void>(); });
  if (timed && time.left(body.size()).count() <= 0) outcome.transient = false;  // its time is used up
  return outcome;
}

// Retries failures that may pass: an overloaded server, a lost connection. `outcome`: of the first attempt.
Result<transfer::HttpOutcome> Registry::with_patience(const std::function<transfer::HttpOutcome()>& once,
                                                      transfer::HttpOutcome outcome) const {
  for (int failures = 0; failures < std::min(options_.retries, 3); ++failures) {
    if (!outcome.diagnosis || !outcome.transient || outcome.answer.status == 401) break;
    TRY(pause(failures, outcome.answer.retry_after));
    outcome = once();
  }
  return outcome;
}

Result<transfer::HttpOutcome> Registry::go_on(const RegistryRequest& request, std::string& body,
                                              transfer::HttpOutcome outcome) {
  // A request with a body may have changed something; its caller knows where to resume.
  if (request.body) return outcome;
  return with_patience([&] { return exchange(request, body); }, std::move(outcome));
}

Result<void> Registry::pause(int failures, std::optional<std::chrono::seconds> asked) const {
  using std::chrono::milliseconds;
  const milliseconds time = std::min<milliseconds>(
      asked ? milliseconds(*asked) : options_.first_backoff * (1 << std::min(failures, 6)),
      std::chrono::seconds(30));
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
    if (cancel_ && cancel_->canceled()) return fail(diagnose(Code::canceled).with(Key::url, url_of("")));
    std::this_thread::sleep_for(std::min(time, milliseconds(50)));
  }
  return {};
}

// Finds out whether the registry speaks TLS. Plain HTTP is used only where allowed, and is then tried first:
// a server without TLS may stall on a TLS handshake, while a TLS server answers plain HTTP with 400.
Result<transfer::HttpOutcome> Registry::first_exchange(const RegistryRequest& request, std::string& body) {
  if (plain_allowed_) {
    scheme_ = "http";
    transfer::HttpOutcome outcome = exchange(request, body);
    if (outcome.answer.status != 400 && outcome.answer.status != 0)
      return go_on(request, body, std::move(outcome));
    scheme_ = "https";
    transfer::HttpOutcome secure = exchange(request, body);
    // A refused certificate shows that the registry speaks TLS; a failed handshake does not.
    const bool refused =
        secure.diagnosis && secure.diagnosis->code == Code::no_secure_connection && !secure.transient;
    if (secure.answer.status != 0 || refused) return go_on(request, body, std::move(secure));
    scheme_ = "http";
    if (outcome.answer.status != 0) return outcome;
    return go_on(request, body, std::move(outcome));
  }
  scheme_ = "https";
  TRY_ASSIGN(transfer::HttpOutcome outcome, go_on(request, body, exchange(request, body)));
  // A refused certificate is no failed handshake. Only the latter may mean a server without TLS.
  if (outcome.diagnosis && outcome.diagnosis->code == Code::no_secure_connection && outcome.transient)
    return fail(diagnose(Code::registry_without_tls)
                    .with(Key::registry, host_)
                    .with(Key::curl_said, outcome.diagnosis->value(Key::curl_said)));
  return outcome;
}

Diagnosis Registry::refusal(const transfer::HttpOutcome& refused) const {
  Diagnosis diagnosis = diagnose(Code::registry_refuses_access);
  diagnosis.with(Key::registry, host_).with(Key::repository, repository_).with(Key::actions, actions_);
  diagnosis.with(Key::status, std::to_string(refused.answer.status));
  if (const std::string said = transfer::message_of_server(refused.error_body); !said.empty())
    diagnosis.with(Key::registry_said, said);
  diagnosis.with(Key::signed_in, authorization_.empty() ? "no" : "yes");
  return diagnosis;
}

Result<void> Registry::fetch_token(const Challenge& challenge) {
  const std::string& realm = challenge["realm"];
  const std::string realm_host = host_of(realm);
  const auto refuse = [&](std::string_view problem) {
    return fail(diagnose(Code::registry_refuses_access)
                    .with(Key::registry, host_)
                    .with(Key::repository, repository_)
                    .with(Key::token_service, printable_line(without_passwords(realm).substr(0, 200)))
                    .with(Key::problem, problem));
  };
  if (!transfer::is_url(realm) || realm_host.empty())
    return refuse("the registry names no token service that is a URL");
  if (to_lower(realm.substr(0, 5)) != "https" &&
      !(scheme_ == "http" && may_go_plain(realm_host, options_.plain_http_registries)))
    return refuse("the token service would be asked without TLS");
  transfer::HttpRequest request;
  request.url = realm;
  request.url += realm.find('?') == std::string::npos ? '?' : '&';
  if (!challenge["service"].empty())
    request.url += "service=" + percent_encoded(challenge["service"], "-._~") + "&";
  // Never the challenge's scope: the token goes to the registry, which could ask for rights to other
  // repositories.
  request.url += "scope=" + percent_encoded("repository:" + repository_ + ":" + actions_, "-._~");
  request.follow = true;
  request.decode = true;
  if (auto who = credentials_for(host_))
    request.authorization = std::move(*who);
  else
    // Uses netrc only for the registry's own host. Otherwise a registry could name another registry's token
    // service and receive its token.
    request.authorization.anonymous = name_of(realm_host) != name_of(host_);
  std::string body;
  const Diagnosis too_long = diagnose(Code::registry_refuses_access).with(Key::problem, "too long");
  const auto once = [&] { return read_whole(request, body, largest_token_answer, too_long, true); };
  TRY_ASSIGN(const transfer::HttpOutcome outcome, with_patience(once, once()));
  const bool refused = outcome.answer.status >= 400 && outcome.answer.status < 500;
  if (outcome.diagnosis && refused && !outcome.transient) {
    Diagnosis diagnosis = refusal(outcome);
    return fail(std::move(diagnosis.with(Key::token_service, realm)));
  }
  if (outcome.diagnosis) return fail(*outcome.diagnosis);
  auto token = token_in(body);
  if (!token) return refuse(token.error().value(Key::problem));
  authorization_ = {};
  authorization_.bearer = std::move(*token);
  return {};
}

// The answer to HEAD has no body; the registry's reason is in that to GET.
void Registry::add_reason(const RegistryRequest& request, transfer::HttpOutcome& refused) {
  if (request.method != "HEAD") return;
  RegistryRequest again = request;
  again.method = "GET";
  again.limit = 64u << 10;
  std::string ignored;
  const transfer::HttpOutcome answered = exchange(again, ignored);
  if (answered.answer.status == refused.answer.status) refused.error_body = answered.error_body;
}

Result<void> Registry::sign_in(const RegistryRequest& request, const std::vector<Challenge>& challenges,
                               transfer::HttpOutcome& refused) {
  for (const Challenge& challenge : challenges)
    if (challenge.scheme == "bearer") return fetch_token(challenge);
  for (const Challenge& challenge : challenges) {
    if (challenge.scheme != "basic" || !authorization_.empty()) continue;
    if (auto who = credentials_for(host_)) {
      authorization_ = std::move(*who);
      return {};
    }
  }
  add_reason(request, refused);
  return fail(refusal(refused));
}

Result<RegistryAnswer> Registry::ask(const RegistryRequest& request) {
  if (options_.offline) return fail(diagnose(Code::offline).with(Key::url, url_of(request.path)));
  std::string body;
  for (bool signed_in = false;; signed_in = true) {
    TRY_ASSIGN(transfer::HttpOutcome outcome, scheme_.empty()
                                                  ? first_exchange(request, body)
                                                  : go_on(request, body, exchange(request, body)));
    if (outcome.answer.status == 0 || (outcome.diagnosis && outcome.diagnosis->code != Code::server_refuses))
      return fail(outcome.diagnosis ? std::move(*outcome.diagnosis)
                                    : diagnose(Code::no_connection).with(Key::url, url_of("")));
    if (outcome.answer.status == 401 && !signed_in) {
      std::vector<Challenge> challenges;
      for (const std::string& header : outcome.answer.challenges)
        for (Challenge& challenge : read_challenges(header)) challenges.push_back(std::move(challenge));
      TRY(sign_in(request, challenges, outcome));
      continue;
    }
    if (outcome.answer.status >= 400 && outcome.answer.status != 404) add_reason(request, outcome);
    if (outcome.answer.status == 401 || outcome.answer.status == 403) return fail(refusal(outcome));
    RegistryAnswer answer;
    answer.status = outcome.answer.status;
    answer.url = without_passwords(outcome.answer.url);
    answer.location = outcome.answer.location.empty()
                          ? ""
                          : transfer::join_url(outcome.answer.url, outcome.answer.location);
    answer.length = outcome.answer.length;
    answer.said = transfer::message_of_server(outcome.error_body);
    answer.is_transient = outcome.transient;
    answer.retry_after = outcome.answer.retry_after;
    answer.body = std::move(body);
    return answer;
  }
}

}  // namespace enginehost::oci
