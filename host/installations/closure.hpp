// The libraries of an installation that a runtime brings with it, and what all of them ask of the machine.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "host/binary/binary.hpp"
#include "host/installations/places.hpp"
#include "host/manifest/catalog.hpp"

namespace enginehost::installations {

// A folder and the names in it, read once: the system's has thousands.
struct Listing {
  explicit Listing(const std::filesystem::path& folder) : path(folder), names(names_in(folder)) {}
  std::filesystem::path path;
  std::vector<std::string> names;
};

// The library of that name in the folder: "libtorch_cpu.so" itself, else the newest "libtorch_cpu.so.1.13".
// Where the folder holds a file or link of its SONAME, that is its path. Empty when there is none.
std::filesystem::path library_in(const Listing& folder, std::string_view name);

struct Closure {
  std::vector<std::string> libraries;  // the given ones, then those that they need, each file once
  std::vector<std::string> names;      // SONAMEs and file names of all
  std::vector<binary::BinaryInfo> infos;
};

// `first`: libraries that can be read. What they need is looked for beside the one that needs it, in the
// folders that its RUNPATH names and in the installation's, and nowhere outside the installation: the
// machine's own libraries are for its loader to find. Never among them: the C and C++ runtime, of which a
// process can have only one, and the driver.
Closure close_over(const Places& places, const std::vector<std::filesystem::path>& first);

// The newest glibc, libstdc++ and processor that the libraries name, and their C library.
manifest::Requirements requirements_of(const std::vector<binary::BinaryInfo>& infos);

}  // namespace enginehost::installations
