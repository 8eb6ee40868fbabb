// Loader settings that change the search in ways that EngineHost does not model.
#pragma once
#include <string>

#include "host/linker/machine.hpp"

namespace enginehost::linker {

// The settings at program start, "" = not set.
struct UnsupportedLoaderSettings {
  std::string audit;       // LD_AUDIT
  std::string tunables;    // GLIBC_TUNABLES
  std::string hwcap_mask;  // LD_HWCAP_MASK
};

// Returns the variable or tunable because of which this machine's loader may find other files, "" = none. An
// audit library may name any file; a masked processor feature changes which hwcaps folders are searched. Only
// loading can decide then.
std::string unsupported_setting(const Machine& machine, const UnsupportedLoaderSettings& loader_settings);

// Returns the settings at the start of this process. Thread safety: any thread.
UnsupportedLoaderSettings loader_settings_at_start();

}  // namespace enginehost::linker
