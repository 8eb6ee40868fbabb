// Who acts: for records that must say by whom.
#pragma once
#include <cstdint>
#include <string>

namespace enginehost::settings {

struct User {
  std::uint64_t uid = 0;    // on Windows a number made of the SID
  std::string user;         // its name, or empty: the number is what counts
  std::string host;         // this machine's name
  std::string application;  // the file name of the running executable
  std::int64_t process = 0;

  // The user's name is the one in /etc/passwd, else $LOGNAME.
  static User of_this_process();
};

// "2026-11-21T09:30:00Z", of now.
std::string utc_now();

// "2026-11-21 09:30:00 UTC", of a time in seconds since 1970.
std::string utc_text(std::int64_t seconds);

}  // namespace enginehost::settings
