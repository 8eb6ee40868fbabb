#include "host/transfer/connection_settings.hpp"

#include <curl/curl.h>

#include "base/files.hpp"

namespace enginehost::transfer {

// The default file of libcurl.
std::string system_certificates(std::uint64_t limit) {
  const curl_version_info_data* info = ::curl_version_info(CURLVERSION_NOW);
  const bool reports = info != nullptr && info->age >= CURLVERSION_SEVENTH;
  if (!reports || info->cainfo == nullptr) return {};
  return read_file(info->cainfo, limit).value_or(std::string());
}

bool needs_given_certificates() { return false; }

}  // namespace enginehost::transfer
