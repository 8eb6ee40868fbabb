// Writes the documents of a signed repository, as host/manifest/trust reads them.
#pragma once
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "host/manifest/trust/root.hpp"

namespace enginehost::publish {

Json to_json(const manifest::Root& root);
Json to_json(const manifest::Timestamp& timestamp);

// Returns the text of a .minisig file.
std::string write_signature(const manifest::Signature& signature, std::string_view untrusted_comment);

}  // namespace enginehost::publish
