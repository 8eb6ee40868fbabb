// The static check of a build for Windows or macOS, run on any system for a described machine.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "host/linker/dyld.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/windows.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// A build, and the machine that it is for. `machine` of the Spec is not used. Without a platform: a machine
// that suits the file and of which nothing else is known.
struct ForeignSpec : Spec {
  // Windows: the machine itself; `platform` may then be empty. Null: only facts that hold on every machine.
  const linker::WindowsMachine* windows = nullptr;
  const linker::AppleMachine* mac = nullptr;  // macOS likewise
  // Descriptions of the files, used in place of a disk; null: the files on the disk.
  const linker::DescribedFiles* described = nullptr;
  // Called with the closure of the file (its pointers are valid only during the call) and the report so far;
  // may be empty.
  std::function<void(const linker::Closure&, Report&)> on_closure = nullptr;
};

// Reads each file once. Any thread. The target's system files are not read: they are known by name
// (linker::system_name, linker::in_shared_cache). A library that comes with neither the build nor the system,
// such as Microsoft's C++ runtime or a graphics driver, is missing when the platform states so, and a doubt
// (Verdict::unsure) when the platform does not mention it. Folders of the described machine that hold no file
// of the build (PATH, DYLD_LIBRARY_PATH) are ignored, because the build's own files are opened first, by
// path.
Report check_foreign(const ForeignSpec& spec);

}  // namespace enginehost::preflight
