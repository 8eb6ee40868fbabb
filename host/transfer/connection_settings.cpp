#include "host/transfer/connection_settings.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/transfer/pip.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

constexpr std::uint64_t largest_bundle = 16u << 20;

std::string chosen_bundle(const TransferOptions& options) {
  if (!options.ca_bundle.empty()) return options.ca_bundle;
  // The variables that curl and OpenSSL use; libcurl itself ignores both once it has a default.
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"})
    if (auto value = environment_variable(name); value && !value->empty()) return std::move(*value);
  return {};
}

Result<std::string> read_bundle(const std::string& file, std::string_view problem) {
  auto text = read_file(path_of(file), largest_bundle);
  if (text) return std::move(*text);
  Diagnosis diagnosis = diagnose(Code::no_secure_connection);
  diagnosis.with(Key::problem, problem).with(Key::file, file);
  for (const Evidence& fact : text.error().evidence)
    if (fact.what != Key::file) diagnosis.evidence.push_back(fact);
  return fail(std::move(diagnosis));
}

namespace fs = std::filesystem;

fs::path netrc_file() {
  if (const auto named = environment_variable("NETRC"); named && !named->empty()) return path_of(*named);
  const fs::path home = home_folder();
  if (home.empty()) return {};
  std::error_code error;
  for (const char* name : {".netrc", "_netrc"})  // the second is usual on Windows
    if (fs::exists(home / name, error)) return home / name;
  return {};
}

// Comments and macros, which end with an empty line, may hold any words.
bool names_machine(const fs::path& netrc, const std::string& host) {
  const auto text = read_file(netrc, 1u << 20);
  if (!text || host.empty()) return false;
  bool is_in_macro = false, is_next = false;
  for (const std::string& line : split(*text, '\n')) {
    is_in_macro = is_in_macro && !trim(line).empty();
    if (is_in_macro || trim(line).starts_with('#')) continue;
    for (std::string& word : words_of(line)) {
      if (is_next && to_lower(word) == host) return true;
      is_next = word == "machine";
      if (word == "macdef") is_in_macro = true;
      if (is_in_macro) break;
    }
  }
  return false;
}

}  // namespace

fs::path netrc_for(const std::string& url, const TransferOptions& options) {
  const fs::path file = netrc_file();
  if (file.empty()) return {};
  const std::string origin = origin_of(url);
  const bool is_named = std::ranges::find(options.named_origins, origin) != options.named_origins.end();
  const bool is_usual = origin.starts_with("https://") && origin.ends_with(":443");
  return is_named || (is_usual && names_machine(file, host_of(url))) ? file : fs::path();
}

bool is_netrc_withheld(const std::string& url, const TransferOptions& options) {
  return netrc_for(url, options).empty() && names_machine(netrc_file(), host_of(url));
}

Result<Certificates> certificates_for(const TransferOptions& options) {
  Certificates certificates{chosen_bundle(options), {}, {}};
  if (certificates.file.empty()) {
    certificates.system = system_authorities();
    certificates.file = certificates.system.place;
  }
  if (options.extra_ca.empty()) {
    if (certificates.file.empty() && needs_given_certificates())
      certificates.pem = system_certificates(largest_bundle);
    return certificates;
  }
  // A fault of this machine and not of the server, so the diagnosis names the setting.
  const auto blamed = [&](Diagnosis diagnosis) {
    return fail(
        std::move(diagnosis.with(Key::setting, "extra_ca").with(Key::set_by, options.extra_ca_set_by)));
  };
  auto extra = read_bundle(options.extra_ca, "the extra certificates cannot be read");
  if (!extra) return blamed(std::move(extra).error());
  if (extra->find("-----BEGIN CERTIFICATE-----") == std::string::npos)
    return blamed(std::move(diagnose(Code::no_secure_connection)
                                .with(Key::problem, "the file holds no certificate in PEM form")
                                .with(Key::file, options.extra_ca)));
  std::error_code error;
  if (std::filesystem::is_directory(path_of(certificates.file), error)) {
    certificates.pem = std::move(*extra);  // besides the folder
    return certificates;
  }
  if (certificates.file.empty()) {
    // A system without any certificate still trusts the added ones.
    certificates.pem = system_certificates(largest_bundle);
  } else {
    TRY_ASSIGN(certificates.pem, read_bundle(certificates.file, "the certificates cannot be read"));
  }
  certificates.pem += "\n" + *extra;
  certificates.system.are_missing = false;
  return certificates;
}

std::string proxy_set_by(const std::string& url, const TransferOptions& options) {
  if (!options.proxy.empty()) return options.proxy_set_by;
  const bool secure = url.starts_with("https:");
  // libcurl reads http_proxy only in lower case, because a web server puts a "Proxy:" header into HTTP_PROXY.
  for (const char* name : {secure ? "https_proxy" : "http_proxy", secure ? "HTTPS_PROXY" : "http_proxy",
                           "all_proxy", "ALL_PROXY"})
    if (!environment_variable(name).value_or("").empty()) return name;
  return {};
}

std::string proxy_for(const std::string& url, const TransferOptions& options) {
  std::string proxy = options.proxy;
  if (proxy.empty()) proxy = environment_variable(proxy_set_by(url, options).c_str()).value_or("");
  return proxy.find("://") == std::string::npos && !proxy.empty() ? without_passwords("http://" + proxy)
                                                                  : without_passwords(proxy);
}

bool is_trusted_host(const std::string& url, const TransferOptions& options) {
  if (options.trusted_hosts.empty()) return false;
  const std::string origin = origin_of(url);  // "https://host:port"
  const std::string place = origin.substr(origin.find("://") + 3);
  const std::string host = place.substr(0, place.rfind(':'));
  return std::ranges::any_of(options.trusted_hosts, [&](const std::string& trusted) {
    const std::string lower = to_lower(trusted);
    return lower == host || lower == place;
  });
}

}  // namespace enginehost::transfer
