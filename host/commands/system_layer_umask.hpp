// A cache that everybody reads: what an administrator makes there must not be shut to others by a umask.
#pragma once
#include "cache/store.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

// Whether the cache is one of the layers that this machine's configuration names, or, where it names none,
// the default one: also when nothing was put there before.
bool is_system_layer(const cache::Store& store, const settings::Settings& settings);

// From now on what this process makes may be read, and folders entered, by everybody. For commands only, and
// not for those that write a file elsewhere. From the first thread.
void set_system_layer_umask();

}  // namespace enginehost::commands
