// The closure of a dylib or bundle on a described Mac: where dyld would search, and what it would find.
// Nothing is loaded; the code runs on any system. The rules are those of the manual pages dyld(1) and
// dlopen(3) and of Apple's published dyld sources (dyld-1378: Loader.cpp, JustInTimeLoader.cpp,
// DyldProcessConfig.cpp).
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "host/linker/linker.hpp"

namespace enginehost::linker {

// A Mac as a value. Paths are the machine's own.
struct AppleMachine {
  std::string architecture = "aarch64";  // of the process: "aarch64", "arm64e", "x86_64"
  bool rosetta = false;                  // an x86_64 process on Apple silicon
  std::string os_version;                // "14.4"; "" = unknown, not compared
  std::filesystem::path root;            // files are looked up below it; "" = the real root
  std::string program;  // its folder is @executable_path, its LC_RPATH ends every search; "" = unknown
  std::string current_directory = "/";
  // The environment the process was started with; absent = not set.
  std::optional<std::vector<std::string>> library_path;             // DYLD_LIBRARY_PATH
  std::optional<std::vector<std::string>> framework_path;           // DYLD_FRAMEWORK_PATH
  std::optional<std::vector<std::string>> fallback_library_path;    // DYLD_FALLBACK_LIBRARY_PATH
  std::optional<std::vector<std::string>> fallback_framework_path;  // DYLD_FALLBACK_FRAMEWORK_PATH
  bool hardened = false;  // hardened runtime, set-uid or system program: DYLD_* are ignored
  // The libraries in the shared cache. Empty: every name below /usr/lib and /System/Library is assumed to be
  // there, because these libraries have no files of their own since macOS 11.
  std::vector<std::string> shared_cache;
  std::vector<LoadedLibrary> loaded;  // `soname` is the install name
};

struct AppleRequest {
  std::string file;                    // absolute
  std::vector<std::string> preloaded;  // opened before it, in this order
};

bool in_shared_cache(const AppleMachine& machine, std::string_view path);

// Builds the closure like linker::close. Object::found_by: "request", "preloaded", "already loaded", "shared
// cache", "path", "LC_RPATH of /a/libx.dylib", "DYLD_LIBRARY_PATH", ... A missing weak library is no problem.
// Each Searched is one path that was tried. Warnings: EH-X07 (file, required, found).
Closure close_macos(const AppleMachine& machine, const AppleRequest& request, Reader& reader);

// Returns the closure's problems as diagnoses, worst first; empty if it loads:
//   EH-X01  missing                          file, library..., needed_by, chain..., searched...;
//                                            no_rpath if no library has one
//   EH-X02  another processor                file, built_for, machine, rosetta; library, needed_by for a
//                                            dependency
//   EH-X03  no Mach-O file                   file, format
//   EH-X04  not signed                       file (native code of Apple silicon must be signed)
//   EH-X08  another kind of file, platform   file, built_for
// and the file's own problems (EH-F..).
std::vector<Diagnosis> diagnose_macos(const Closure& closure);

// Returns the imports that the named library of the closure does not export (EH-L12: file, required_by,
// library, expected_in, symbol...), in load order. Imports count as satisfied if they are weak, come from a
// library without a file (the system's), or may come from any library (flat or dynamic lookup). Reads all
// symbol tables once.
std::vector<Diagnosis> missing_macos_symbols(const AppleMachine& machine, const Closure& closure);

// The attribute com.apple.quarantine, with which macOS marks downloaded files. Gatekeeper checks its policy
// before a marked library is loaded. The result (notarization, administrator's rules) cannot be read from the
// file, so the mark is a doubt and no verdict.

// "0083;5f1a2b3c;Safari;C1E2…": flags and time (hexadecimal), the program that downloaded it, an id.
struct Quarantine {
  std::string text;
  std::string agent;      // "Safari"; may be empty
  bool approved = false;  // a person has allowed opening it (flag 0x40)
};

// Returns nothing if the text is no such attribute. Pure.
std::optional<Quarantine> parse_quarantine(std::string_view text);

// Returns EH-X05 (file, attribute, downloaded_by) if the file is marked and nobody has allowed it.
std::optional<Diagnosis> quarantine_problem(const std::filesystem::path& file);

// Returns the text of the attribute of the file itself, not of a link's target; nothing if there is none or
// the system has no attributes. On Linux it is user.com.apple.quarantine, because tar, rsync and Samba store
// attributes of macOS below "user.". Thread safety: any thread.
std::optional<std::string> quarantine_text(const std::filesystem::path& file);

// The Mac that this process runs on, as a value. Only in programs for macOS.

// Returns this process's processor, Rosetta translation, system version, program, DYLD_* variables and loaded
// libraries, as they are now; what cannot be read is left empty. dyld removes DYLD_* from the environment of
// programs for which it ignores them. Thread safety: any thread.
AppleMachine describe_this_mac();

}  // namespace enginehost::linker
