// The static check of a build for Windows or macOS, on any system: will it load on the described machine?
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
  std::filesystem::path view;                 // absolute; the build's folder. Empty: a library on its own
  std::filesystem::path file;                 // absolute; the plugin, or the file that is looked at
  std::vector<std::filesystem::path> search;  // absolute folders where the build's libraries lie
  std::vector<std::string> optional;          // patterns over paths in the view (manifest "optional")
  std::vector<std::string> lazy;              // file names opened at run time, looked up in `search`
  // The machine it is judged for: processor, version, Visual C++ runtime, driver. Null: one that suits the
  // file, of which nothing else is known.
  const platform::Platform* platform = nullptr;
  // Windows: the machine itself, of which `platform` then need not tell anything. Null: only what is known of
  // every machine.
  const linker::WindowsMachine* machine = nullptr;
  // macOS likewise.
  const linker::AppleMachine* mac = nullptr;
  // The files there are, in the place of a disk; null: those on the disk.
  const linker::DescribedFiles* described = nullptr;
  // Told the closure of the file, whose pointers live no longer, and the report so far; may be empty.
  std::function<void(const linker::Closure&, Report&)> on_closure;
  bool symbols = false;  // Windows: look for functions that are not exported (EH-W03)
};

// Reads each file once; any thread. There is no tree of the system to look into: its parts are known by name
// (linker::system_name, linker::in_shared_cache). What comes with neither the build nor the system -
// Microsoft's C++ runtime, a graphics driver - is missing when the platform says so, and a doubt
// (Verdict::unsure) when it says nothing. Folders of the described machine that hold no file of the build
// (PATH, DYLD_LIBRARY_PATH) are not looked into: the build's own files are opened first, by path, so they
// have no say.
Report check_foreign(const ForeignSpec& spec);

}  // namespace enginehost::preflight
