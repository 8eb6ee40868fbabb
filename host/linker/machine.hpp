// The machine on which a dynamic loader would search, as a value. Nothing in linker/ reads the running system
// on its own, so that tests, recorded machines and this machine are judged by the same code.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace enginehost::linker {

enum class Libc { glibc, musl };

// /etc/ld.so.cache in the "glibc-ld.so.cache1.1" format, alone or after the older format. It is searched in
// place, as by ld.so (glibc elf/dl-cache.c). Thread safety: a plain value; const use from several threads is
// safe.
class LoaderCache {
 public:
  struct Entry {
    std::string soname;
    std::string path;
    std::int32_t flags = 0;          // 0x0303: x86-64 library of libc6
    std::string hwcaps;              // "x86-64-v3": in glibc-hwcaps/x86-64-v3; "" = for every processor
    std::uint64_t legacy_hwcap = 0;  // glibc before 2.37: needs these AT_HWCAP bits
  };

  LoaderCache() = default;
  // Parses the file's bytes. Text that is no cache, or a damaged one, gives an empty cache, as for ld.so.
  static LoaderCache parse(std::string bytes);

  bool empty() const { return count_ == 0; }
  std::vector<Entry> entries() const;
  // Returns the path that ld.so would take for this name, among the entries with the wanted flags: the one
  // for the best active glibc-hwcaps folder ("x86-64-v4", ... best first), else the first plain one.
  std::optional<std::string> find(std::string_view soname, std::int32_t wanted_flags,
                                  const std::vector<std::string>& active_hwcaps,
                                  std::uint64_t legacy_hwcap) const;

 private:
  // An entry as stored in the file.
  struct Slot {
    std::int32_t flags;
    std::uint32_t soname;  // offsets into bytes_, checked to be terminated strings
    std::uint32_t path;
    std::uint32_t os_version;  // of old entries only
    std::uint64_t hwcap;
  };
  Slot slot(std::size_t index) const;
  std::string_view text(std::uint32_t offset) const;
  std::string_view hwcaps_of(const Slot& slot) const;
  std::string bytes_;  // the new format's header, its entries and their texts
  std::size_t count_ = 0;
  std::vector<std::uint32_t> hwcaps_names_;
};

// A library that the process has loaded. It serves later needs of its name, whatever is on disk.
struct LoadedLibrary {
  std::string soname;  // "" = none
  std::filesystem::path path;
  bool global = false;  // preloaded: its symbols certainly serve every library
};

struct Machine {
  Libc libc = Libc::glibc;
  std::string libc_version;  // "2.36"; "" = unknown
  std::string kernel;        // Linux's release: "6.1.0-28-amd64"; "" = unknown
  std::string architecture;  // as binary::BinaryInfo::machine: "x86_64", "aarch64"
  int bits = 64;
  std::uint64_t page_size = 4096;
  // The members above and `isa` are those of a recorded machine; files, folders and libraries are those of
  // this one. This machine's own libraries then count as built for the recorded C library.
  bool recorded = false;
  std::uint32_t isa = 0;  // x86: bits 1 baseline, 2 v2, 4 v3, 8 v4; 0 = unknown, not checked

  // Files are read below this folder ("" = the real root). All other paths, including results, are the
  // machine's own.
  std::filesystem::path root;
  std::filesystem::path current_directory = "/";  // the meaning of an empty search element

  // The program that the libraries are loaded into. glibc searches its DT_RPATH for every library needed by
  // one without RUNPATH; musl searches its path for all. Empty: unknown, as on recorded machines.
  std::filesystem::path program;
  bool secure = false;  // AT_SECURE: the environment is ignored
  // LD_LIBRARY_PATH at the start of the process, split but otherwise unchanged; library_path_folders()
  // resolves it.
  std::vector<std::string> library_path;
  std::string library_path_source = "LD_LIBRARY_PATH";
  std::optional<std::string> library_path_text;  // the variable's text; absent = not set
  LoaderCache cache;
  std::int32_t cache_flags = 0;  // entries with other flags are for another architecture
  std::string cache_file = "/etc/ld.so.cache";
  std::vector<std::string> default_directories;  // compiled into the loader, in its order
  std::vector<std::string> hwcaps;  // active glibc-hwcaps folders, best first: "x86-64-v3", "x86-64-v2"
  std::vector<std::string> legacy_hwcaps;  // folders that glibc before 2.37 tries: "tls/x86_64", "tls", ...
  std::uint64_t legacy_hwcap_bits = 0;     // the legacy hwcap bits that the machine has, for cache entries
  std::string lib;                         // $LIB: "lib/x86_64-linux-gnu", "lib64"
  std::string platform;                    // $PLATFORM: "x86_64"
  std::vector<LoadedLibrary> loaded;       // the libraries already loaded
};

// Splits LD_LIBRARY_PATH as ld.so does: at ':' and ';'. Empty elements are kept, because they mean the
// current folder; an empty text has none.
std::vector<std::string> split_library_path(std::string_view text);

// Splits LD_LIBRARY_PATH or a path file as musl does: at ':' and at line ends, without empty elements.
std::vector<std::string> split_musl_path(std::string_view text);
// Returns the folders that musl searches last: those of /etc/ld-musl-ARCH.path, or, without that file, its
// three defaults. An empty file means no folder.
std::vector<std::string> musl_default_directories(const std::optional<std::string>& path_file);

// Returns the folders that the machine's loader searches for its LD_LIBRARY_PATH, absolute and in order. An
// empty element means the current folder (glibc) or nothing (musl); tokens are expanded for the program
// (glibc); AT_SECURE means none. The second function does it for a given text, ignoring AT_SECURE.
std::vector<std::string> library_path_folders(const Machine& machine);
std::vector<std::string> library_path_folders(const Machine& machine, std::string_view text);

// Returns the glibc-hwcaps folders that a glibc of this version searches on an x86-64 processor of these
// levels (Machine::isa), best first. None before 2.33, which introduced them (NEWS of 2.33).
std::vector<std::string> glibc_hwcaps_of_x86_64(std::string_view libc_version, std::uint32_t isa);

// Returns LD_LIBRARY_PATH at the start of this process; absent = not set. Read once. Thread safety: any
// thread.
const std::optional<std::string>& library_path_at_start();

// Returns the folders that the loader would search for this program's needs, each followed by ":": those of
// LD_LIBRARY_PATH at the start, expanded, and its own. The loader reports them without a system call; musl
// does not, so the variable is returned there. Thread safety: any thread.
std::string loader_folders_at_start();

// Describes this process on this machine: its architecture, the environment at its start, the real cache and
// folders. Loaded libraries are not included (see loaded_libraries). On Windows the loader's rules are
// missing; see windows.hpp. Never fails: what cannot be read is left empty.
Machine describe_this_machine();

// Returns the shared objects of this process (dl_iterate_phdr, on Windows its modules) with their SONAMEs, in
// load order, without the program.
std::vector<LoadedLibrary> loaded_libraries();

// Returns those that every program started like this one loads: the libraries in LD_PRELOAD and
// /etc/ld.so.preload and their dependencies. None on Windows and macOS.
std::vector<LoadedLibrary> preloaded_libraries();

// Returns entries for ChildRequest::environment: the loader's variables as this process was started with
// them, where the program has changed them since. The loader of this process uses the original values; a
// child's would use the new ones. With raised rights, where the loader ignores them, a child gets none. Empty
// on Windows and macOS. Thread safety: any thread, while nobody changes the environment.
std::vector<std::string> loader_variables_for_child();

}  // namespace enginehost::linker
