// The third parties' code in this program or library.
#pragma once
#include <string>

namespace enginehost {

// Returns names and versions of the libraries that are linked in, in one line; empty but in portable builds,
// which have another definition (host/sdk/posix/portable.cpp). Any thread.
std::string linked_in();

}  // namespace enginehost
