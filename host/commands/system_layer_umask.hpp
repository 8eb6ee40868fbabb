// The umask for a cache that all users read: files of an administrator must stay readable for them.
#pragma once
#include "cache/store.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

// Returns whether the cache is one of the configured layers, or the default layer if none is configured. The
// layer need not exist yet.
bool is_system_layer(const cache::Store& store, const settings::Settings& settings);

// Makes files that this process creates readable for all users, and folders enterable. For commands that
// write nothing elsewhere. Call it from the main thread.
void set_system_layer_umask();

}  // namespace enginehost::commands
