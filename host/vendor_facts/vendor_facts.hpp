// Facts about other makers' products that age: CUDA's drivers and toolkits, the compute capabilities of GPUs,
// the packages that provide a library, and the folders and libraries of engines.
//
// manifests/vendor-facts.json is their only source. The build compiles it in. host/catalog replaces it at run
// time by a newer document that counts (docs/decisions/044). One table serves the whole process, because only
// the installation and the administrator's file decide which one it is.
//
// Thread safety: any thread. A replaced table stays in memory, so references to it stay valid.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::vendor {

// A release of CUDA and the oldest driver that runs its builds natively.
struct Toolkit {
  std::string version, linux_driver, windows_driver;
  bool unverified = false;  // nobody read the vendor's table; a newer document may name another driver branch
};

// The oldest driver that runs every release of that CUDA major version ("minor version compatibility").
struct MinorVersions {
  std::int64_t major = 0;
  std::string linux_driver, windows_driver;
};

// A kind of NVIDIA GPU.
struct Card {
  std::string capability;   // "8.6"
  std::string first, last;  // the toolkits that compile for it; `last` empty: the newest does
  bool tegra = false;       // of a Tegra chip, on which only its own SASS runs
};

// One library and its packages. An empty member: not offered there, or not known for certain.
struct Library {
  std::string file;           // a whole SONAME or DLL name, or its beginning up to ".so"
  std::string what;           // "CUDA runtime 12", "NVIDIA driver"
  std::string conda;          // channels conda-forge and nvidia; from their documents, not verified
  std::string package_index;  // the usual Python package index
  std::string nvidia;         // NVIDIA's own repositories, for apt and dnf alike
  std::string debian;         // Debian and Ubuntu
  std::string other;          // a source outside package managers: a driver, the Visual C++ Redistributable
  // In the repositories of Fedora and RHEL, where the library's name selects the package; not verified.
  bool fedora = false;
  bool conda_forge = false;  // `conda` was compared with the list of conda-forge
};

// An engine that other programs install, and how it is recognized.
struct Engine {
  std::string engine;
  std::vector<std::string> python_names;  // packages that bring it, as the package index spells them
  std::vector<std::string> conda_names;
  std::string debian_prefix;  // "libtorch"; empty: none is known
  std::vector<std::string>
      package_folders;                      // below a folder of Python packages: the folders of its libraries
  std::string version_file, version_name;   // a Python file below that, and the name it assigns
  std::vector<std::string> main_libraries;  // file names without version; the first that exists counts
  std::vector<std::string> other_libraries;  // its own, opened with the main library or by it at run time
  std::vector<std::string> cuda_libraries;   // if one of them exists, the engine was compiled for CUDA
  std::vector<std::string> rocm_libraries;
  std::string abi_library,
      abi_symbol;  // the library whose exported name shows the C++ ABI; empty: the interface is C
};

struct Facts {
  std::int64_t serial = 0;
  std::string date;  // "2026-11-29T00:00:00Z"
  std::string from;  // the location of the repository; empty: compiled into this program
  std::string sha256;
  std::vector<Toolkit> toolkits;  // newest first
  std::vector<MinorVersions> minor_versions;
  std::vector<Card> cards;         // in ascending order
  std::vector<Library> libraries;  // a longer name comes before a name that is its beginning
  std::vector<Engine> engines;
};

constexpr std::uint64_t largest_document = 1u << 20;  // bytes

// Reads a document. Error: EH-M26 ("document", "member", "value", "limit") for the first value that cannot be
// right, or that contradicts `known`: what is known does not disappear, and a known toolkit keeps its driver
// branch.
Result<Facts> read_facts(const Json& document, const std::string& name, const Facts* known);
// The same for the bytes of a document; EH-M26 also for one that is no JSON, or is too long.
Result<Facts> read_facts(const std::string& bytes, const std::string& name, const Facts* known);

// The table that was compiled in.
const Facts& built_in();
std::string_view built_in_sha256();

// The table that this process uses.
const Facts& in_use();
// From now on uses that one, until it is replaced again.
void use(const Facts& facts);

// The lines of the document that was compiled in.
std::span<const std::string_view> built_in_lines();

}  // namespace enginehost::vendor
