// One HTTP request and its answer, over libcurl, with our own rules for redirects. For fetch_url and for
// protocols over HTTP (host/oci).
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::transfer {

// The Content-Range header: the part of a file that an answer holds (RFC 9110, section 14.4).
struct ContentRange {
  std::optional<std::uint64_t> start;  // of "bytes 100-199/200": 100; nothing for "bytes */200"
  std::optional<std::uint64_t> total;  // 200; nothing for "bytes 0-9/*"
};

// Returns the parts that can be read.
ContentRange read_content_range(std::string_view value);

// Returns the decimal digits at the start of the text; nothing if there are none or they do not fit.
std::optional<std::uint64_t> leading_number(std::string_view text);

// The time limit of a small document, also if its bytes arrive slowly.
class DocumentTime {
 public:
  // Begins now. Every 16 KiB received add a second to `limit`, up to `longest`.
  explicit DocumentTime(std::chrono::milliseconds limit,
                        std::chrono::milliseconds longest = std::chrono::hours{24})
      : limit_(limit), longest_(longest) {}

  // Returns the time left; 0 or less: it is over.
  std::chrono::milliseconds left(std::uint64_t received) const;

  // Fails with EH-N03 ("url", "document_seconds", "received") if the time is over.
  Result<void> check(std::string_view url, std::uint64_t received) const;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::milliseconds limit_, longest_;
};

// The body of a request. `read` fills at most `room` bytes and returns how many. Returning 0 before `size`
// bytes ends the exchange. Called from the thread of the exchange.
struct HttpUpload {
  std::uint64_t size = 0;
  std::string content_type, content_range;  // content_range: "0-99" for an upload in pieces, else empty
  std::function<std::size_t(char* to, std::size_t room)> read;
};

struct HttpRequest {
  std::string url;
  bool head_only = false;
  std::uint64_t range_start = 0;
  std::optional<std::uint64_t> range_end;  // first byte that is not wanted
  std::string if_range;                    // a strong ETag, or empty
  std::string accept;
  bool http1_only = false;
  // Decodes an answer that is compressed although "identity" is asked for. Its length is then not that of the
  // bytes that come.
  bool decode = false;
  Authorization authorization;
  std::string method;                // empty: GET, or HEAD with head_only
  std::optional<HttpUpload> upload;  // the body
  bool follow = true;                // false: a redirect is an ordinary answer and no failure
};

struct HttpAnswer {
  long status = 0;
  std::string url;                      // the URL that finally answered, with credentials
  std::optional<std::uint64_t> length;  // Content-Length of this body
  ContentRange range;
  std::string etag, content_type, location;
  std::string encoding;                 // Content-Encoding, if it is not "identity"
  std::string reason;                   // the text behind the status
  std::vector<std::string> challenges;  // WWW-Authenticate, one element per header
  std::optional<std::chrono::seconds> retry_after;
};

// The result of an exchange.
struct HttpOutcome {
  HttpAnswer answer;                   // as far as it was received
  std::optional<Diagnosis> diagnosis;  // none: the body is complete
  bool transient = false;              // the same request may succeed later
  bool retry_with_http1 = false;
  bool answered = false;  // the headers of the answer are complete
  std::uint64_t body_bytes = 0;
  std::string error_body;  // first 16 KiB of an error answer
};

// Keeps connections open for further requests to the same hosts. One thread at a time.
class HttpClient {
 public:
  HttpClient(const TransferOptions& options, std::optional<CancelToken> cancel);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  // OnAnswer is called once with the headers of the final answer, before its body; then OnBody with the
  // body's pieces. An error ends the exchange with that diagnosis. Redirects are followed before either is
  // called.
  using OnAnswer = std::function<Result<void>(const HttpAnswer&)>;
  using OnBody = std::function<Result<void>(std::string_view)>;
  // Called about ten times a second. An error ends the exchange with that diagnosis.
  using OnTick = std::function<Result<void>()>;

  // Fails with EH-N03 when connect_limit and stall_limit have passed without complete headers, whatever
  // arrived meanwhile, or when stall_limit has passed without a byte of the body. Unrequested pages (of an
  // error or a redirect) are read only as far as they arrive at once.
  HttpOutcome exchange(const HttpRequest& request, const OnAnswer& on_answer, const OnBody& on_body,
                       const OnTick& on_tick = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// As fetch_text() in transfer.hpp, over a client of the caller, so that the next document uses the same
// connection. `client` must have been made with the same options and token.
Result<std::string> fetch_text_over(HttpClient& client, std::string_view url, const TransferOptions& options,
                                    std::uint64_t limit, std::string_view accept,
                                    const std::optional<CancelToken>& cancel,
                                    std::optional<std::chrono::milliseconds> longest_time);

}  // namespace enginehost::transfer
