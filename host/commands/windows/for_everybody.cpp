#include "host/commands/for_everybody.hpp"

namespace enginehost::commands {

// What is made in a folder has the folder's access list.
void let_others_read_what_is_made() {}

}  // namespace enginehost::commands
