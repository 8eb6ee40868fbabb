// The user of this process, for records that state who acted.
#pragma once
#include <cstdint>
#include <string>

namespace enginehost::settings {

struct User {
  std::uint64_t uid = 0;    // on Windows a number made of the SID
  std::string user;         // its name, or empty; the number is what counts
  std::string host;         // this machine's name
  std::string application;  // the file name of the running executable
  std::int64_t process = 0;

  // The user's name comes from /etc/passwd, else $LOGNAME.
  static User of_this_process();
};

// Returns the current time: "2026-11-21T09:30:00Z".
std::string utc_now();

// Returns "2026-11-21 09:30:00 UTC" for a time in seconds since 1970.
std::string utc_text(std::int64_t seconds);

}  // namespace enginehost::settings
