#include "host/commands/system_layer_umask.hpp"

namespace enginehost::commands {

// What is made in a folder has the folder's access list.
void set_system_layer_umask() {}

}  // namespace enginehost::commands
