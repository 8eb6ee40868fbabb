// Where a dynamic loader would look, and what it would find: the closure of a shared library over a described
// machine. Nothing is loaded or run. Linux (glibc and musl); Windows and dyld have other rules and other
// files.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "host/binary/binary.hpp"
#include "host/linker/described_files.hpp"
#include "host/linker/machine.hpp"

namespace enginehost::linker {

// Reads each file once, however often it is asked for, and remembers which folders do not exist. Belongs to
// one thread; may serve many closures over the same machine as long as the files do not change. Keeps up to
// 32 folders open while it lives.
class Reader {
 public:
  // A folder that is searched, looked at once.
  struct Folder {
    std::string path;           // as it was asked for
    bool exists = true;         // false only when it certainly does not
    FileDescriptor descriptor;  // files are opened from here; not valid: by their whole path
  };

  explicit Reader(std::filesystem::path root = {});
  // These files and nothing else: no disk is looked at. They must outlive it.
  explicit Reader(const DescribedFiles& files) : described_(&files) {}
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  // The library at this path of the machine, or why it could not be read. The reference lives as long as the
  // Reader.
  const Result<binary::BinaryInfo>& read(const std::string& path);
  // The library of this name in the folder, whose whole path is `path`; null when no such file exists there.
  const Result<binary::BinaryInfo>* find(const Folder& folder, const std::string& name,
                                         const std::string& path);
  // The reference lives as long as the Reader.
  const Folder& folder(const std::string& path);
  // False only when the folder certainly does not exist.
  bool folder_exists(const std::string& path) { return folder(path).exists; }
  // Whether a file of that name exists; answers without reading it.
  bool file_exists(const std::string& path);
  // A file, and no folder, also behind links.
  bool is_file(const std::string& path) const;
  // Of what lies in the folder, sorted; as far as it can be told.
  std::vector<std::string> names_in(const std::string& folder) const;
  const std::filesystem::path& root() const { return root_; }
  // The path under root(), with the machine's absolute links kept inside it.
  std::filesystem::path on_disk(const std::string& path) const;
  // How many files were opened so far.
  std::size_t files_read() const { return files_.size(); }

 private:
  std::filesystem::path root_;
  const DescribedFiles* described_ = nullptr;
  binary::Buffers buffers_;
  std::unordered_map<std::string, std::unique_ptr<Result<binary::BinaryInfo>>> files_;
  std::unordered_map<std::string, Folder> folders_;
  std::size_t folders_open_ = 0;
};

struct Request {
  std::filesystem::path file;  // the library to be opened, absolute
  // What our loader opens before it, by absolute path and in this order: their SONAMEs serve later needs,
  // which is how a library without RUNPATH finds its neighbor. They take part in the closure like the file
  // itself.
  std::vector<std::filesystem::path> preloaded;
  bool check_versions = true;
  // GLIBC_TUNABLES as the process was started with it (loader_tunables_at_start); "" = not set.
  std::string tunables;
};

// One library of the closure, in load order.
struct Object {
  std::string name;  // as it was asked for: "libcudart.so.12"; the file itself and preloads: their path
  std::string path;  // where the loader finds it
  std::string soname;
  std::string needed_by;  // path of the first library that needed it; "" = the file itself or a preload
  std::string found_by;   // "request", "preloaded", "RPATH of /a/libx.so", "LD_LIBRARY_PATH", "RUNPATH of
                          // /a/libx.so", "ld.so.cache", "default", "path", "already loaded"
  int parent = -1;        // index in Closure::objects of needed_by; -1 = none
  const binary::BinaryInfo* info =
      nullptr;  // lives in the Reader; null for "already loaded" files that cannot be read
};

struct Searched {
  std::string directory;  // one line a folder; its hwcaps sub-folders are not listed
  std::string why;        // "RUNPATH of libfoo.so", "LD_LIBRARY_PATH", "/etc/ld.so.cache", "default"
  bool exists = true;
};

struct Missing {
  std::string name;                     // as it is written; one that is searched for with its tokens expanded
  std::string needed_by;                // path
  std::string tried;                    // of a name with a slash in it: the one path that the loader tries
  bool from_current_folder = false;     // tried: the name is relative
  std::vector<std::string> chain;       // paths, the requested file first, needed_by last
  std::vector<Searched> searched;       // in the loader's order
  std::vector<std::string> present_at;  // files of that name beside the closure's libraries that the loader
                                        // does not look at: a RUNPATH is missing, or is not inherited (L03)
};

// A file that the loader looked at and did not take, or takes and dies of.
struct Rejected {
  std::string name;
  std::string path;
  std::string needed_by;  // "" = the requested file itself
  std::string why;        // short: "aarch64", "32-bit", "HTML page", "truncated"; a sentence is explain's
  bool fatal = false;  // the search ends here with an error; otherwise it goes on, at the next folder or list
  Diagnosis diagnosis;  // EH-L04 direct or EH-L05 as a dependency (other machine), EH-L06 (other class), or
                        // the file's own first problem (EH-F02 ... EH-F13, EH-L07, EH-L25)
};

struct VersionProblem {
  std::string version;       // "GLIBC_2.99"
  std::string library;       // "libc.so.6"
  std::string path;          // the file that was found for it
  std::string required_by;   // path
  bool weak = false;         // the loader only warns
  std::string newest;        // the newest version of the same family which that file defines; "" = none
  bool unversioned = false;  // the file has no versions at all, and has a symbol that is asked for with one:
                             // the loader ends the process
};

struct HighestVersion {
  std::string family;   // "GLIBC", "GLIBCXX", "CXXABI"
  std::string version;  // "2.34"
  std::string library;
  std::string required_by;  // path
};

// A closure of more is not followed further.
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
  // What the loader refuses although each file on its own is in order: EH-L10, EH-L19, EH-L20, EH-L29.
  std::vector<Diagnosis> refused;
  // What it may refuse, or what was not looked at to the end: only loading tells.
  std::vector<Diagnosis> doubts;
  std::string file;         // the requested file
  Libc libc = Libc::glibc;  // whose loader was asked

  // Whether the loader would bring all of it up: nothing missing, nothing rejected fatally, nothing refused,
  // no version unsatisfied. Undefined symbols are another pass (symbols.hpp).
  bool loads() const;
  const Object* find(std::string_view soname_or_path) const;
};

// The closure as the machine's loader would build it: breadth first, each name once. Which library calls
// dlopen does not matter: a file that is opened by its path has no loader of its own (glibc elf/dl-load.c,
// with
// __RTLD_CALLMAP), or the program as such (musl). Files are read through `reader`, which must have
// machine.root as its root and must outlive the closure.
Closure close(const Machine& machine, const Request& request, Reader& reader);

// What the closure says, as diagnoses, worst first; empty when it loads. One diagnosis a cause, not a line a
// file: missing libraries of the same needer come together. Codes and evidence (file = the requested file,
// except where a file itself is at fault: then it is that file):
//   EH-L01  directly missing     library..., needed_by, searched...
//   EH-L02  missing further down library..., needed_by, chain..., searched...
//   EH-L03  there but not looked at: library, needed_by, present_at..., searched...
//   Of the three, a name with a slash in it by itself: library, needed_by, tried; current_folder if relative
//   EH-L04  file of another machine  built_for, machine      EH-L05  the same of a dependency: + library,
//   needed_by EH-L06  other word size      built_for, machine, library, needed_by EH-L08  C library too old
//   version..., needs (highest), library, path, have, required_by EH-L09  C++ runtime too old  version...,
//   needs, library, path, have, required_by EH-L10  GLIBC_ABI_DT_RELR    version, library, path, have,
//   required_by; or needs, have, required_by; or unmarked, required_by   EH-L19  static TLS  static_tls,
//   reserve, library... (on musl EH-L29 with problem) EH-L15  any other version    version..., needs,
//   library, path, have, required_by EH-L27 processor too old    needs ("x86-64-v4"), have, required_by
//   EH-L28  built for musl       library, needed_by (on glibc);   EH-L29  built for glibc (on musl) and the
//   file's own problems (EH-F.., EH-L07, EH-L25), with library and needed_by when it is a dependency.
std::vector<Diagnosis> diagnose_closure(const Machine& machine, const Closure& closure);

}  // namespace enginehost::linker
