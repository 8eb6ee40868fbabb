// Removes a person's identity from a report.
#pragma once
#include <string>

#include "base/json.hpp"

namespace enginehost::platform {

struct Identity {
  std::string home;             // "/home/anna"; "" = none
  std::string user;             // "anna"; "" = not known
  std::string other_home = {};  // from the user database, where HOME names another folder
};

// Returns the identity of this process: HOME and the name that /etc/passwd has for its user id, else LOGNAME
// or USER. On Windows USERPROFILE and the name of the account.
Identity this_user();

// Anonymizes every text of the document. UUIDs of GPUs become "GPU-…" / "MIG-…" and the home becomes "~". The
// name of any home folder (below "home", "homes", "users" or "Users" anywhere; "C:\Users\NAME" in any case)
// and the user's own name as a path element become "user". Names that are system folders everywhere ("bin",
// "root") identify nobody and stay. Members called "uuid" are left out.
Json anonymous(const Json& document, const Identity& identity);

}  // namespace enginehost::platform
