// Whom a connection trusts and through whom it goes. For http_exchange only.
#pragma once
#include <string>

#include "base/result.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::transfer {

// What certificates are checked against; both empty: what libcurl was built with.
struct Certificates {
  std::string file;  // a PEM file
  std::string pem;   // PEM text; counts before the file
};

// `bundle` (of the request), else the options' bundle, else CURL_CA_BUNDLE or SSL_CERT_FILE, else the
// system's; the options' extra_ca is added to whichever it is. EH-N05 with "file" when extra_ca (then
// with "setting", "set_by"), or the bundle that it is added to, cannot be read.
Result<Certificates> certificates_for(const std::string& bundle, const TransferOptions& options);

// The proxy that a request to the URL would take, without credentials and for messages only (libcurl weighs
// NO_PROXY itself); empty when none is named.
std::string proxy_for(const std::string& url, const TransferOptions& options);

}  // namespace enginehost::transfer
