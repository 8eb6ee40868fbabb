// `engine-cache export DIR ID... --oci`: writes installed builds as an OCI image layout.
#pragma once
#include "host/commands/offline.hpp"

namespace enginehost::commands {

// Writes the layout, prints the result unless --json does, and returns the document.
Result<Json> export_oci(const OfflineRun& run);

}  // namespace enginehost::commands
