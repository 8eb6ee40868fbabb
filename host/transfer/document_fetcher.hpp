// Fetches small documents together, over connections that stay open for the next ones.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::transfer {

class HttpClient;

struct WantedDocument {
  std::string url;
  std::uint64_t limit = 0;  // more bytes are refused: EH-N07
};

// How long documents may take together: `time`, and for each that arrives `per_document` more.
struct Patience {
  std::chrono::milliseconds time, per_document;
};

// One thread at a time. Starts threads for fetch() and ends them before it returns.
class DocumentFetcher {
 public:
  static constexpr std::size_t most_at_once = 8;

  // `options` must outlive this object.
  DocumentFetcher(const TransferOptions& options, std::optional<CancelToken> cancel);
  ~DocumentFetcher();
  DocumentFetcher(const DocumentFetcher&) = delete;
  DocumentFetcher& operator=(const DocumentFetcher&) = delete;

  // Returns the documents, or why each was not received, in the order of `wanted`. Errors as fetch_text(). A
  // single document is fetched on the calling thread.
  std::vector<Result<std::string>> fetch(const std::vector<WantedDocument>& wanted, std::string_view accept,
                                         Patience patience);

 private:
  const TransferOptions& options_;
  std::optional<CancelToken> cancel_;
  std::vector<std::unique_ptr<HttpClient>>
      clients_;  // one per thread, so that the first ones' connections are used again
};

}  // namespace enginehost::transfer
