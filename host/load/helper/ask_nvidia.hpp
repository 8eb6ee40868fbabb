// `enginehost-probe drivers`: asks NVIDIA's libraries what the driver is and shows.
#pragma once

namespace enginehost::helper {

// argv[0] is the subcommand. Options: --nonce TEXT, --libcuda PATH, --nvml PATH (default: the names
// that the driver installs, found by the loader). The environment is the host's, so CUDA_VISIBLE_DEVICES acts
// as it would there; NVML does not know that variable, so devices that it hides are seen all the same. Writes
// to descriptor 3 (or stdout) one line for each fact, at once, so that what was learned before the driver
// hung or crashed is not lost:
//
//   { "format":1, "nonce":…, "cuda": {"library":…} }     then driver_version; what needs no device comes
//   first { "format":1, "nonce":…, "nvml": {"init":…} }        ... a line for each device { "format":1,
//   "nonce":…, "done": true }              all was asked
//
// Put together (members of "cuda" and "nvml" are added, lists continued) they are
//
//   { "cuda": { "library": {"path"} or {"error"},             path: the file that was mapped, links resolved
//               "driver_version": {"code","value"},           12020 = 12.2; asked before cuInit, which may
//               fail "init": {"code","name","text"}, "count": {"code"}, "devices":
//               [{"index","name","uuid","compute_capability","integrated","memory"}] },
//     "nvml": { "library":…, "init": {"code","text"}, "driver_version", "cuda_version",
//               "devices": [{"index","name","uuid","compute_capability","memory"}] } }
//
// Then leaves with _exit(0): what the driver registered with atexit has no say. It may hang or crash in the
// driver at any line; the parent has the deadline. Exit status 2: wrong arguments; 1: nobody took the answer.
int ask_nvidia(int argc, char** argv);

}  // namespace enginehost::helper
