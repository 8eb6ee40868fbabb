// Taking a person out of a report.
#pragma once
#include <string>

#include "base/json.hpp"

namespace enginehost::platform {

struct Identity {
  std::string home;  // "/home/anna"; "" = none
  std::string user;  // "anna"; "" = not known
};

// Of this process: HOME and the name that /etc/passwd has for its user id, else LOGNAME or USER; on Windows
// USERPROFILE and the name of the account.
Identity this_user();

// In every text of the document: UUIDs of GPUs become "GPU-…" / "MIG-…", the home becomes "~", the name of
// any home folder ("/home/NAME", "/Users/NAME", "C:\Users\NAME", in any case there) and the user's own name
// as a path element become "user". Members called "uuid" are left out.
Json anonymous(const Json& document, const Identity& identity);

}  // namespace enginehost::platform
