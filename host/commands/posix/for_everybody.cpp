#include "host/commands/for_everybody.hpp"

#include <sys/stat.h>

namespace enginehost::commands {

void let_others_read_what_is_made() {
  constexpr mode_t read_and_enter = 0055;
  const mode_t before = ::umask(077);
  ::umask(before & ~read_and_enter);
}

}  // namespace enginehost::commands
