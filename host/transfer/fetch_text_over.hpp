// fetch_text() over a client of the caller, so that the next document uses the same connection.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/transfer/http_exchange.hpp"

namespace enginehost::transfer {

// As fetch_text() in transfer.hpp. `client` must have been made with the same options and token.
Result<std::string> fetch_text_over(HttpClient& client, std::string_view url, const TransferOptions& options,
                                    std::uint64_t limit, std::string_view accept,
                                    const std::optional<CancelToken>& cancel,
                                    std::optional<std::chrono::milliseconds> longest_time);

}  // namespace enginehost::transfer
