// `engine-cache export FOLDER ID... --oci`: installed builds as an OCI image layout.
#pragma once
#include <CLI/App.hpp>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "host/settings/settings.hpp"

namespace enginehost::commands {

struct ExportOciFlags {
  std::string folder;
  std::vector<std::string> builds, redistribute;
  bool oci = false;
};

CLI::App* add_export(CLI::App& app, ExportOciFlags& flags);
// Writes the layout and prints what it wrote; the exit status.
int run_export_oci(const settings::Settings& settings, const ExportOciFlags& flags, bool json,
                   const CancelToken& cancel);

}  // namespace enginehost::commands
