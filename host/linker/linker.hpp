// The closure of a shared library on a described Linux machine (glibc and musl): where the loader would
// search, and what it would find. Nothing is loaded or run. Windows and macOS have other rules: windows.hpp,
// dyld.hpp.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "host/binary/binary.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::linker {

// Libraries known by their metadata instead of a disk, so that builds whose archives are elsewhere are
// checked by the same code. Paths are absolute and written with "/".
class DescribedFiles {
 public:
  virtual ~DescribedFiles() = default;
  // Returns the library that a path leads to; null if there is none.
  virtual const binary::BinaryInfo* find(std::string_view path) const = 0;
  virtual bool is_folder(std::string_view path) const = 0;
  // Returns the names directly in the folder, sorted.
  virtual std::vector<std::string> names_in(std::string_view folder) const = 0;
};

// Reads each file once and remembers which folders do not exist. May serve many closures over the same
// machine while the files do not change. Keeps up to 32 folders open. Thread safety: one thread.
class Reader {
 public:
  // A searched folder, opened once.
  struct Folder {
    std::string path;           // as requested
    bool exists = true;         // false only if it certainly does not exist
    FileDescriptor descriptor;  // files are opened relative to it; if invalid, by their whole path
  };

  // `machine` chooses the slice of universal Mach-O files (binary::read_binary). With `described`, which must
  // outlive the reader, no disk is read; the descriptions are of that machine.
  explicit Reader(std::filesystem::path root = {}, std::string machine = {},
                  const DescribedFiles* described = nullptr);

  // Returns the library at this path of the machine, or why it could not be read. The reference lives as long
  // as the Reader.
  const Result<binary::BinaryInfo>& read(const std::string& path);
  // Returns the library of this name in the folder, whose whole path is `path`; null if there is no such
  // file.
  const Result<binary::BinaryInfo>* find(const Folder& folder, const std::string& name,
                                         const std::string& path);
  // The reference lives as long as the Reader.
  const Folder& folder(const std::string& path);
  // Returns false only if the folder certainly does not exist.
  bool folder_exists(const std::string& path) { return folder(path).exists; }
  // Returns whether a file of that name exists, without reading it.
  bool file_exists(const std::string& path);
  // Returns true for a file, also behind links; false for a folder.
  bool is_file(const std::string& path) const;
  // Returns the names in the folder, sorted, as far as it can be read.
  std::vector<std::string> names_in(const std::string& folder) const;
  // Returns the file of that name in the folder, ignoring case; empty if there is none.
  std::string find_ignoring_case(const std::string& folder, std::string_view name);
  bool is_described() const { return described_ != nullptr; }
  // Returns the path under root(); absolute links of the machine stay inside it.
  std::filesystem::path on_disk(const std::string& path) const;

 private:
  std::filesystem::path root_;
  std::string machine_;
  const DescribedFiles* described_;
  std::unordered_map<std::string, std::unique_ptr<Result<binary::BinaryInfo>>> files_;
  std::unordered_map<std::string, Folder> folders_;
  std::size_t folders_open_ = 0;
  // For each folder: the name in lower case -> the name.
  std::unordered_map<std::string, std::unordered_map<std::string, std::string>> names_ignoring_case_;
};

struct Request {
  std::filesystem::path file;  // the library to open, absolute
  // The libraries that EngineHost's loader opens first, absolute, in this order. Their SONAMEs serve later
  // needs, so a library without RUNPATH finds the library beside it. They are part of the closure like the
  // file itself.
  std::vector<std::filesystem::path> preloaded;
  bool check_versions = true;
  // GLIBC_TUNABLES at the start of the process (loader_tunables_at_start); "" = not set.
  std::string tunables;
};

// One library of the closure, in load order.
struct Object {
  std::string name;  // as requested: "libcudart.so.12"; for the file itself and preloads: their path
  std::string path;  // where the loader finds it
  std::string soname;
  std::string needed_by;  // path of the first library that needed it; "" = the file itself or a preload
  std::string found_by;   // "request", "preloaded", "RPATH of /a/libx.so", "LD_LIBRARY_PATH", "RUNPATH of
                          // /a/libx.so", "ld.so.cache", "default", "path", "already loaded"
  int parent = -1;        // index in Closure::objects of needed_by; -1 = none
  const binary::BinaryInfo* info =
      nullptr;          // lives in the Reader; null for "already loaded" files that cannot be read
  bool global = false;  // as LoadedLibrary::global
};

struct Searched {
  std::string directory;  // one entry per folder; its hwcaps sub-folders are not listed
  std::string why;        // "RUNPATH of libfoo.so", "LD_LIBRARY_PATH", "/etc/ld.so.cache", "default"
  bool exists = true;
};

struct Missing {
  std::string name;                     // as written; a name that is searched for has its tokens expanded
  std::string needed_by;                // path
  std::string tried;                    // for a name with a slash: the only path that the loader tries
  std::string current_folder;           // tried: a relative name was searched from here
  std::vector<std::string> chain;       // paths, the requested file first, needed_by last
  std::vector<Searched> searched;       // in the loader's order
  std::vector<std::string> present_at;  // files of that name beside the closure's libraries, where the loader
                                        // does not search: a RUNPATH is missing, or is not inherited (L03)
};

// A file that the loader found and did not take, or that makes it fail.
struct Rejected {
  std::string name;
  std::string path;
  std::string needed_by;  // "" = the requested file itself
  std::string why;      // short: "aarch64", "32-bit", "HTML page", "truncated"; host/explain has the sentence
  bool fatal = false;   // the search ends here; otherwise it continues with the next folder or list
  Diagnosis diagnosis;  // EH-L04 direct or EH-L05 as a dependency (other machine), EH-L06 (other class), or
                        // the file's own first problem (EH-F02 ... EH-F13, EH-L07, EH-L25)
};

struct VersionProblem {
  std::string version;       // "GLIBC_2.99"
  std::string library;       // "libc.so.6"
  std::string path;          // the file that was found for it
  std::string required_by;   // path
  bool weak = false;         // the loader only warns
  std::string newest;        // the newest version of the same family in that file; "" = none
  bool unversioned = false;  // the file has the symbol but no versions: the loader ends the process
};

struct HighestVersion {
  std::string family;   // "GLIBC", "GLIBCXX", "CXXABI"
  std::string version;  // "2.34"
  std::string library;
  std::string required_by;  // path
};

// A larger closure is not followed further.
inline constexpr std::size_t object_limit = 8192;

struct Closure {
  std::vector<Object> objects;
  std::vector<Missing> missing;
  std::vector<Rejected> rejected;
  std::vector<VersionProblem> versions;
  std::vector<HighestVersion>
      highest;                      // of all requirements of files outside the C library and the C++ runtime
  std::vector<Diagnosis> warnings;  // EH-L32 empty search element, EH-L20 executable stack, EH-L21 text
                                    // relocations
  // Reasons why the loader refuses although each single file is in order: EH-L10, EH-L19, EH-L20, EH-L29.
  std::vector<Diagnosis> refused;
  // Reasons why it may refuse, and incomplete checks: only loading can decide.
  std::vector<Diagnosis> doubts;
  std::string file;         // the requested file
  Libc libc = Libc::glibc;  // whose loader is modelled
  bool recorded = false;    // Machine::recorded

  // Returns whether the loader would accept everything: nothing missing, no fatal rejection, nothing refused,
  // no unsatisfied version. Undefined symbols are a separate pass (symbols.hpp).
  bool loads() const;
  const Object* find(std::string_view soname_or_path) const;
};

// Builds the closure as the machine's loader would: breadth first, each name once. The library that calls
// dlopen does not matter, because a file opened by its path has no requesting library (glibc elf/dl-load.c,
// with __RTLD_CALLMAP), or the program as such (musl). `reader` must have machine.root as its root and must
// outlive the closure.
Closure close(const Machine& machine, const Request& request, Reader& reader);

// Returns the closure's problems as diagnoses, worst first; empty if it loads. One diagnosis per cause: the
// missing libraries of one needer are in one. Evidence (file = the requested file, or the file at fault):
//   EH-L01  missing, needed directly    library..., needed_by, searched...
//   EH-L02  missing further down        library..., needed_by, chain..., searched...
//   EH-L03  present but not searched    library, needed_by, present_at..., searched...
//           a name with a slash has its own L01, L02 or L03: library, needed_by, tried;
//           current_folder if the name is relative
//   EH-L04  file of another machine     built_for, machine
//   EH-L05  dependency of another one   built_for, machine, library, needed_by
//   EH-L06  other word size             built_for, machine, library, needed_by
//   EH-L08  C library too old           version..., needs (highest), library, path, have, required_by
//   EH-L09  C++ runtime too old         version..., needs, library, path, have, required_by
//   EH-L10  GLIBC_ABI_DT_RELR           version, library, path, have, required_by;
//                                       or needs, have, required_by; or unmarked, required_by
//   EH-L15  any other version           version..., needs, library, path, have, required_by
//   EH-L19  static TLS                  static_tls, reserve, library... (on musl EH-L29 with problem)
//   EH-L27  processor too old           needs ("x86-64-v4"), have, required_by
//   EH-L28  built for musl, on glibc    library, needed_by
//   EH-L29  built for glibc, on musl
// and the file's own problems (EH-F.., EH-L07, EH-L25), with library and needed_by for a dependency.
std::vector<Diagnosis> diagnose_closure(const Machine& machine, const Closure& closure);

}  // namespace enginehost::linker
