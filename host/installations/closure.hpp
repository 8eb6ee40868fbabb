// The libraries of an installation that a runtime brings with it, and what they require of the machine.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/binary/binary.hpp"
#include "host/installations/places.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::installations {

// A folder and its names, read once because system folders have thousands.
struct Listing {
  explicit Listing(const std::filesystem::path& folder) : path(folder), names(names_in(folder)) {}
  std::filesystem::path path;
  std::vector<std::string> names;
};

// Returns the library of that name in the folder: "libtorch_cpu.so" itself, else the newest
// "libtorch_cpu.so.1.13". If the folder holds a file or link named after the library's SONAME, returns that
// path. Empty when there is none.
std::filesystem::path library_in(const Listing& folder, std::string_view name);

struct Closure {
  std::vector<std::string> libraries;  // the given ones, then the libraries they need, each file once
  std::vector<std::string> names;      // SONAMEs and file names of all
  std::vector<binary::BinaryInfo> infos;
};

// Adds what `first` (readable libraries) needs. Searches beside the library that needs it, in the folders of
// its RUNPATH and in those of the installation, but never outside the installation: the machine's own
// libraries are left to its loader. Never adds the driver or the C and C++ runtime, of which a process can
// have only one.
Closure close_over(const Places& places, const std::vector<std::filesystem::path>& first);

// Returns the newest glibc, libstdc++ and processor that the libraries name, and their C library.
manifest::Requirements requirements_of(const std::vector<binary::BinaryInfo>& infos);

}  // namespace enginehost::installations
