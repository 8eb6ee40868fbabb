// A digest of everything that the facts about this machine depend on. It takes some tens of microseconds to
// make. While it is unchanged, detect() would find the same facts again.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "host/platform/detect.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::platform {

enum class Reach {
  decisive,   // the inputs of choosing a build: loader, libraries, driver, devices, environment
  everything  // also the facts that are only reported: toolkits, container, the PCI bus
};

// Returns a digest of: boot, kernel, root file system, user, the variables that a loader or a GPU runtime
// reads, the libraries that this process has loaded, the folders and the cache that a loader searches, device
// files, the driver's version, the probe, and whether code may be run in the cache folder. Facts that change
// by themselves (free memory, free space) are left out. So are files that detect() found in unusual places:
// see file_dependencies(). Any thread, as long as no thread changes the environment.
std::string machine_key(const DetectRequest& request, Reach reach);

// A file of this machine that the text depends on.
struct MachineInput {
  enum class What {
    presence,  // whether it is there
    stamp,     // device, inode, size and time
    content,   // the first 4096 bytes; for kernel files, whose times say nothing
    names,     // the names in the folder
    noexec,    // whether the file system forbids running code below it
    boot       // the content of the kernel file that changes at every boot
  };
  What what;
  std::string path;
  bool operator==(const MachineInput&) const = default;
};

// The inputs of machine_key() in two parts, for callers that compare each file by itself (cached decisions):
// the text that needs no look at a file, and the files that supply the rest. The key is unchanged while the
// text is equal, every file gives the same answer and the request is the same. On macOS and Windows nearly
// everything is in the text, because these systems are not asked through files. For this machine only:
// `request.root` is "/". Any thread.
std::string machine_key_text(Reach reach);
std::vector<MachineInput> machine_inputs(const DetectRequest& request, Reach reach);

// Returns the system libraries that machine_key_text() lists by build id because this process has loaded
// them. Later changes to their files do not affect what this process loads. `key_text`: a result of
// machine_key_text(). Any thread.
std::vector<std::string> files_in_machine_key_text(const std::string& key_text);

// The files that facts were read from and that machine_key() does not cover: a driver library, toolkits,
// cuDNN.
std::vector<std::string> file_dependencies(const Platform& platform, Reach reach);

// Returns for how many seconds the facts stay valid while their key and files are unchanged: a day, or ten
// minutes when a driver gave only part of its answers, because that may be temporary.
std::int64_t lifetime_seconds(const Platform& platform);

// The facts of the last detection are kept for the next process, because querying a GPU's driver takes longer
// than everything else. Returns the remembered facts, with current values for memory and disk. Returns
// nothing when none are stored, when they are older than lifetime_seconds(), when `key` (machine_key(request,
// everything)) differs, or when the files they were read from changed. `slower_than`: also when their
// detection took less time. Any thread.
std::optional<Platform> recall(const DetectRequest& request, const std::string& key,
                               const std::filesystem::path& file, std::int64_t now,
                               std::chrono::milliseconds slower_than = {});

// Stores the facts by rename and without syncing; a failure to write is ignored. `key` must have been
// computed before the detection, which took the time `took`.
void remember(const Platform& platform, const std::string& key, const std::filesystem::path& file,
              std::int64_t now, std::chrono::milliseconds took = {});

}  // namespace enginehost::platform
