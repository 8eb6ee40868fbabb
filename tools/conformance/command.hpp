// The part of main() that all systems share.
#pragma once

namespace engineplugin {

// Runs the whole command and returns its exit status. The arguments are UTF-8.
int check_command(int count, char** words);

}  // namespace engineplugin
