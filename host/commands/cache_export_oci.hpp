// `engine-cache export FOLDER ID... --oci`: installed builds as an OCI image layout.
#pragma once
#include "host/commands/offline.hpp"

namespace enginehost::commands {

// Writes the layout and prints what it wrote, unless --json does.
Result<Json> export_oci(const OfflineRun& run);

}  // namespace enginehost::commands
