// The static check of a build for Windows or macOS, run on any system for a described machine.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "host/linker/dyld.hpp"
#include "host/linker/windows.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

struct ForeignSpec {
  std::filesystem::path view;                 // absolute; the build's folder. Empty: a single library
  std::filesystem::path file;                 // absolute; the plugin, or the inspected file
  std::vector<std::filesystem::path> search;  // absolute folders where the build's libraries lie
  std::vector<std::string> optional;          // patterns over paths in the view (manifest "optional")
  std::vector<std::string> lazy;              // file names opened at run time, looked up in `search`
  // The target machine: processor, version, Visual C++ runtime, driver. Null: a machine that suits the file
  // and of which nothing else is known.
  const platform::Platform* platform = nullptr;
  // Windows: the machine itself; `platform` may then be empty. Null: only facts that hold on every machine.
  const linker::WindowsMachine* machine = nullptr;
  // macOS likewise.
  const linker::AppleMachine* mac = nullptr;
  // Descriptions of the files, used in place of a disk; null: the files on the disk.
  const linker::DescribedFiles* described = nullptr;
  // Called with the closure of the file (its pointers are valid only during the call) and the report so far;
  // may be empty.
  std::function<void(const linker::Closure&, Report&)> on_closure;
  bool symbols = false;  // Windows: look for functions that are not exported (EH-W03)
};

// Reads each file once. Any thread. The target's system files are not read: they are known by name
// (linker::system_name, linker::in_shared_cache). A library that comes with neither the build nor the system,
// such as Microsoft's C++ runtime or a graphics driver, is missing when the platform states so, and a doubt
// (Verdict::unsure) when the platform does not mention it. Folders of the described machine that hold no file
// of the build (PATH, DYLD_LIBRARY_PATH) are ignored, because the build's own files are opened first, by
// path.
Report check_foreign(const ForeignSpec& spec);

}  // namespace enginehost::preflight
