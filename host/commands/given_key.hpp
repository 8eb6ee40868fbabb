// A public key from the command line.
#pragma once
#include <string>

#include "base/result.hpp"
#include "host/manifest/trust/minisign.hpp"

namespace enginehost::commands {

// Reads a file that holds the key, or the key itself. EH-P47: there is no such file. EH-M15: the text is no
// key.
Result<manifest::PublicKey> given_public_key(const std::string& text);

}  // namespace enginehost::commands
