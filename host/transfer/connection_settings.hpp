// Certificates and proxy of a connection.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::transfer {

// The certificates that the system trusts, for callers that add to them.

// Returns them in PEM form, at most `limit` bytes; empty if the system keeps none.
std::string system_certificates(std::uint64_t limit);

// Where this machine keeps its certificate authorities: the first of the usual files that is there, else a
// folder. Any thread.
struct Authorities {
  std::string place;  // empty: libcurl's default, or nothing was found
  std::vector<std::string> looked_at;
  bool are_missing = false;  // nothing was found, and libcurl has no other place
};
Authorities system_authorities();

// Returns true if the library verifies only against a given list, because its check with the system's own
// list is none. Wine 8 is such a system.
bool needs_given_certificates();

// Certificates and proxy of a connection. For http_exchange only.

// The certificates to check against; both empty: libcurl's defaults.
struct Certificates {
  std::string file;    // a PEM file, or a folder as OpenSSL's c_rehash makes it
  std::string pem;     // PEM text; has priority over a file, and is added to a folder
  Authorities system;  // looked up where the caller and the environment name none
};

// Returns the options' bundle, else CURL_CA_BUNDLE or SSL_CERT_FILE, else the system's, and adds the options'
// extra_ca. EH-N05 with "file" if extra_ca (then with "setting", "set_by"), or the bundle that it is added
// to, cannot be read.
Result<Certificates> certificates_for(const TransferOptions& options);

// Returns the proxy of a request to the URL, without credentials, for messages only (libcurl applies NO_PROXY
// itself). Empty if none is configured.
std::string proxy_for(const std::string& url, const TransferOptions& options);

// Returns what names that proxy: options.proxy_set_by or a variable. Empty if none does.
std::string proxy_set_by(const std::string& url, const TransferOptions& options);

// Returns the user's file of passwords (NETRC, else ~/.netrc) if it may be used for the URL; else nothing. It
// may for an origin that the user or the administrator names (options.named_origins), and by https for port
// 443 of a host that the file names as a machine. Its "default" is thus only for the former.
std::filesystem::path netrc_for(const std::string& url, const TransferOptions& options);

// Returns whether the file names the URL's host as a machine, although it may not be used for the URL.
bool is_netrc_withheld(const std::string& url, const TransferOptions& options);

// Returns whether the URL's host is one of options.trusted_hosts.
bool is_trusted_host(const std::string& url, const TransferOptions& options);

}  // namespace enginehost::transfer
