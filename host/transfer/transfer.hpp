// Bytes from a URL or a file into a sink, with every failure told apart.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/cancel.hpp"
#include "base/location.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/progress.hpp"

namespace enginehost::transfer {

// Receives the bytes of one file. Called from the thread that fetches.
class Sink {
 public:
  virtual ~Sink() = default;
  // How many bytes it holds from earlier attempts: the transfer asks to continue there.
  virtual std::uint64_t held() const = 0;
  // The next write is the byte at `offset`: held(), or 0 when the transfer starts again and what is held is
  // void.
  virtual Result<void> start(std::uint64_t offset) = 0;
  virtual Result<void> write(std::string_view bytes) = 0;
  // The first byte that is not wanted any more: the transfer ends there in good order. It may come nearer
  // while bytes arrive, but never closer than 1 MiB to what was written. Needs an expected size.
  virtual std::uint64_t wanted_until() const { return UINT64_MAX; }
};

struct UrlRequest {
  std::string url;
  std::optional<std::uint64_t> expected_size;     // another length is EH-N07 (or EH-N06)
  std::uint64_t limit = std::uint64_t{16} << 30;  // more bytes are refused: EH-N07
  std::string accept;                             // an Accept header, or empty
  std::string ca_bundle;                          // for this one request; empty: the options'
  Authorization authorization;                    // of this one request
  // In all, attempts and waits included; every 16 KiB that come add a second, up to longest_time. 0: none.
  std::chrono::milliseconds time_limit{0};
  std::chrono::milliseconds longest_time = std::chrono::hours{24};
  std::string etag;  // a strong one that another request to the same URL was answered with, or empty
};

struct TransferReport {
  std::string url;               // where the bytes came from after redirects, without credentials
  std::uint64_t received = 0;    // over the wire, in this call
  std::uint64_t size = 0;        // of the whole file
  std::uint64_t resumed_at = 0;  // bytes that did not have to be sent again
  int attempts = 0;
  double seconds = 0;
  std::string content_type, etag;
  std::string head;  // the first bytes (up to 4 KiB), when the transfer began at 0
};

// Fetches over http or https. Redirects to http are refused (EH-N11) unless they come from http and stay on
// the host or lead to this machine; other schemes always. Continues where the sink stands, with If-Range
// where a strong ETag is known; starts again when the server does not continue. Every attempt asks the
// original URL. Error pages never reach the sink. Codes: EH-N01 name not resolved, N02 no connection, N03
// timed out ("seconds" without a byte, or "headers_seconds" without the end of the headers, or
// "document_seconds" of a time_limit; "received"), N04 HTTP status ("status"), N05 TLS, N06 a web page
// ("title"), N07 length ("expected", "actual"), N10 offline, N11 redirect, EH-P10 canceled; all with "url".
// An error of the sink is passed on. Blocks; any thread. Cancel is seen within 100 ms.
Result<TransferReport> fetch_url(const UrlRequest& request, Sink& sink, const TransferOptions& options,
                                 const ProgressCallback& progress = {},
                                 const std::optional<CancelToken>& cancel = {});

// The length the server tells, without fetching: nothing when it does not tell. Errors as fetch_url.
Result<std::optional<std::uint64_t>> ask_size(std::string_view url, const TransferOptions& options,
                                              const std::optional<CancelToken>& cancel = {});

// A small document (an index, a manifest) into memory, in options.document_limit (see time_limit above) and
// never more than longest_time.
Result<std::string> fetch_text(std::string_view url, const TransferOptions& options,
                               std::uint64_t limit = 64u << 20, std::string_view accept = {},
                               const std::optional<CancelToken>& cancel = {},
                               std::optional<std::chrono::milliseconds> longest_time = {});

// Reads a local file into a sink. EH-N14 with "file" and the errno facts when it cannot be read, EH-N07 when
// its size is not the expected one.
Result<TransferReport> fetch_file(const std::filesystem::path& file,
                                  std::optional<std::uint64_t> expected_size, Sink& sink,
                                  const ProgressCallback& progress = {},
                                  const std::optional<CancelToken>& cancel = {});

using enginehost::is_url;
// `reference` against `base`, as a browser would: the base's last part is replaced unless it ends in '/'.
std::string join_url(std::string_view base, std::string_view reference);
// In small letters, without user and port; empty when the URL cannot be read.
std::string host_of(std::string_view url);
// "localhost" and what ends in ".localhost", 127.0.0.0/8, ::1.
bool is_loopback(std::string_view host);
// Without user, password and query: for messages and logs.
std::string without_credentials(std::string_view url);

// The title when the bytes begin like an HTML page ("" for a page without one); nothing when they do not.
std::optional<std::string> title_of_page(std::string_view head);

}  // namespace enginehost::transfer
