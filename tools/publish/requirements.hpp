// Derives a build's requirements of the machine from its files, in the form of a manifest.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "host/manifest/catalog.hpp"
#include "tools/publish/artifact_facts.hpp"

namespace enginehost::publish {

// A library that the build does not contain and that not every system of its kind has.
struct Outside {
  std::string name, needed_by;
  std::string found_in;  // the folder to which a needer's own RUNPATH or RPATH leads; empty: none
};

// Returns needed names that are in none of the parts. Skips the C library and the C++ runtime, whose versions
// are separate requirements, libraries of Windows and macOS themselves, and the driver's libraries of a GPU
// flavor.
std::vector<Outside> outside(const std::vector<ArtifactFacts>& parts, const std::string& flavor);

// Returns whether a library of that kind ("elf", "pe", "macho") finds this name on every target system: the
// names that outside() skips.
bool is_of_system(const std::string& kind, const std::string& needed, const std::string& flavor);

// Returns the member "requires": glibc, glibcxx, cxxabi, libc, cpu, cuda (toolkit from the flavor,
// architectures that all files with GPU code serve), os_version, libraries. Omits empty members. `libraries`
// holds names that the system must have. Libraries that a needer's own path finds are omitted, because the
// check before loading follows that path.
Json requirements_of(const std::vector<ArtifactFacts>& parts, const std::string& flavor);

// Returns whether every version that satisfies the bound is at least `version`. One condition that excludes
// all older versions is enough (base/version.hpp lists the conditions).
bool is_at_least(const std::string& bound, const std::string& version);

// Returns the file names of its libraries that have EngineHost's note "stand-in": the member "stands_in_for".
std::vector<std::string> stand_ins_of(const ArtifactFacts& facts);

// Returns the member "adapter" for the component that holds this plugin: the runtime libraries that it names
// itself, and their C++ ABI. Nothing for a plugin that opens its runtime by name, and on systems whose
// installations are not recognized.
std::optional<Json> adapter_of(const LibraryFacts& plugin);

// Returns "linux", "windows" or "macos" and the machine, from the libraries; empty when they disagree or
// there are none. Universal libraries are for several machines: "arm64+x86_64" lists those that all of them
// support.
struct System {
  std::string os, arch;
};
System system_of(const std::vector<ArtifactFacts>& parts);

// A library that lies in a build's components where the libraries that need it would not find it.
struct OutOfReach {
  std::string problem, remedy;
  bool certain = true;  // false: only an optional run-time dependency, or the facts are incomplete
};

// Returns one entry per name, by the rules with which users' machines predict whether the build loads
// (host/preflight). Skips libraries that the system provides, by itself or as `requires.libraries`. Empty
// when the plugin is not among the parts, and on Windows (check_described). Any thread.
std::vector<OutOfReach> out_of_reach(const manifest::Build& build, const std::vector<ArtifactFacts>& parts);

}  // namespace enginehost::publish
