// One file from several mirrors at once, over as many connections as pay.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/progress.hpp"

namespace enginehost::transfer {

struct Range {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const Range&) const = default;
};

// Receives the pieces of one file in any order.
class PartSink {
 public:
  virtual ~PartSink() = default;
  // What is still to come, in order. Any thread.
  virtual std::vector<Range> missing() const = 0;
  // Called from several threads, each for a range of its own, ascending within it. An error (EH-N08: the
  // bytes are not what they should be) ends that connection; what was wrong is missing again.
  virtual Result<void> write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // Everything must be sent again (a server that sends whole files only, and another has begun). Called
  // while nobody writes. What was judged by a digest of its own may be kept: its bytes come once more and are
  // left out.
  virtual Result<void> restart() = 0;
  // The borders of parts are multiples of it.
  virtual std::uint64_t alignment() const { return 1; }
};

struct Mirror {
  std::string url;
  std::string ca_bundle;  // for this mirror; empty: the options'
  Authorization authorization;
};

struct DownloadRequest {
  std::vector<Mirror> mirrors;  // the best first; all have the same bytes
  std::uint64_t size = 0;
};

// A mirror that was given up, or left for another.
struct MirrorFailure {
  std::size_t mirror = 0;  // its place in the request
  Diagnosis diagnosis;
  bool given_up = false;  // it has not what is wanted: wrong bytes, no such file, never an answer
};

struct DownloadReport {
  std::string url;                        // of the mirror that gave most, after redirects, no credentials
  std::uint64_t received = 0;             // over the wire, in this call
  std::vector<std::size_t> contributors;  // mirrors whose bytes the sink took, in order
  int connections = 0;                    // most at once
  double seconds = 0;
};

// Begins with one connection to the first mirror. A mirror that fails, or sends nothing for options.patience,
// is left for the next; one that sends wrong bytes is not asked again. While the rate is steady and there is
// enough left to fetch, twice the connections are tried (to untried mirrors first), and kept only when they
// bring at least 1.3 times the rate. Fails when every mirror was given up, with the diagnosis of the last;
// all failures are appended to `failures`. Codes: those of fetch_url, and the sink's. Blocks; progress is
// told from the calling thread; the sink is written by others. Cancel is seen within 100 ms.
Result<DownloadReport> download(const DownloadRequest& request, PartSink& sink,
                                const TransferOptions& options, std::vector<MirrorFailure>& failures,
                                const ProgressCallback& progress = {},
                                const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::transfer
