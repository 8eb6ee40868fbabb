// A public key as a person gives it.
#pragma once
#include <string>

#include "base/result.hpp"
#include "host/manifest/trust/minisign.hpp"

namespace enginehost::commands {

// A file that holds the key, or the key itself. EH-P47 for a file that is not there, EH-M15 for what is no
// key.
Result<manifest::PublicKey> given_public_key(const std::string& text);

}  // namespace enginehost::commands
