#include "host/commands/system_layer_umask.hpp"

namespace enginehost::commands {

// Nothing to do: new files inherit the access list of their folder.
void set_system_layer_umask() {}

}  // namespace enginehost::commands
