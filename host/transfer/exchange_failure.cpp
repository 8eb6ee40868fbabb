#include "host/transfer/exchange_failure.hpp"

#include <curl/curl.h>

#include <ctime>
#include <utility>

#include "base/text.hpp"
#include "host/transfer/connection_settings.hpp"
#include "host/transfer/server_message.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

struct CurlFailure {
  Code code = Code::none;
  bool transient;
};

CurlFailure class_of(CURLcode result) {
  switch (result) {
    case CURLE_COULDNT_RESOLVE_HOST:
      return {Code::host_not_found, true};
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_PROXY:
      return {Code::proxy_not_reached, true};
    case CURLE_OPERATION_TIMEDOUT:
      return {Code::transfer_stalled, true};
    case CURLE_SSL_CONNECT_ERROR:
      return {Code::no_secure_connection, true};
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_INVALIDCERTSTATUS:
    case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
    case CURLE_USE_SSL_FAILED:
    case CURLE_SSL_ENGINE_INITFAILED:
      return {Code::no_secure_connection, false};
    case CURLE_URL_MALFORMAT:
      return {Code::redirect_refused, false};
    case CURLE_BAD_CONTENT_ENCODING:
      return {Code::file_compressed_on_the_way, false};
    case CURLE_UNSUPPORTED_PROTOCOL:  // HTTP/0.9, which accepts any bytes; the URL's scheme was checked
                                      // before
      return {Code::no_connection, false};
    default:
      return {Code::no_connection, true};  // refused, reset, cut off, HTTP/2 stream error
  }
}

// Describes an answer that is not HTTP, if the library's message would mislead.
std::string_view no_http(CURLcode result) {
  if (result == CURLE_UNSUPPORTED_PROTOCOL) return "with something that is not HTTP";
  if (result == CURLE_OUT_OF_MEMORY)
    return "with a header that is too long";  // curl reports this as out of memory
  return {};
}

// Returns what is wrong with a certificate, by the messages of OpenSSL and Schannel and libcurl's own. Empty:
// something else. libcurl prints the symbol of a Schannel error (curl/curl pull request 6018), and Schannel
// has one for "expired" and "not yet valid".
std::string_view fault_of_certificate(std::string_view said) {
  constexpr std::pair<std::string_view, std::string_view> faults[] = {
      {"certificate has expired", "expired"},
      {"certificate is not yet valid", "not yet valid"},
      {"SEC_E_CERT_EXPIRED", "expired or not yet valid"},
      {"CERT_E_EXPIRED", "expired or not yet valid"},
      {"unable to get local issuer certificate", "unknown authority"},
      {"unable to get issuer certificate", "unknown authority"},
      {"unable to verify the first certificate", "unknown authority"},
      {"self-signed certificate", "unknown authority"},
      {"self signed certificate", "unknown authority"},
      {"SEC_E_UNTRUSTED_ROOT", "unknown authority"},
      {"CERT_E_UNTRUSTEDROOT", "unknown authority"},
      {"CERT_TRUST_IS_UNTRUSTED_ROOT", "unknown authority"},
      {"CERT_TRUST_IS_PARTIAL_CHAIN", "unknown authority"},
      {"target host name", "another name"},  // "no alternative certificate subject name matches …"
      {"SEC_E_WRONG_PRINCIPAL", "another name"},
  };
  for (const auto& [text, fault] : faults)
    if (said.find(text) != std::string_view::npos) return fault;
  return {};
}

// libcurl names the place that it could not connect to: "Failed to connect to HOST port PORT after 2 ms",
// with "via PROXY" in newer versions. NO_PROXY may have led past the proxy.
bool is_about_proxy(std::string_view said, const std::string& proxy) {
  if (proxy.empty()) return false;
  const std::string origin = origin_of(proxy), place = origin.substr(origin.find("://") + 3);
  const std::size_t colon = place.rfind(':');
  const std::string host = place.substr(0, colon);
  const auto names = [&](const std::string& text) { return said.find(text) != std::string_view::npos; };
  return names(" via " + host) || names(host + " port " + place.substr(colon + 1) + " ");
}

// The connection leads to the proxy, and it has not answered CONNECT yet or the server is asked without TLS.
bool is_tls_of_proxy(const BrokenExchange& broken, const std::string& proxy) {
  return proxy.starts_with("https://") && broken.proxy_status == 0 &&
         origin_of(proxy).ends_with(":" + std::to_string(broken.port));
}

bool may_succeed_later(long status) {
  return status == 408 || status == 425 || status == 429 || status == 500 || status == 502 || status == 503 ||
         status == 504;
}

bool has_credentials(const std::string& url) {
  const std::string_view after = std::string_view(url).substr(url.find("://") + 3);
  return after.substr(0, after.find_first_of("/?#")).find('@') != std::string_view::npos;
}

}  // namespace

ExchangeFailure failure_of(const BrokenExchange& broken, const HttpAnswer& answer, const std::string& url,
                           const TransferOptions& options) {
  const auto result = static_cast<CURLcode>(broken.result);
  const std::string general = ::curl_easy_strerror(result);
  const std::string proxy = proxy_for(url, options);
  CurlFailure failure = class_of(result);
  const bool is_timeout = result == CURLE_OPERATION_TIMEDOUT;
  if (!broken.connected && is_about_proxy(broken.said, proxy)) failure.code = Code::proxy_not_reached;
  ExchangeFailure outcome{diagnose(failure.code), failure.transient,
                          result == CURLE_HTTP2 || result == CURLE_HTTP2_STREAM};
  Diagnosis& diagnosis = outcome.diagnosis;
  diagnosis.with(Key::url, url);
  if (broken.proxy_status >= 300) {  // the proxy refused the connection
    outcome.transient = may_succeed_later(broken.proxy_status);
    diagnosis.code = Code::server_refuses;
    diagnosis.with(Key::status, std::to_string(broken.proxy_status), "the proxy's answer to CONNECT");
    diagnosis.with(Key::host, host_of(url));
    if (outcome.transient) diagnosis.with(Key::temporary, "yes");
  } else {
    // Only the library's message says which fault of a certificate, and which CA file.
    const Code code = failure.code;
    const bool in_detail = (code == Code::no_secure_connection || code == Code::file_compressed_on_the_way) &&
                           !broken.said.empty();
    diagnosis.with(Key::curl_said, in_detail ? broken.said : general);
    if (code == Code::no_secure_connection) {
      const bool is_of_proxy = is_tls_of_proxy(broken, proxy);
      diagnosis.with(Key::host, host_of(is_of_proxy ? proxy : url))
          .with(Key::tls_peer, is_of_proxy ? "the proxy " + proxy : without_passwords(url));
      if (const auto fault = fault_of_certificate(broken.said); !fault.empty())
        diagnosis.with(Key::certificate, fault, "the TLS library")
            .with(Key::clock, text_of_time(std::time(nullptr)), "this machine");
    }
    if (code == Code::file_compressed_on_the_way)
      diagnosis.with(Key::content_encoding, answer.encoding, "Content-Encoding");
    if (result == CURLE_URL_MALFORMAT)
      diagnosis.with(Key::malformed, broken.said.empty() ? general : broken.said);
    diagnosis.with(Key::received, std::to_string(broken.received));
    if (const auto answered_with = no_http(result); !answered_with.empty())
      diagnosis.with(Key::answered, answered_with);
    else if (code == Code::no_connection && answer.status != 0)
      diagnosis.with(Key::cut, "yes");
  }
  if (!proxy.empty()) diagnosis.with(Key::proxy, proxy).with(Key::proxy_set_by, proxy_set_by(url, options));
  if (is_timeout) diagnosis.with(Key::seconds, std::to_string(options.connect_limit.count() / 1000));
  return outcome;
}

ExchangeFailure refusal_of(const HttpAnswer& answer, std::string_view page, const std::string& url,
                           const TransferOptions& options) {
  ExchangeFailure outcome{diagnose(Code::server_refuses), may_succeed_later(answer.status)};
  Diagnosis& diagnosis = outcome.diagnosis;
  diagnosis.with(Key::url, url).with(Key::status, std::to_string(answer.status));
  diagnosis.with(Key::host, host_of(url));
  if (outcome.transient) diagnosis.with(Key::temporary, "yes");
  if (outcome.transient && answer.retry_after)
    diagnosis.with(Key::retry_after, text_of_time(std::time(nullptr) + answer.retry_after->count()),
                   "Retry-After of the answer");
  if (const std::string proxy = proxy_for(url, options); answer.status == 407 && !proxy.empty())
    diagnosis.with(Key::proxy, proxy).with(Key::proxy_set_by, proxy_set_by(url, options));
  if (answer.status == 401 && has_credentials(url))
    diagnosis.with(Key::signed_in, "with those of its address");
  if (answer.status == 401 && is_netrc_withheld(url, options))
    diagnosis.with(Key::netrc_withheld, origin_of(url), "the passwords of ~/.netrc");
  if (const auto title = title_of_page(page); title && !title->empty())
    diagnosis.with(Key::title, *title, "the page that came with it");
  std::string said = message_of_server(page);
  // Some repository managers say why a file is refused in the status line alone.
  const bool is_usual = answer.reason == "Unauthorized" || answer.reason == "Forbidden";
  if (said.empty() && (answer.status == 401 || answer.status == 403) && !is_usual)
    said = message_of_server(answer.reason);
  if (!said.empty()) diagnosis.with(Key::server_said, said, "the answer");
  return outcome;
}

}  // namespace enginehost::transfer
