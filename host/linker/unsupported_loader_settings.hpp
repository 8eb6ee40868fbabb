// What changes a loader's search in ways that are not followed here.
#pragma once
#include <string>

#include "host/linker/machine.hpp"

namespace enginehost::linker {

// What a program is started with, "" = not set.
struct UnsupportedLoaderSettings {
  std::string audit;       // LD_AUDIT
  std::string tunables;    // GLIBC_TUNABLES
  std::string hwcap_mask;  // LD_HWCAP_MASK
};

// The variable or tunable that may lead this machine's loader to other files than the search says, "" = none:
// an audit library may name any file, and what is masked of the processor changes which folders for better
// processors are looked into. Only loading tells then.
std::string unsupported_setting(const Machine& machine, const UnsupportedLoaderSettings& loader_settings);

// As this process was started. Any thread.
UnsupportedLoaderSettings loader_settings_at_start();

}  // namespace enginehost::linker
