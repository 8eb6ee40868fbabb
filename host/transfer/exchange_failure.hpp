// Why an HTTP exchange failed: the class, the facts, and whether the same request may succeed later. For
// http_exchange only.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "host/transfer/http_exchange.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::transfer {

// The report of libcurl about an exchange that it could not finish.
struct BrokenExchange {
  int result = 0;          // a CURLcode
  std::string said;        // its message for this exchange; may be empty
  bool connected = false;  // to the server or the proxy
  long proxy_status = 0;   // the proxy's answer to CONNECT
  long port = 0;           // of the connection, which may lead to a proxy
  std::uint64_t received = 0;
};

struct ExchangeFailure {
  Diagnosis diagnosis;
  bool transient = false;
  bool retry_with_http1 = false;
};

// EH-N01 to EH-N05, EH-N11, EH-N19 (the proxy cannot be reached) and EH-N20 (a compressed answer that cannot
// be decoded), all with "url". `answer`: as far as it came.
ExchangeFailure failure_of(const BrokenExchange& broken, const HttpAnswer& answer, const std::string& url,
                           const TransferOptions& options);

// EH-N04 for an answer with an error status. `page`: the beginning of its body.
ExchangeFailure refusal_of(const HttpAnswer& answer, std::string_view page, const std::string& url,
                           const TransferOptions& options);

}  // namespace enginehost::transfer
