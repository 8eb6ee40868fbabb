// Where the Windows loader would look, and what it would find: the closure of a DLL over a described machine.
// Nothing is loaded; it runs on any system. The rules are those of Microsoft's page "Dynamic-link library
// search order" and of "LoadLibraryExW function"; where those are silent, what Wine's loader does
// (tests/windows holds both against each other; Windows itself was not asked).
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "host/linker/foreign_reader.hpp"
#include "host/linker/linker.hpp"

namespace enginehost::linker {

// Flags of LoadLibraryExW. `load_flags` are those our loader uses.
enum WindowsFlags : std::uint32_t {
  altered_search_path = 0x8,
  search_dll_load_dir = 0x100,
  search_application_dir = 0x200,
  search_user_dirs = 0x400,
  search_system32 = 0x800,
  search_default_dirs = 0x1000,
  load_flags = search_dll_load_dir | search_default_dirs,
};

// A Windows machine as a value. Folders are written as Windows does ("C:\\Windows"), or as a path of this
// machine when they begin with '/': a build that is looked at on Linux lies in such a folder.
struct WindowsMachine {
  std::string architecture = "x86_64";           // of the process
  std::map<char, std::filesystem::path> drives;  // 'C' -> the folder that stands for C:\.
  std::string application_directory;             // of the program; "" = not known, not searched
  std::string system_directory;                  // C:\Windows\System32; "" = no Windows tree to look into
  std::string system16_directory;                // C:\Windows\System
  std::string windows_directory;                 // C:\Windows
  std::string current_directory;
  std::string dll_directory;                   // SetDllDirectory
  std::vector<std::string> added_directories;  // AddDllDirectory
  std::vector<std::string> path;               // PATH, split
  std::uint32_t default_flags = 0;             // SetDefaultDllDirectories; 0 = was not called
  bool safe_search = true;                     // SafeDllSearchMode
  // Names served by the system whatever lies in the folders, in lower case (registry: Session
  // Manager\KnownDLLs).
  std::vector<std::string> known_dlls;
  // Parts of Windows and drivers that are taken to be there though no file is described; with a Windows tree:
  // none.
  bool assume_system = false;
  std::vector<LoadedLibrary>
      loaded;  // `soname` is the file name; the program itself too, for those that import it
};

struct WindowsRequest {
  std::string file;                    // a path as of WindowsMachine
  std::vector<std::string> preloaded;  // opened before it, in this order, by the same flags
  std::uint32_t flags = load_flags;
  std::vector<std::string> may_be_missing;  // names, in any case
};

// How a name is served that no file has to be found for.
enum class SystemName {
  no,
  api_set,          // api-ms-win-*, ext-ms-*: contracts that the system maps to whatever implements them
  windows,          // a part of Windows itself
  redistributable,  // Microsoft's Visual C++ runtime: part of no Windows, but of most machines
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

// The described machine's folder or file on this machine; empty when the drive is not described. Upper and
// lower case are taken as one.
std::filesystem::path on_disk(const WindowsMachine& machine, std::string_view path, ForeignReader& reader);

// Beside what a Closure says anyway.
struct WindowsClosure {
  Closure closure;  // Object::found_by: "request", "preloaded", "already loaded", "known DLL", "API set",
                    // "part of Windows", or WindowsPlace::why. Names that no file serves have an empty path
  std::vector<Missing> delayed;  // delay-loaded DLLs that would not be found at their first use
  // Names that are taken to be there, but are no part of Windows.
  std::vector<std::string> redistributable, driver;
};

// Breadth first, each base name once, as the loader keeps its list of modules. Manifests (side-by-side
// assemblies) and
// ".local" redirection are not followed: that they may change the answer is told as a warning (EH-W12).
WindowsClosure close_windows(const WindowsMachine& machine, const WindowsRequest& request,
                             ForeignReader& reader);

// The functions that DLLs of the closure import from others of it which do not export them (EH-W03: file,
// path, library, symbol..., required_by), in load order. DLLs without a file are taken to be whole. Reads all
// symbol tables once: some 10 ms for a large engine.
std::vector<Diagnosis> missing_functions(const WindowsMachine& machine, const WindowsClosure& closure,
                                         ForeignReader& reader);

// Worst first; empty when it loads:
//   EH-W01  missing                  file, library..., needed_by, chain..., searched...
//   EH-W02  there but not looked at  file, library, needed_by, present_at..., searched...
//   EH-W04  another machine, not a DLL, or damaged  file, problem, built_for, machine, library, needed_by
// Warnings in Closure::warnings:
//   EH-W06  an MSVC runtime older than the toolset   library, path, found, required, required_by
//   EH-W07  would be taken from elsewhere by a search that is not ours  library, path, wanted
//   EH-W08  delay-loaded and missing                 library..., needed_by, searched...
//   EH-W12  a manifest that names an assembly        file, assembly
std::vector<Diagnosis> diagnose_windows(const WindowsClosure& closure);

}  // namespace enginehost::linker
