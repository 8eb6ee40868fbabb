// The two kinds of arm64 machines with NVIDIA GPUs: servers (SBSA), with the driver and toolkit that x86 has,
// and Jetson modules, with those of Linux for Tegra (L4T).
// Sources: CUDA installation guide, "cross-compilation" (targets aarch64-linux and sbsa-linux); NVIDIA's
// notes on CUDA 13.0 for Jetson (one toolkit for both from L4T 38 on).
#pragma once
#include <optional>
#include <string>

#include "host/manifest/catalog.hpp"
#include "host/platform/platform.hpp"
#include "host/resolve/findings.hpp"

namespace enginehost::resolve {

struct Jetson {
  std::string l4t;  // "36.4.3"; "" = not reported, as in a container
};
// Returns nothing for a machine that is no Jetson, and if the hardware is unknown.
std::optional<Jetson> jetson_of(const platform::Platform& machine);

// Checks whether a CUDA build for arm64 Linux was compiled for this kind of machine. EH-S21.
void check_cuda_target(const manifest::Build& build, const platform::Platform& machine,
                       CheckFindings& findings);

}  // namespace enginehost::resolve
