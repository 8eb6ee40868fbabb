// Downloads one file from several mirrors at once, over as many connections as help.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {

struct Range {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

// Receives the pieces of one file in any order.
class PartSink {
 public:
  virtual ~PartSink() = default;
  // Returns the ranges that are still missing, in order. Any thread.
  virtual std::vector<Range> missing() const = 0;
  // Called from several threads, each with its own ascending range. An error ends that connection (EH-N08:
  // wrong bytes); the wrong bytes are missing again.
  virtual Result<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // Everything must be sent again, because a server sends only whole files after another one has begun.
  // Called while no thread writes. Verified bytes may be kept: they arrive once more and are skipped.
  virtual Result<void> restart() = 0;
  // The boundaries of parts are multiples of this.
  virtual std::uint64_t alignment() const { return 1; }
};

struct Mirror {
  // Its URL, or what a package index or registry is asked for.
  std::string name;
  // Returns the place. Not set: it is at the URL. Called before the first request, on the connection's
  // thread, and again if the place answers 401, because a registry's token is valid for minutes. One call at
  // a time. The options are the download's, with the retries that it allows this mirror.
  std::function<Result<Place>(const TransferOptions&, const CancelToken&)> locate;
};

struct DownloadRequest {
  std::vector<Mirror> mirrors;  // best first; all have the same bytes
  std::uint64_t size = 0;
};

// Fetches the file of one mirror into a sink; of `request`, url and authorization are those of the place. A
// place that answers 401 is asked for again: a download may take longer than a token is valid. Three tokens
// in a row that brought nothing end it. Errors: those of fetch_url, of fetch_file and of locate.
Result<TransferReport> fetch_from(const Mirror& mirror, const UrlRequest& request, Sink& sink,
                                  const TransferOptions& options, const ProgressCallback& progress = {},
                                  const std::optional<CancelToken>& cancel = {});

// A mirror that was given up, or left for another one.
struct MirrorFailure {
  std::size_t mirror = 0;  // index in the request
  Diagnosis diagnosis;
  bool given_up = false;  // it cannot serve the file: wrong bytes, no such file, never an answer
};

struct DownloadReport {
  std::string url;             // of the mirror that sent most, after redirects, without credentials
  std::uint64_t received = 0;  // over the network, in this call
  std::vector<std::size_t> contributors;  // mirrors whose bytes the sink used, in order
  int connections = 0;                    // largest number at one time
  double seconds = 0;
};

// Begins with one connection to the first mirror.
//
// - A mirror that fails, or sends nothing for options.patience, is left for the next one. A mirror that sends
//   wrong bytes is not asked again.
// - While the rate is steady and enough remains, it tries twice the connections, first to untried mirrors. It
//   keeps them only if they bring at least 1.3 times the rate.
//
// Blocks. Progress is reported on the calling thread; other threads write to the sink. Reacts to cancel
// within 100 ms. Fails when every mirror was given up, with the diagnosis of the last; all failures are
// appended to `failures`. Errors: those of fetch_url, of fetch_file, of locate, and the sink's.
Result<DownloadReport> download(const DownloadRequest& request, PartSink& sink,
                                const TransferOptions& options, std::vector<MirrorFailure>& failures,
                                const ProgressCallback& progress = {},
                                const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::transfer
