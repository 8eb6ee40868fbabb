// The closure of a DLL on a described Windows machine: where the loader would search, and what it would find.
// Nothing is loaded; the code runs on any system. The rules are those of Microsoft's pages "Dynamic-link
// library search order" and "LoadLibraryExW function", and of Wine's loader where those are silent.
// tests/windows compares this code with Wine; it was not compared with Windows.
#pragma once
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "host/linker/linker.hpp"

namespace enginehost::linker {

// Flags of LoadLibraryExW. `load_flags` are those that EngineHost's loader uses.
enum WindowsFlags : std::uint32_t {
  altered_search_path = 0x8,
  search_dll_load_dir = 0x100,
  search_application_dir = 0x200,
  search_user_dirs = 0x400,
  search_system32 = 0x800,
  search_default_dirs = 0x1000,
  load_flags = search_dll_load_dir | search_default_dirs,
};

// A Windows machine as a value. Folders are written as on Windows ("C:\\Windows"), or as paths of this
// machine if they begin with '/', for a build that is checked on Linux.
struct WindowsMachine {
  std::string architecture = "x86_64";           // of the process
  std::map<char, std::filesystem::path> drives;  // 'C' -> the folder for C:\.
  std::string application_directory;             // of the program; "" = unknown, not searched
  std::string system_directory;                  // C:\Windows\System32; "" = no Windows folder to search
  std::string system16_directory;                // C:\Windows\System
  std::string windows_directory;                 // C:\Windows
  std::string current_directory;
  std::string dll_directory;                   // SetDllDirectory
  std::vector<std::string> added_directories;  // AddDllDirectory
  std::vector<std::string> path;               // PATH, split
  std::uint32_t default_flags = 0;             // SetDefaultDllDirectories; 0 = not called
  bool safe_search = true;                     // SafeDllSearchMode
  // Names that the system serves whatever is in the folders, in lower case (registry: Session
  // Manager\KnownDLLs).
  std::vector<std::string> known_dlls;
  // Assume that parts of Windows and drivers exist although no file is described. Set only without a Windows
  // folder.
  bool assume_system = false;
  std::vector<LoadedLibrary>
      loaded;  // `soname` is the file name; includes the program, for libraries that import it
};

struct WindowsRequest {
  std::string file;                    // a path as in WindowsMachine
  std::vector<std::string> preloaded;  // opened before it, in this order, by the same flags
  std::uint32_t flags = load_flags;
};

// How a name is served without a file.
enum class SystemName {
  no,
  api_set,          // api-ms-win-*, ext-ms-*: contracts that the system maps to an implementation
  windows,          // a part of Windows itself
  redistributable,  // Microsoft's Visual C++ runtime: not part of Windows, but on most machines
  driver,           // comes with a graphics driver: nvcuda.dll
};
SystemName system_name(std::string_view name);

// One folder of the search order with its reason, in the order of `flags` for a DLL in `dll_directory`.
struct WindowsPlace {
  std::string directory;
  std::string why;  // "folder of engine.dll", "AddDllDirectory", "System32", "PATH", ...
};
std::vector<WindowsPlace> windows_places(const WindowsMachine& machine, std::uint32_t flags,
                                         const std::string& dll);

// Returns a folder or file of the described machine as a path on this machine, ignoring case; empty if the
// drive is not described.
std::string on_disk(const WindowsMachine& machine, std::string_view path, Reader& reader);

// A Closure with facts that only Windows has.
struct WindowsClosure {
  Closure closure;  // Object::found_by: "request", "preloaded", "already loaded", "known DLL", "API set",
                    // "part of Windows", or WindowsPlace::why. Names without a file have an empty path
  std::vector<Missing> delayed;  // delay-loaded DLLs that would not be found at their first use
  // Names that are assumed to exist but are no part of Windows.
  std::vector<std::string> redistributable, driver;
};

// Builds the closure breadth first, each base name once, like the loader's list of modules. Manifests
// (side-by-side assemblies) and ".local" redirection are not followed; a warning (EH-W12) says that they may
// change the result.
WindowsClosure close_windows(const WindowsMachine& machine, const WindowsRequest& request, Reader& reader);

// Returns the functions that the named DLL of the closure does not export (EH-W03: file, path, library,
// symbol..., required_by), in load order. DLLs without a file are assumed to be complete. Reads all symbol
// tables once: some 10 ms for a large engine.
std::vector<Diagnosis> missing_functions(const WindowsMachine& machine, const WindowsClosure& closure,
                                         Reader& reader);

// Returns the closure's problems as diagnoses, worst first; empty if it loads:
//   EH-W01  missing                  file, library..., needed_by, chain..., searched...
//   EH-W02  present but not searched file, library, needed_by, present_at..., searched...
//   EH-W04  another machine, not a DLL, or damaged  file, problem, built_for, machine, library, needed_by
// Warnings in Closure::warnings:
//   EH-W06  MSVC runtime older than the toolset      library, path, found, required, required_by
//   EH-W07  another search would find another file   library, path, wanted
//   EH-W08  delay-loaded and missing                 library..., needed_by, searched...
//   EH-W12  a manifest that names an assembly        file, assembly
std::vector<Diagnosis> diagnose_windows(const WindowsClosure& closure);

// Windows paths and module names as text.

inline std::string folder_of(const std::string& path) {
  const std::size_t at = path.find_last_of("\\/");
  return at == std::string::npos ? std::string() : path.substr(0, std::max<std::size_t>(at, 1));
}
inline std::string base_name(const std::string& path) { return path.substr(path.find_last_of("\\/") + 1); }
inline std::string joined(const std::string& folder, const std::string& name) {
  const char separator = folder.starts_with('/') ? '/' : '\\';
  return folder.back() == separator ? folder + name : folder + separator + name;
}

// Adds ".dll" to a name without an extension ("LoadLibraryExW function").
inline std::string module_name(const std::string& written) {
  const std::string name = to_lower(base_name(written));
  return name.find('.') == std::string::npos ? name + ".dll" : name;
}

// The Windows machine that this process runs on, as a value. Only in programs for Windows.

// Returns this process's folders, PATH, SetDllDirectory, drives, known DLLs and loaded modules, as they are
// now. Windows does not report the folders of AddDllDirectory, so the caller passes its own in
// `added_directories`. What cannot be read is left empty. Thread safety: any thread.
WindowsMachine describe_this_windows(std::vector<std::string> added_directories = {});

// Returns the file of a module (HMODULE), without the \\?\ prefix of long paths.
std::filesystem::path file_of_module(void* module);

// Returns the modules of this process with their file names, the program first.
std::vector<LoadedLibrary> loaded_modules();

}  // namespace enginehost::linker
