#include "host/transfer/document_fetcher.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <new>
#include <thread>
#include <utility>

#include "host/transfer/http_exchange.hpp"

namespace enginehost::transfer {

DocumentFetcher::DocumentFetcher(const TransferOptions& options, std::optional<CancelToken> cancel)
    : options_(options), cancel_(std::move(cancel)) {}

DocumentFetcher::~DocumentFetcher() = default;

std::vector<Result<std::string>> DocumentFetcher::fetch(const std::vector<WantedDocument>& wanted,
                                                        std::string_view accept, Patience patience) {
  using std::chrono::milliseconds;
  const auto began = std::chrono::steady_clock::now();
  std::vector<Result<std::string>> results(wanted.size(), fail(diagnose(Code::canceled)));
  std::atomic<std::size_t> next = 0, arrived = 0;
  const auto time_left = [&] {
    const auto passed = std::chrono::steady_clock::now() - began;
    const milliseconds all = patience.time + static_cast<int>(arrived) * patience.per_document;
    return std::max(all - std::chrono::duration_cast<milliseconds>(passed), milliseconds(1));
  };
  const auto work = [&](HttpClient& client) noexcept {
    for (std::size_t i = next++; i < wanted.size(); i = next++) {
      // Exceptions must not leave the thread.
      try {
        results[i] =
            fetch_text_over(client, wanted[i].url, options_, wanted[i].limit, accept, cancel_, time_left());
        if (results[i]) ++arrived;
      } catch (const std::bad_alloc&) {
        results[i] = fail(diagnose(Code::out_of_memory));
      } catch (const std::exception& thrown) {
        results[i] = fail(diagnose(Code::bug).with(Key::problem, thrown.what()));
      }
    }
  };
  const std::size_t count = std::min(wanted.size(), most_at_once);
  while (clients_.size() < count) clients_.push_back(std::make_unique<HttpClient>(options_, cancel_));
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work, std::ref(*clients_[i]));
  } catch (const std::exception&) {
    // The system has no more threads or memory. The threads that run, and this one, fetch everything.
  }
  if (count > 0) work(*clients_.front());
  for (std::thread& thread : threads) thread.join();
  return results;
}

}  // namespace enginehost::transfer
