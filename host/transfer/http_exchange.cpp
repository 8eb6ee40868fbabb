#include "host/transfer/http_exchange.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/environment.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/transfer/connection_settings.hpp"
#include "host/transfer/exchange_failure.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr int tick_milliseconds = 50;
constexpr std::size_t error_page_bytes = 16384;  // read for the title; the rest is not waited for
// After this time an unrequested page (of an error or a redirect) is not waited for either.
constexpr milliseconds page_patience{2'000};

constexpr double least_bytes_a_second = 64;

void initialise_library() {
  // Once per process, before any thread uses the library. A static's initialization guarantees both.
  static const CURLcode done = ::curl_global_init(CURL_GLOBAL_DEFAULT);
  (void)done;
}

std::string scheme_of(std::string_view url) { return to_lower(url.substr(0, url.find("://"))); }

Diagnosis no_authorities(const std::string& url, const Authorities& authorities) {
  Diagnosis diagnosis = diagnose(Code::no_certificate_authorities).with(Key::url, url);
  for (const std::string& place : authorities.looked_at) diagnosis.with(Key::looked_at, place, "file system");
  return diagnosis;
}

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

}  // namespace

struct HttpClient::State {
  TransferOptions options;
  std::optional<CancelToken> cancel;
  CURL* easy = nullptr;
  CURLM* multi = nullptr;

  // state of the running exchange
  const OnAnswer* on_answer = nullptr;
  const OnBody* on_body = nullptr;
  HttpAnswer answer;
  Certificates certificates;
  const HttpUpload* upload = nullptr;
  bool follow = true;
  bool answered = false;                         // on_answer was called
  bool redirected = false;                       // the body is not wanted
  bool page_cut = false;                         // the rest of an unrequested page was not waited for
  std::optional<Clock::time_point> headers_end;  // of the final answer; not set: headers are still arriving
  std::optional<Diagnosis> stopped;
  std::exception_ptr thrown;  // by a callback
  std::uint64_t body_bytes = 0;
  char said[CURL_ERROR_SIZE] = {};
  std::string error_page;
  Clock::time_point last_byte;
  Clock::time_point window_began;
  std::uint64_t window_began_at = 0;  // of the body's bytes

  bool stop(Diagnosis diagnosis) {
    if (!stopped) stopped = std::move(diagnosis);
    return false;
  }
  // Keeps exceptions of callbacks until the library, which is C, has returned. `failed` reports them to it.
  template <class Callback>
  std::size_t within_library(std::size_t failed, Callback callback) noexcept {
    try {
      return callback();
    } catch (...) {
      thrown = std::current_exception();
      return failed;
    }
  }
  bool headers_complete();
  bool wants_body() const { return answer.status >= 200 && answer.status <= 299; }
  bool page_is_late(Clock::time_point now) const;
  void stop_if_next_to_nothing_came(Clock::time_point now);
  void read_header(std::string_view line);
  static std::size_t header_callback(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t upload_callback(char* to, std::size_t size, std::size_t count, void* self);
  std::size_t take_body(std::string_view bytes);
  void authorize(const HttpRequest& request, const std::string& url);
  static std::size_t body_callback(char* data, std::size_t size, std::size_t count, void* self);
  void prepare(const HttpRequest& request, const std::string& url, curl_slist* headers);
  void trust_authorities(CURLoption in_folder, CURLoption in_file, CURLoption in_memory);
  CURLcode run(const OnTick& on_tick);
  std::optional<Diagnosis> next_url(std::string& url, int hops) const;
  void judge(CURLcode result, HttpOutcome& outcome, const std::string& url) const;
};

void HttpClient::State::read_header(std::string_view line) {
  if (line.starts_with("HTTP/")) {  // a new block: of an interim answer, of a proxy, or of the final answer
    const std::string url = answer.url;
    headers_end.reset();
    answer = HttpAnswer{};
    answer.url = url;
    if (const std::size_t space = line.find(' '); space != std::string_view::npos)
      answer.status = static_cast<long>(leading_number(line.substr(space + 1)).value_or(0));
    if (const std::size_t space = line.find(' ', line.find(' ') + 1); space != std::string_view::npos)
      answer.reason = trim(line.substr(space));
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  const std::string name = to_lower(line.substr(0, colon));
  const std::string_view value = trim(line.substr(colon + 1));
  if (name == "content-length") answer.length = leading_number(value);
  if (name == "content-range") answer.range = read_content_range(value);
  if (name == "content-type") answer.content_type = value;
  if (name == "content-encoding" && to_lower(value) != "identity") answer.encoding = value;
  if (name == "etag") answer.etag = value;
  if (name == "location") answer.location = value;
  if (name == "www-authenticate") answer.challenges.emplace_back(value);
}

bool HttpClient::State::headers_complete() {
  if (answered) return true;
  answered = true;
  redirected = follow && is_redirect(answer.status) && !answer.location.empty();
  if (redirected) return true;
  if (auto accepted = (*on_answer)(answer); !accepted) return stop(std::move(accepted.error()));
  return true;
}

std::size_t HttpClient::State::header_callback(char* data, std::size_t size, std::size_t count, void* self) {
  auto& state = *static_cast<State*>(self);
  const std::string_view line(data, size * count);
  // Headers after the body are ignored. None of them counts as progress, so that a server cannot delay the
  // end by sending headers.
  if (state.answered) return size * count;
  return state.within_library(0, [&] {
    state.read_header(line);
    if (trim(line).empty() && state.answer.status >= 200) state.headers_end = Clock::now();
    return size * count;
  });
}

// libcurl handles a proxy's 407, and 417, and repeats the request.
bool HttpClient::State::page_is_late(Clock::time_point now) const {
  return headers_end && !wants_body() && answer.status != 407 && answer.status != 417 &&
         now - *headers_end > std::min(page_patience, options.stall_limit);
}

std::size_t HttpClient::State::body_callback(char* data, std::size_t size, std::size_t count, void* self) {
  auto& state = *static_cast<State*>(self);
  return state.within_library(0, [&] { return state.take_body(std::string_view(data, size * count)); });
}

// Returns how many bytes were taken.
std::size_t HttpClient::State::take_body(std::string_view bytes) {
  if (!headers_complete()) return 0;
  if (!wants_body()) {
    error_page.append(bytes.data(), std::min(bytes.size(), error_page_bytes - error_page.size()));
    // After a complete page the connection stays open for the next request.
    const bool whole = answer.length == bytes.size();
    page_cut = !whole && (redirected || error_page.size() == error_page_bytes);
    return page_cut ? 0 : bytes.size();
  }
  last_byte = Clock::now();
  body_bytes += bytes.size();
  if (auto taken = (*on_body)(bytes); !taken) {
    stop(std::move(taken.error()));
    return 0;
  }
  return bytes.size();
}

std::size_t HttpClient::State::upload_callback(char* to, std::size_t size, std::size_t count, void* self) {
  auto& state = *static_cast<State*>(self);
  state.last_byte = Clock::now();
  return state.within_library(CURL_READFUNC_ABORT, [&] { return state.upload->read(to, size * count); });
}

void HttpClient::State::authorize(const HttpRequest& request, const std::string& url) {
  const Authorization& who = request.authorization;
  if (who.empty() || origin_of(url) != origin_of(request.url)) return;
  ::curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  if (who.anonymous) return;
  if (!who.bearer.empty()) {
    ::curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    ::curl_easy_setopt(easy, CURLOPT_XOAUTH2_BEARER, who.bearer.c_str());
  } else {
    ::curl_easy_setopt(easy, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
    ::curl_easy_setopt(easy, CURLOPT_USERNAME, who.user.c_str());
    ::curl_easy_setopt(easy, CURLOPT_PASSWORD, who.password.c_str());
  }
}

void HttpClient::State::prepare(const HttpRequest& request, const std::string& url, curl_slist* headers) {
  ::curl_easy_reset(easy);
  const auto set = [this](CURLoption option, auto value) { ::curl_easy_setopt(easy, option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, said);
  set(CURLOPT_QUICK_EXIT, 1L);  // do not wait for a hanging resolver thread
  set(CURLOPT_BUFFERSIZE, 512L * 1024);
  // For Windows' own TLS: a certificate authority without a revocation list is no failure.
  set(CURLOPT_SSL_OPTIONS, static_cast<long>(CURLSSLOPT_REVOKE_BEST_EFFORT));
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options.connect_limit.count()));
  set(CURLOPT_USERAGENT, options.user_agent.c_str());
  if (const std::string netrc = path_text(netrc_for(url, options)); !netrc.empty()) {
    set(CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL));
    set(CURLOPT_NETRC_FILE, netrc.c_str());
  }
  set(CURLOPT_PROXYAUTH, static_cast<long>(CURLAUTH_ANY));
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_HTTP_VERSION,
      static_cast<long>(request.http1_only ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS));
  set(CURLOPT_HEADERFUNCTION, &State::header_callback);
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  set(CURLOPT_WRITEFUNCTION, &State::body_callback);
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  set(CURLOPT_HTTPHEADER, headers);
  if (request.head_only) set(CURLOPT_NOBODY, 1L);
  if (request.decode) set(CURLOPT_ACCEPT_ENCODING, "identity");  // also turns decoding on
  authorize(request, url);
  upload = request.upload ? &*request.upload : nullptr;
  follow = request.follow;
  if (upload != nullptr) {
    set(CURLOPT_UPLOAD, 1L);
    set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(upload->size));
    set(CURLOPT_READFUNCTION, &State::upload_callback);
    set(CURLOPT_READDATA, static_cast<void*>(this));
  }
  if (!request.method.empty()) set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  std::string range = std::to_string(request.range_start) + "-";
  if (request.range_end) range += std::to_string(*request.range_end - 1);
  if (request.range_start > 0 || request.range_end) set(CURLOPT_RANGE, range.c_str());
  if (!options.proxy.empty()) set(CURLOPT_PROXY, options.proxy.c_str());
  if (!options.no_proxy.empty()) set(CURLOPT_NOPROXY, options.no_proxy.c_str());
  if (!options.client_certificate.empty()) set(CURLOPT_SSLCERT, options.client_certificate.c_str());
  if (is_trusted_host(url, options)) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
  }
  // A proxy whose address begins with https:// has options of its own.
  trust_authorities(CURLOPT_CAPATH, CURLOPT_CAINFO, CURLOPT_CAINFO_BLOB);
  trust_authorities(CURLOPT_PROXY_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAINFO_BLOB);
}

void HttpClient::State::trust_authorities(CURLoption in_folder, CURLoption in_file, CURLoption in_memory) {
  std::error_code error;
  if (std::filesystem::is_directory(path_of(certificates.file), error)) {
    ::curl_easy_setopt(easy, in_folder, certificates.file.c_str());
    ::curl_easy_setopt(easy, in_file, nullptr);
  } else if (!certificates.file.empty()) {
    ::curl_easy_setopt(easy, in_file, certificates.file.c_str());
  }
  if (!certificates.pem.empty()) {
    curl_blob blob{certificates.pem.data(), certificates.pem.size(), CURL_BLOB_NOCOPY};
    ::curl_easy_setopt(easy, in_memory, &blob);
  }
}

// Stops a transfer whose average rate, over four times the stall limit, is below the minimum.
void HttpClient::State::stop_if_next_to_nothing_came(Clock::time_point now) {
  const Clock::duration window = 4 * options.stall_limit;
  if (upload != nullptr || now - window_began < window) return;
  const std::uint64_t came = body_bytes - window_began_at;
  const double seconds = std::chrono::duration<double>(now - window_began).count();
  if (body_bytes > 0 && static_cast<double>(came) < least_bytes_a_second * seconds)
    stop(std::move(diagnose(Code::transfer_stalled)
                       .with(Key::slow_bytes, std::to_string(came))
                       .with(Key::seconds, std::to_string(static_cast<std::int64_t>(seconds)))
                       .with(Key::received, std::to_string(body_bytes))));
  window_began = now;
  window_began_at = body_bytes;
}

CURLcode HttpClient::State::run(const OnTick& on_tick) {
  ::curl_multi_add_handle(multi, easy);
  const Clock::time_point began = Clock::now();
  last_byte = window_began = began;
  window_began_at = 0;
  Clock::time_point last_tick = began;
  int running = 1;
  CURLcode result = CURLE_OK;
  while (running > 0 && !stopped) {
    if (::curl_multi_perform(multi, &running) != CURLM_OK) result = CURLE_FAILED_INIT;
    if (running == 0 || result != CURLE_OK) break;
    ::curl_multi_poll(multi, nullptr, 0, tick_milliseconds, nullptr);
    if (cancel && cancel->canceled()) stop(diagnose(Code::canceled));
    const Clock::time_point now = Clock::now();
    if (page_is_late(now)) {
      page_cut = true;
      break;
    }
    if (now - last_byte > options.stall_limit + (body_bytes == 0 ? options.connect_limit : milliseconds{0}))
      stop(std::move(diagnose(Code::transfer_stalled)
                         .with(answer.status != 0 && !headers_end ? Key::headers_seconds : Key::seconds,
                               std::to_string((now - last_byte) / std::chrono::seconds(1)))
                         .with(Key::received, std::to_string(body_bytes))));
    stop_if_next_to_nothing_came(now);
    if (on_tick && now - last_tick >= milliseconds{100}) {
      last_tick = now;
      if (auto go_on = on_tick(); !go_on) stop(std::move(go_on.error()));
    }
  }
  int left = 0;
  while (const CURLMsg* message = ::curl_multi_info_read(multi, &left))
    if (message->msg == CURLMSG_DONE) result = message->data.result;
  curl_off_t retry_after = 0;
  if (::curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &retry_after) == CURLE_OK && retry_after > 0)
    answer.retry_after = std::chrono::seconds(retry_after);
  ::curl_multi_remove_handle(multi, easy);
  return result;
}

std::optional<Diagnosis> HttpClient::State::next_url(std::string& url, int hops) const {
  const std::string target = join_url(url, answer.location);
  const auto refuse = [&](std::string_view problem) {
    return std::move(diagnose(Code::redirect_refused)
                         .with(Key::url, url)
                         .with(Key::target, target)
                         .with(Key::problem, problem));
  };
  if (upload != nullptr) return refuse("an upload is not redirected");
  if (hops >= options.max_redirects) return refuse("too many redirects");
  if (!is_url(target)) return refuse("neither http nor https");
  if (scheme_of(target) == "http") {
    if (scheme_of(url) == "https") return refuse("from https to http");
    if (host_of(target) != host_of(url) && !is_loopback(host_of(target)))
      return refuse("to another host without TLS");
  }
  url = target;
  return {};
}

void HttpClient::State::judge(CURLcode result, HttpOutcome& outcome, const std::string& url) const {
  if (stopped) {
    outcome.diagnosis = *stopped;
    if (outcome.diagnosis->value(Key::url).empty()) outcome.diagnosis->with(Key::url, without_passwords(url));
    outcome.transient = stopped->code == Code::transfer_stalled;
    return;
  }
  const bool is_broken = result != CURLE_OK && !page_cut;
  if (!is_broken && answer.status >= 200 && answer.status < 300) return;
  if (!is_broken && !follow && is_redirect(answer.status) && !answer.location.empty()) return;
  BrokenExchange broken{result, said, false, 0, 0, body_bytes};
  curl_off_t connected_after = 0;
  ::curl_easy_getinfo(easy, CURLINFO_HTTP_CONNECTCODE, &broken.proxy_status);
  ::curl_easy_getinfo(easy, CURLINFO_CONNECT_TIME_T, &connected_after);
  ::curl_easy_getinfo(easy, CURLINFO_PRIMARY_PORT, &broken.port);
  broken.connected = connected_after != 0;
  if (!is_broken) outcome.error_body = error_page;
  ExchangeFailure failure =
      is_broken ? failure_of(broken, answer, url, options) : refusal_of(answer, error_page, url, options);
  outcome.diagnosis = std::move(failure.diagnosis);
  outcome.transient = failure.transient;
  outcome.retry_with_http1 = failure.retry_with_http1;
}

HttpClient::HttpClient(const TransferOptions& options, std::optional<CancelToken> cancel)
    : state_(std::make_unique<State>()) {
  initialise_library();
  state_->options = options;
  state_->cancel = std::move(cancel);
  state_->easy = ::curl_easy_init();
  state_->multi = ::curl_multi_init();
}

HttpClient::~HttpClient() {
  ::curl_easy_cleanup(state_->easy);
  ::curl_multi_cleanup(state_->multi);
}

HttpOutcome HttpClient::exchange(const HttpRequest& request, const OnAnswer& on_answer, const OnBody& on_body,
                                 const OnTick& on_tick) {
  State& state = *state_;
  HttpOutcome outcome;
  std::string url = request.url;
  for (int hops = 0;; ++hops) {
    if (auto permitted = state.options.permit ? state.options.permit(url) : Result<void>(); !permitted) {
      outcome.diagnosis = std::move(permitted.error().with(Key::url, url));
      return outcome;
    }
    state.on_answer = &on_answer;
    state.on_body = &on_body;
    state.answer = HttpAnswer{};
    state.answer.url = url;
    state.answered = state.redirected = state.page_cut = false;
    state.headers_end.reset();
    state.stopped.reset();
    state.body_bytes = 0;
    state.error_page.clear();
    curl_slist* headers = nullptr;
    if (!request.decode) headers = ::curl_slist_append(headers, "Accept-Encoding: identity");
    if (!request.accept.empty())
      headers = ::curl_slist_append(headers, ("Accept: " + request.accept).c_str());
    if (!request.if_range.empty())
      headers = ::curl_slist_append(headers, ("If-Range: " + request.if_range).c_str());
    if (request.upload)
      headers = ::curl_slist_append(headers, ("Content-Type: " + request.upload->content_type).c_str());
    if (request.upload && !request.upload->content_range.empty())
      headers = ::curl_slist_append(headers, ("Content-Range: " + request.upload->content_range).c_str());
    if (auto found = certificates_for(state.options))
      state.certificates = std::move(*found);
    else
      state.stop(std::move(found.error().with(Key::url, url)));
    if (state.certificates.system.are_missing && scheme_of(url) == "https" &&
        !is_trusted_host(url, state.options))
      state.stop(no_authorities(url, state.certificates.system));
    state.prepare(request, url, headers);
    const CURLcode result = state.run(on_tick);
    ::curl_slist_free_all(headers);
    if (state.thrown) std::rethrow_exception(std::exchange(state.thrown, nullptr));
    if ((result == CURLE_OK || state.page_cut) && !state.stopped)
      state.headers_complete();  // an answer without a body
    outcome.answered = state.answered || state.headers_end;
    outcome.answer = state.answer;
    outcome.body_bytes = state.body_bytes;
    if (state.redirected && !state.stopped) {
      outcome.diagnosis = state.next_url(url, hops);
      if (outcome.diagnosis) return outcome;
      continue;
    }
    state.judge(result, outcome, url);
    return outcome;
  }
}

}  // namespace enginehost::transfer
