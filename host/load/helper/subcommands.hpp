// The subcommands of the probe program. argv[0] is the subcommand.
#pragma once

namespace enginehost::helper {

// `enginehost-probe drivers`: queries NVIDIA's libraries for the driver's version and its devices. Options:
// --nonce TEXT, --libcuda PATH, --nvml PATH (default: the names that the driver installs, found by the
// loader). The environment is the host's, so CUDA_VISIBLE_DEVICES acts as it would there. NVML ignores that
// variable and reports hidden devices too.
//
// Writes one line for each fact at once to descriptor 3 (or stdout), so that nothing learned is lost when the
// driver hangs or crashes. The driver's version comes first because it needs no device:
//
//   { "format":1, "nonce":…, "cuda": {"library":…} }      then driver_version
//   { "format":1, "nonce":…, "nvml": {"init":…} }         ... a line for each device
//   { "format":1, "nonce":…, "done": true }               everything was queried
//
// Merged (members of "cuda" and "nvml" are added, lists continued) they are
//
//   { "cuda": { "library": {"path"} or {"error"},      path: the file that was mapped, links resolved
//               "driver_version": {"code","value"},    12020 = 12.2; queried before cuInit, which may fail
//               "init": {"code","name","text"}, "count": {"code"},
//               "devices": [{"index","name","uuid","compute_capability","integrated","memory"}] },
//     "nvml": { "library":…, "init": {"code","text"}, "driver_version", "cuda_version",
//               "devices": [{"index","name","uuid","compute_capability","memory"}] } }
//
// Ends with _exit(0), so that the driver's atexit handlers do not run. The driver may hang or crash at any
// line; the parent has the deadline. Exit status 2: wrong arguments; 1: the answer could not be written.
int ask_nvidia(int argc, char** argv);

}  // namespace enginehost::helper

namespace enginehost::load {

// `enginehost-probe probe [--audit NONCE]`, the child's side of host/load/probe.hpp. Small: no network, no
// cryptography, no resolver. It reads the request, one JSON document, from standard input. Writes
// one JSON line for each stage to file descriptor 3. Success is only the request's nonce. Returns the exit
// status.
int run_probe();

}  // namespace enginehost::load
