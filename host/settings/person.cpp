#include "host/settings/person.hpp"

#include <chrono>
#include <cstdio>

namespace enginehost::settings {
namespace {

// Avoids gmtime(), whose result is shared among threads; its thread-safe variants have another name on each
// system.
std::string text_of(std::chrono::sys_seconds time, char between, const char* zone) {
  using namespace std::chrono;
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const hh_mm_ss clock{time - day};
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u%c%02d:%02d:%02d%s", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), between,
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), zone);
  return text;
}

}  // namespace

std::string utc_now() {
  using namespace std::chrono;
  return text_of(floor<seconds>(system_clock::now()), 'T', "Z");
}

std::string utc_text(std::int64_t seconds) {
  return text_of(std::chrono::sys_seconds(std::chrono::seconds(seconds)), ' ', " UTC");
}

}  // namespace enginehost::settings
