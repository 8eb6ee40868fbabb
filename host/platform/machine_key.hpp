// What the facts about this machine rest on, in one look of some tens of microseconds: while it stays the
// same, looking at everything again would find the same.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "host/platform/detect.hpp"

namespace enginehost::platform {

enum class Reach {
  decisive,   // what chooses between builds rests on: loader, libraries, driver, devices, environment
  everything  // and what is only told: toolkits on the machine, container, the PCI bus
};

// A digest of: boot, kernel, root file system, user, the variables that a loader or a GPU runtime reads, the
// libraries this process holds already, the folders and the cache that a loader searches, device files, the
// driver's version, the helper, and whether code may be run in the cache folder. Facts that change by
// themselves (free memory, free space) are not in it, and neither are files found by detect() in unusual
// places: see file_dependencies(). Any thread, as long as nobody changes the environment.
std::string machine_key(const DetectRequest& request, Reach reach);
// The same with the words (machine_key_text) as they were: before a load brought libraries into this process.
// On Windows nothing is told by them, and these are those of now.
std::string machine_key(const DetectRequest& request, Reach reach, const std::string& words);

// What machine_key() is the digest of: lines of text, for who compares it without one.
std::string machine_text(const DetectRequest& request, Reach reach);

// A file of this machine that the text asks about.
struct MachineInput {
  enum class What {
    presence,  // whether it is there
    identity,  // device and inode
    stamp,     // and size and time
    content,   // the first 4096 bytes; of files of the kernel, whose times tell nothing
    names,     // what lies in the folder
    noexec,    // whether nothing below it may be run
    boot       // the content of the kernel's file that has another one after each start
  };
  What what;
  std::string path;
  bool operator==(const MachineInput&) const = default;
};

// The same in two parts, for who compares what was seen before with each file by itself (open/early
// decision): the text that takes no look at a file, and the files whose answers are the rest. While the first
// is equal, all the answers of the second stay and the request is the same, so does machine_text(). Where the
// system is asked by other means than files (macOS, Windows), nearly all is in the first. Of this machine
// only: `request.root` is "/". Any thread.
std::string machine_key_text(Reach reach);
std::vector<MachineInput> machine_inputs(const DetectRequest& request, Reach reach);

// Libraries of the system that the words tell as this process holds them, by build id: what becomes of their
// files is nothing to what it loads. `words`: those of machine_key_text(). Any thread.
std::vector<std::string> files_in_machine_key_text(const std::string& words);

// The files that facts were read from and that machine_key() cannot know of: a driver library, toolkits,
// cuDNN. A missing stamp: the file was not there.
using FileDependency = std::pair<std::string, std::optional<FileStamp>>;
std::vector<FileDependency> file_dependencies(const Platform& platform, Reach reach);

// For how many seconds the facts may be taken for true while their key and their files stay: a day; ten
// minutes when a driver did not give all its answers, which is never final.
std::int64_t lifetime_seconds(const Platform& platform);

}  // namespace enginehost::platform
