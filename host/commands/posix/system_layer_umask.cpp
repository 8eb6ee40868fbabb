#include "host/commands/system_layer_umask.hpp"

#include <sys/stat.h>

namespace enginehost::commands {

void set_system_layer_umask() {
  constexpr mode_t read_and_enter = 0055;
  const mode_t before = ::umask(077);
  ::umask(before & ~read_and_enter);
}

}  // namespace enginehost::commands
