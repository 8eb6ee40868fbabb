// What the files of a build demand of the machine, as a manifest says it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "host/publish/artifact_facts.hpp"

namespace enginehost::publish {

// A library that nothing in the build brings, and that is not part of every system of its kind.
struct Outside {
  std::string name, needed_by;
  std::string found_in;  // the folder that a needer's own RUNPATH or RPATH leads to; empty: none does
};

// Names that are needed and lie in none of the parts. The C library, the C++ runtime (their versions are
// requirements of their own), what Windows and macOS themselves bring, and the driver's libraries of a GPU
// flavor are left out.
std::vector<Outside> outside(const std::vector<ArtifactFacts>& parts, const std::string& flavor);

// Whether a library of that kind ("elf", "pe", "macho") finds this name on every system that the build is
// for: what outside() leaves out.
bool is_of_system(const std::string& kind, const std::string& needed, const std::string& flavor);

// The member "requires": glibc, glibcxx, cxxabi, libc, cpu, cuda (toolkit from the flavor, architectures from
// the files), os_version, libraries. Empty members are left out. Libraries are what the system must have
// under its name: one that a needer's own path leads to is for the check before loading, which follows that
// path.
Json requirements_of(const std::vector<ArtifactFacts>& parts, const std::string& flavor);

// The member "adapter" of the component that holds this plugin: the libraries of its runtime that it names
// itself, and their C++ ABI. Nothing for a plugin that opens its runtime by name, and for systems whose
// installations are not recognized.
std::optional<Json> adapter_of(const LibraryFacts& plugin);

// "linux", "windows", "macos" and the machine, by the libraries: empty when they disagree or there is none.
// Universal libraries are for several machines: "arm64+x86_64", those that all of them are for.
struct System {
  std::string os, arch;
};
System system_of(const std::vector<ArtifactFacts>& parts);

}  // namespace enginehost::publish
