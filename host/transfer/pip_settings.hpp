// pip's configuration, read as pip reads it: its files, then the variables PIP_….
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace enginehost::transfer {

struct PipSettings {
  std::string index_url;     // empty: pip's default
  std::string index_set_by;  // the file or the variable
  std::vector<std::string> extra_index_urls, find_links, trusted_hosts;
  bool no_index = false;
  std::string cert, client_cert;  // absolute paths, or empty
  std::string proxy;
  std::string keyring_provider;      // empty: pip's default
  std::vector<std::string> skipped;  // "FILE: why it was not read"
};

// Reads what `pip install` and `pip download` would obey: [global], then [download], then [install], each
// after all files, then the variables. `site` is the folder of the Python (sys.prefix); empty: it has no
// file. A file that another user could have written is skipped, because it decides which server gets the
// user's credentials.
//
// Error: EH-N17 ("set_by", "problem"; "key", "value" of one setting) for a file or a value that pip refuses
// too, and for a relative path of a certificate.
Result<PipSettings> read_pip_settings(const std::filesystem::path& site);

// Splits at white space, as pip splits lists.
std::vector<std::string> words_of(std::string_view text);

}  // namespace enginehost::transfer
