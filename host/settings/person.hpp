// Who acts: for records that must say by whom.
#pragma once
#include <cstdint>
#include <string>

namespace enginehost::settings {

struct Person {
  std::uint64_t uid = 0;
  std::string user;         // its name, or empty: the number is what counts
  std::string host;         // this machine's name
  std::string application;  // the file name of the running executable
  std::int64_t process = 0;

  // Opens no socket: the user is looked up in /etc/passwd, not through the name services.
  static Person of_this_process();
};

// "2026-11-21T09:30:00Z", of now.
std::string utc_now();

}  // namespace enginehost::settings
