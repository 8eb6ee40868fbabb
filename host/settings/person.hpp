// Who acts: for records that must say by whom.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace enginehost::settings {

struct Person {
  std::uint64_t uid = 0;    // on Windows a number made of the SID
  std::string user;         // its name, or empty: the number is what counts
  std::string host;         // this machine's name
  std::string application;  // the file name of the running executable
  std::int64_t process = 0;

  // The user's name is of local_user(), else $LOGNAME.
  static Person of_this_process();
};

// The fields of the user's line in /etc/passwd: name, password, uid, gid, comment, home, shell; empty when
// the user is not there. Opens no socket, which getpwuid() may do to ask a daemon.
std::vector<std::string> local_user(std::uint64_t uid);

// "2026-11-21T09:30:00Z", of now.
std::string utc_now();

// "2026-11-21 09:30:00 UTC", of a time in seconds since 1970.
std::string utc_text(std::int64_t seconds);

}  // namespace enginehost::settings
