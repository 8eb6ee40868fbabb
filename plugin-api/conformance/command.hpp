// What the program begins with on each system.
#pragma once

namespace engineplugin {

// The whole command, its status given back. The words are UTF-8.
int check_command(int count, char** words);

}  // namespace engineplugin
