// The machine a dynamic loader would search on, described as a value: nothing in linker/ asks the running
// system behind the caller's back, so that tests and recorded machines are judged by the same code as this
// one.
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

// /etc/ld.so.cache in the "glibc-ld.so.cache1.1" format, alone or behind the older format. Searched in place
// the way ld.so does (glibc elf/dl-cache.c). A plain value; const use from several threads is safe.
class LoaderCache {
 public:
  struct Entry {
    std::string soname;
    std::string path;
    std::int32_t flags = 0;          // 0x0303: x86-64 library of libc6
    std::string hwcaps;              // "x86-64-v3": lies in glibc-hwcaps/x86-64-v3; "" = for every processor
    std::uint64_t legacy_hwcap = 0;  // glibc before 2.37: needs these AT_HWCAP bits
  };

  LoaderCache() = default;
  // Takes the file's bytes; text that is no cache, or a damaged one, gives an empty cache (as it does for
  // ld.so).
  static LoaderCache parse(std::string bytes);
  // A described cache, for tests and recorded machines.
  static LoaderCache of(const std::vector<Entry>& entries);

  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  std::vector<Entry> entries() const;
  // The path ld.so would take for this name: of the entries of the wanted flags the one for the best of the
  // active glibc-hwcaps folders ("x86-64-v4", ... best first), else the first plain one.
  std::optional<std::string> find(std::string_view soname, std::int32_t wanted_flags,
                                  const std::vector<std::string>& active_hwcaps,
                                  std::uint64_t legacy_hwcap) const;

 private:
  // As the file has it.
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
  std::string bytes_;  // the new format's header, its entries, their texts
  std::size_t count_ = 0;
  std::vector<std::uint32_t> hwcaps_names_;
};

// A library that is in the process already: a later need of its name is served by it, whatever lies on disk.
struct LoadedLibrary {
  std::string soname;  // "" = has none
  std::filesystem::path path;
};

struct Machine {
  Libc libc = Libc::glibc;
  std::string libc_version;  // "2.36"; "" = unknown
  std::string architecture;  // as binary::BinaryInfo::machine: "x86_64", "aarch64"
  int bits = 64;
  std::uint64_t page_size = 4096;
  std::uint32_t isa = 0;  // x86: bits 1 baseline, 2 v2, 4 v3, 8 v4; 0 = not known, not checked

  // Files are looked up below this folder ("" = the real root); all other paths, results too, are the
  // machine's own.
  std::filesystem::path root;
  std::filesystem::path current_directory = "/";  // what an empty search element stands for

  // The program that the libraries are loaded into: glibc looks through its DT_RPATH for every library that a
  // needer without RUNPATH asks for, musl through its path for all. Empty: not known, as on recorded
  // machines.
  std::filesystem::path program;
  bool secure = false;  // AT_SECURE: the environment is ignored
  // LD_LIBRARY_PATH as the process was started with it, split and otherwise as written;
  // library_path_folders() tells what the loader makes of it.
  std::vector<std::string> library_path;
  std::string library_path_source = "LD_LIBRARY_PATH";
  std::optional<std::string> library_path_text;  // the variable's text, absent = not set
  LoaderCache cache;
  std::int32_t cache_flags = 0;  // entries of other flags are another architecture's
  std::string cache_file = "/etc/ld.so.cache";
  std::vector<std::string> default_directories;  // compiled into the loader, in its order
  std::vector<std::string> hwcaps;  // active glibc-hwcaps folders, best first: "x86-64-v3", "x86-64-v2"
  std::vector<std::string> legacy_hwcaps;  // folders tried by glibc before 2.37: "tls/x86_64", "tls", ...
  std::uint64_t legacy_hwcap_bits = 0;     // which cache entries with legacy bits suit
  std::string lib;                         // $LIB: "lib/x86_64-linux-gnu", "lib64"
  std::string platform;                    // $PLATFORM: "x86_64"
  std::vector<LoadedLibrary> loaded;       // what the process holds already
};

// LD_LIBRARY_PATH as ld.so splits it: at ':' and ';', empty elements kept (they stand for the current
// folder); an empty text has none.
std::vector<std::string> split_library_path(std::string_view text);

// LD_LIBRARY_PATH or a path file as musl splits it: at ':' and at line ends; empty elements do not count.
std::vector<std::string> split_musl_path(std::string_view text);
// The folders musl ends its search with: those of /etc/ld-musl-ARCH.path, or, without that file, its own
// three. An empty file means no folder at all.
std::vector<std::string> musl_default_directories(const std::optional<std::string>& path_file);

// The folders that the machine's loader looks through for its LD_LIBRARY_PATH, absolute and in order: empty
// elements are its current folder (glibc) or none (musl), tokens are expanded for the program (glibc), and
// with AT_SECURE there is none. The second: what it would make of such a text, if it took any.
std::vector<std::string> library_path_folders(const Machine& machine);
std::vector<std::string> library_path_folders(const Machine& machine, std::string_view text);

// The folders of glibc-hwcaps that a glibc of this version looks through on an x86-64 processor of these
// levels (Machine::isa), best first. None before 2.33, which brought them (NEWS of 2.33).
std::vector<std::string> glibc_hwcaps_of_x86_64(std::string_view libc_version, std::uint32_t isa);

// LD_LIBRARY_PATH as this process was started with it, absent = not set. Read once; any thread.
const std::optional<std::string>& library_path_at_start();

// The folders that the loader itself would search for what this program needs, each with a ":" behind it:
// those of LD_LIBRARY_PATH as it was at the start, expanded, and its own. Where it cannot be asked (musl),
// that variable. Asked of the loader without a system call; any thread.
std::string loader_folders_at_start();

// This process on this machine (on Windows without a loader's rules, which this_windows.hpp has):
// architecture of this program, the environment it was started with, the real cache and folders. Does not
// list what is loaded (see loaded_libraries). Never fails: what cannot be read is left empty.
Machine describe_this_machine();

// The shared objects of this process (dl_iterate_phdr, on Windows its modules) with their SONAMEs, in load
// order, without the program itself.
std::vector<LoadedLibrary> loaded_libraries();

// Those of them that every program holds which is started like this one: what LD_PRELOAD and
// /etc/ld.so.preload name, and what that needs. None on Windows and macOS.
std::vector<LoadedLibrary> preloaded_libraries();

}  // namespace enginehost::linker
