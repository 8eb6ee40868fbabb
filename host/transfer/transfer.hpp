// Transfers of one file from a URL or a disk into a sink, with a distinct code for each failure.
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
  // Returns how many bytes it holds from earlier attempts. The transfer continues there.
  virtual std::uint64_t held() const = 0;
  // The next write begins at `offset`: held(), or 0 if the transfer starts again and the held bytes are void.
  virtual Result<void> start(std::uint64_t offset) = 0;
  virtual Result<void> write(std::string_view bytes) = 0;
  // Returns the first byte that is not wanted; the transfer ends there without an error. It may decrease
  // while bytes arrive, but stays at least 1 MiB beyond the written bytes. Needs an expected size.
  virtual std::uint64_t wanted_until() const { return UINT64_MAX; }
};

// Where a file is.
struct Place {
  std::string url;
  std::filesystem::path path;  // a file of this machine, if there is no url
  Authorization authorization;
  std::optional<TransferOptions> options;  // for requests to it, in place of the caller's
  std::optional<std::uint64_t> size = {};  // as far as it is known
};

struct UrlRequest {
  std::string url;
  std::optional<std::uint64_t> expected_size;     // another length is EH-N07 (or EH-N06)
  std::uint64_t limit = std::uint64_t{16} << 30;  // more bytes are refused: EH-N07
  std::string accept;                             // an Accept header, or empty
  Authorization authorization;                    // for this request
  // Total limit, with all attempts and waits. Every 16 KiB received add a second, up to longest_time. 0:
  // none.
  std::chrono::milliseconds time_limit{0};
  std::chrono::milliseconds longest_time = std::chrono::hours{24};
  std::string etag;  // strong ETag from an earlier answer for the same URL, or empty
};

struct TransferReport {
  std::string url;               // where the bytes came from after redirects, without credentials
  std::uint64_t received = 0;    // over the network, in this call
  std::uint64_t size = 0;        // of the whole file
  std::uint64_t resumed_at = 0;  // bytes that were not sent again
  int attempts = 0;
  double seconds = 0;
  std::string content_type, etag;
  std::string head;  // the first bytes (up to 4 KiB), when the transfer began at 0
};

// Fetches over http or https. Continues where the sink stands, with If-Range if a strong ETag is known;
// starts again if the server does not continue. Every attempt uses the original URL. Error pages never reach
// the sink. Redirects to http are refused (EH-N11), unless they come from http and stay on the host or lead
// to this machine. Redirects to other schemes are always refused.
//
// Errors, all with "url": EH-N01 name not resolved, EH-N02 no connection, EH-N03 timed out ("seconds" without
// a byte, "headers_seconds" without complete headers, or "document_seconds" of a time_limit; "received"),
// EH-N04 HTTP status ("status"), EH-N05 TLS, EH-N06 a web page ("title"), EH-N07 length ("expected",
// "actual"), EH-N10 offline, EH-N11 redirect, EH-N19 proxy not reached ("proxy", "proxy_set_by"), EH-N20
// compressed on the way ("content_encoding"), EH-P10 canceled. Errors of the sink are passed on.
//
// An answer that is compressed although "identity" was asked for is decoded. Its digest decides, as always.
//
// Blocks. Thread safety: any thread. Reacts to cancel within 100 ms.
Result<TransferReport> fetch_url(const UrlRequest& request, Sink& sink, const TransferOptions& options,
                                 const ProgressCallback& progress = {},
                                 const std::optional<CancelToken>& cancel = {});

// Returns the length that the server reports, without fetching; nothing if it reports none. Errors as
// fetch_url.
Result<std::optional<std::uint64_t>> ask_size(std::string_view url, const TransferOptions& options,
                                              const std::optional<CancelToken>& cancel = {});

// Fetches a small document (an index, a manifest) into memory, within options.document_limit (see time_limit
// above) and longest_time.
Result<std::string> fetch_text(std::string_view url, const TransferOptions& options,
                               std::uint64_t limit = 64u << 20, std::string_view accept = {},
                               const std::optional<CancelToken>& cancel = {},
                               std::optional<std::chrono::milliseconds> longest_time = {});

// Reads a local file into a sink, from where the sink stands. EH-N14 with "file" and the errno facts if it
// cannot be read. EH-N07 if its size is not the expected one.
Result<TransferReport> fetch_file(const std::filesystem::path& file,
                                  std::optional<std::uint64_t> expected_size, Sink& sink,
                                  const ProgressCallback& progress = {},
                                  const std::optional<CancelToken>& cancel = {});

using enginehost::is_url;
// Resolves `reference` against `base` as a browser would: it replaces the base's last part unless the base
// ends in '/'.
std::string join_url(std::string_view base, std::string_view reference);
// Returns the host in lower case, without user and port; empty if the URL cannot be read.
std::string host_of(std::string_view url);
// Returns "https://host:port", to which credentials are bound.
std::string origin_of(const std::string& url);
// Returns the URL with the user and password of `from` if it has none and both are of one origin.
std::string with_credentials_of(std::string_view url, std::string_view from);
// Returns the text with each "%41" replaced by the byte it stands for.
std::string percent_decoded(std::string_view text);
// Returns the last element of the URL's path, decoded.
std::string file_name_of(std::string_view url);
// Returns "file:///…" for an absolute path.
std::string file_url_of(const std::filesystem::path& path);
// Returns the absolute path that a URL names with file:; nothing for other URLs and for files of another
// host.
std::optional<std::filesystem::path> path_of_file_url(std::string_view url);
// Returns true for "localhost", names ending in ".localhost", 127.0.0.0/8 and ::1.
bool is_loopback(std::string_view host);
// Returns the title if the bytes begin like an HTML page ("" for a page without one); else nothing.
std::optional<std::string> title_of_page(std::string_view head);

}  // namespace enginehost::transfer
