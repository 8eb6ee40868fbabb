// Taking a person out of a report.
#pragma once
#include <string>

#include "base/json.hpp"

namespace enginehost::platform {

struct Identity {
  std::string home;             // "/home/anna"; "" = none
  std::string user;             // "anna"; "" = not known
  std::string other_home = {};  // the user database's, where HOME says another
};

// Of this process: HOME and the name that /etc/passwd has for its user id, else LOGNAME or USER; on Windows
// USERPROFILE and the name of the account.
Identity this_user();

// In every text of the document: UUIDs of GPUs become "GPU-…" / "MIG-…", the home becomes "~", the name of
// any home folder (below "home", "homes", "users" or "Users" wherever that is; "C:\Users\NAME" in any case)
// and the user's own name as a path element become "user". A name that is a folder of every system ("bin",
// "root") names nobody and stays. Members called "uuid" are left out.
Json anonymous(const Json& document, const Identity& identity);

}  // namespace enginehost::platform
