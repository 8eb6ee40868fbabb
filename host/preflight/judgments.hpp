// Parts of the static check of a build: which files are opened in which order, and the findings about each.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnosis.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/machine.hpp"
#include "host/linker/symbols.hpp"
#include "host/preflight/foreign.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// How a system's loader compares the names of libraries.
struct NameRules {
  // Returns what a file's name, or a requested one, is compared by.
  std::function<std::string(const std::string&)> key;
  std::function<bool(const std::string&)> is_library;  // by the file's name
  bool elf = false;  // a library is also known by its SONAME; the plugin's folder counts only in a view
};
NameRules elf_names();

// Index of the libraries in a build, by the names under which they are requested. The spec and the reader
// must outlive it.
class ViewIndex {
 public:
  ViewIndex(const Spec& spec, linker::Reader& reader, NameRules rules = elf_names());

  // All libraries in the search folders, sorted, without the plugin.
  const std::vector<std::string>& libraries() const { return libraries_; }
  // Returns the library with that file name or SONAME, or an empty text.
  std::string find(const std::string& name) const;
  bool in_view(const std::string& path) const;
  // True when the manifest lists the library as optional.
  bool is_optional(const std::string& path) const;
  // True when the manifest lists the library as opened while the build runs.
  bool is_lazy(const std::string& path) const;

  // Appends the view's libraries that `file` needs to `order`, leaves first, without `file` itself and
  // without those already there.
  void add_needs(const std::string& file, std::vector<std::string>& order) const;
  // Returns binary::library_names() of the file, none if it cannot be read. Reads each file once for a
  // prefix.
  const std::vector<std::string>& library_names(const std::string& file, std::string_view prefix) const;

  const Spec& spec;
  linker::Reader& reader;

 private:
  const NameRules rules_;
  std::vector<std::string> libraries_;
  std::map<std::string, std::string> by_name_;
  mutable std::map<std::pair<std::string, std::string>, std::vector<std::string>> names_in_files_;
};

std::vector<std::filesystem::path> as_paths(const std::vector<std::string>& files);

// Returns the closure of a library that is opened after those others.
linker::Closure close_after(const linker::Machine& machine, linker::Reader& reader, const std::string& file,
                            const std::vector<std::string>& opened_before, bool check_versions = true);

struct LoadOrder {
  std::vector<std::string> before;  // opened before the plugin, by path and in this order
  std::vector<std::string> later;   // not needed by the plugin by name, but it may open them while it runs
};
LoadOrder load_order_of(const ViewIndex& index);

// A loader's verdict on a library.
struct Outcome {
  linker::Closure closure;
  std::vector<Diagnosis> diagnoses;  // why it fails, worst first
  std::vector<Diagnosis> doubts;     // why it may fail
};
// Copies what the report lists of the plugin's closure.
void take_closure(const linker::Closure& closure, Report& report);
// Adds the outcome of a library of the build that the plugin may open while it runs, or (`certain`) will.
void add_later(const ViewIndex& index, const std::string& library, bool certain, Outcome outcome,
               Report& report, std::vector<Diagnosis>& doubts);
// EH-R15 for libraries that the manifest lists as opened while the build runs and that the build lacks.
void judge_missing_lazy(const ViewIndex& index, std::vector<Diagnosis>& diagnoses);
// Sets the verdict, and adds the doubts after the certain findings.
void settle(Report& report, std::vector<Diagnosis> doubts);

// Returns the paths in the folder whose appearance would satisfy the need: the file itself, and the file in
// each subfolder for newer processors that the loader tries first (glibc-hwcaps/x86-64-v3, tls). For a
// subfolder that does not exist, the first missing folder on the way. `exists` answers for folders of the
// machine.
std::vector<std::string> places_of(const linker::Machine& machine, const std::string& folder,
                                   const std::string& name,
                                   const std::function<bool(const std::string&)>& exists);

// Returns the libraries that glibc finds through the program's own DT_RPATH for `files` (opened after
// `order`) and their needs, whether or not the process has loaded them already. Needed libraries come before
// their users. Empty for most programs; the cost is then reading the program's headers.
std::vector<std::filesystem::path> found_via_program_rpath(const ViewIndex& index,
                                                           const std::vector<std::string>& order,
                                                           const std::vector<std::string>& files);

// EH-R15 for each of `files` (and of their closure) that is known to open its parts by name (cuDNN, NVRTC)
// and whose parts are neither in the build nor in the loader's search: library..., needed_by, searched... .
// The file shows the name but not how it is used, so this is a likely failure, never a certain one.
std::vector<Diagnosis> missing_parts(const ViewIndex& index, const std::vector<std::string>& files);

// Returns libraries of the build that one of `files` opens by name and that its own RUNPATH does not reach.
// Without help the machine decides which file the loader finds for them; once the build's own is open, its
// SONAME matches. cuDNN 9 for CUDA 11 searches NVRTC in "nvrtc/lib", where no wheel has it, and NVRTC 13 has
// no RUNPATH at all to find its builtins.
std::vector<std::string> parts_out_of_reach(const ViewIndex& index, const std::vector<std::string>& files);

// The file that dlopen of the name takes when `file` calls it, and how the loader finds it; empty: none.
struct FoundByName {
  std::string path, by;
};
FoundByName find_by_name(const ViewIndex& index, const std::string& file, const std::string& name);

// Returns the file's own folder, where its parts usually lie, and those that the loader searches for what it
// opens by name.
std::vector<std::string> folders_searched(const ViewIndex& index, const std::string& file);

// Returns every file of that name which the loader would take when `file` asks for it, if there were no
// other, and the one beside `file`.
std::vector<std::string> files_of_name(const ViewIndex& index, const std::string& file,
                                       const std::string& name);

// Returns the libraries of the closure that open parts of their own by name.
std::vector<std::string> openers_of_parts(const linker::Closure& closure);

// EH-R16 (cuDNN) or EH-R20 (NVRTC, TensorRT, MKL) for parts that one of `files` would open by name and that
// would come from another folder than the file itself: library..., path..., others, by, product; release and
// release_of_part as far as the files' names or their wheels show them. Two copies of one release are not
// reported.
std::vector<Diagnosis> mixed_parts(const ViewIndex& index, const linker::Closure& closure,
                                   const std::vector<std::string>& files);

// Where the libraries of a closure come from. Folders of one installation are one source: an environment of
// Python packages, whose wheels have a folder each; a toolkit; everything to which paths from $ORIGIN lead.
class Sources {
 public:
  // The spec must outlive it.
  Sources(const Spec& spec, const linker::Closure& closure);
  std::string of(const std::string& path) const;

 private:
  std::string root(std::string tree) const;

  const Spec& spec_;
  std::map<std::string, std::string> joined_;  // a tree -> the one that it belongs to
};

// Adds EH-R11 or EH-R12 to the diagnoses, or to the doubts when the descriptor is filled in at start and
// cannot be read. `on_disk` is the location of the plugin's file on this machine. Adds nothing when the file
// is no library at all: the code that reads its imports reports that.
void judge_plugin_header(const std::filesystem::path& plugin, const std::filesystem::path& on_disk,
                         std::vector<Diagnosis>& diagnoses, std::vector<Diagnosis>& doubts);

// Replaces "library missing" diagnoses of libcuda.so.1 with EH-G01, which explains why it is missing here.
// Adds EH-G02 when the closure takes a toolkit's link stub for the driver, and EH-G15 when the driver's
// library is in a folder that the loader does not search.
void judge_driver(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& diagnoses);

// EH-G08 when the closure has the driver's library and the kernel has its module, but the device file between
// them is missing or not accessible (a container, a cgroup): path, os_said. The driver itself returns 100 or
// 999 then. EH-G20 when a Linux package's library hides that of Windows in WSL. EH-G21, or the class of what
// cuInit returned, when the library cannot work.
void judge_device_files(const Spec& spec, const linker::Closure& closure, const linker::Reader& reader,
                        std::vector<Diagnosis>& warnings);
// The same for AMD's runtime and /dev/kfd, if the kernel has that file.
void judge_amd_device_file(const Spec& spec, const linker::Closure& closure, const linker::Reader& reader,
                           std::vector<Diagnosis>& warnings);

// EH-G05 when devices are known, the files hold GPU code, and none of it runs on any visible device:
// device..., compute_capability..., sass (the code in the files). The code is read from an undocumented
// section and is a union over many kernels, so the finding is likely but not certain: it is a warning, and
// the probe decides. Reads the files only when there is a device to compare with.
void judge_gpu_code(const Spec& spec, const std::vector<std::string>& files,
                    std::vector<Diagnosis>& warnings);

// Returns the names that the closure's libraries need, directly or through others. Other libraries of the
// process (a command has its network libraries loaded) do not affect whether the build loads.
std::set<std::string> names_used(const linker::Closure& closure);

// EH-R16: parts of cuDNN come from two folders. EH-G17: CUDA's libraries do. EH-G18: the process has loaded
// the runtime of another CUDA major version. EH-L35: two OpenMP runtimes would be in one process; one of them
// may be there already. Failure is likely but not certain: these are warnings, and the probe decides. All
// files of a build count as one source, in whatever folders they are.
void judge_mixed_sources(const Spec& spec, const linker::Closure& closure, std::vector<Diagnosis>& warnings);

// Returns the limit on this process's address space in bytes (RLIMIT_AS); nothing when there is no limit.
std::optional<std::uint64_t> address_space_limit();
// Same for its writable memory (RLIMIT_DATA).
std::optional<std::uint64_t> data_limit();

// True when this process cannot get the memory that the loader requests for a file with segments of this
// size. It maps and unmaps that much. False where this cannot be determined.
bool lacks_memory_for(const std::filesystem::path& file, std::uint64_t bytes);

// The memory that a closure's libraries ask for, without those that are loaded already.
struct MemoryNeed {
  std::uint64_t bytes = 0, largest_size = 0;
  const linker::Object* largest = nullptr;  // null: nothing is needed
};
MemoryNeed memory_needed_by(const linker::Closure& closure);

// Adds EH-L23 to the diagnoses when the closure's segments and the process's current mappings exceed the
// limit on its address space: the loader will certainly fail. Adds it to the warnings when they exceed the
// memory of the machine or container: they are mapped, not filled, so loading may work. Reads the running
// process. On Windows only a warning, EH-W11, when they exceed the memory that can still be committed.
void judge_memory(const Spec& spec, const linker::Closure& closure, Report& report);

// Adds to EH-L01 and EH-L02 where the library is after all: under another name ("unlinked", "linked_as", also
// for EH-L09 and EH-L15 about an older one), in a folder of an installation that the loader does not search
// ("elsewhere", "library_path", "ldconfig"; and "distribution" for NixOS), or else in another release
// ("other_release"): libavutil.so.57 where libavutil.so.58 is needed.
void explain_missing_libraries(const ViewIndex& index, std::vector<Diagnosis>& diagnoses);

// True when both paths lead to one file.
bool same_file(const std::string& a, const std::string& b);

// Symbols without a version name no library. Sets the needed library that should offer each of them, if
// another file of its name does, or if it offered them until some release. If only the names of its other
// symbols begin the same, the symbol is marked as likely.
void name_libraries(const ViewIndex& index, const linker::Closure& closure,
                    std::vector<linker::UndefinedSymbol>& symbols);

// Adds to an EH-L12, EH-L14 or EH-L15 about a symbol of a library: "path" (EH-L15) or "expected_in" (the file
// found for the library), "from_environment", "wanted" (another file of that name that offers the symbol),
// "last_release" (of the library that offered it), "installed_by" (packages that have each written the file).
void explain_missing_symbol(const ViewIndex& index, const linker::Closure& closure, Diagnosis& diagnosis);

struct Inquiry {
  const ViewIndex& index;
  const std::vector<std::string>& order;  // files that EngineHost opens first
  const std::vector<std::string>& later;  // files that the plugin opens at run time
};

// Adds to the report's warnings: EH-L03 (repaired by opening the build's file first), EH-L11 (a variable
// offers another file, of the build or of the system), EH-L17 (the process has loaded another file already),
// EH-L34 (a preload that does not exist). Turns a missing library into EH-L30 or EH-L31 when it lies in a
// folder of LD_LIBRARY_PATH that the loader does not search. Adds "from_environment" to failures caused by a
// file that the variable put first. Adds EH-R21 for a runtime of AddressSanitizer that is not preloaded.
void judge_environment(const Inquiry& inquiry, const linker::Closure& closure, Report& report);

// EH-L17 as a failure: a library of the build imports a symbol that the build's own file offers and the
// already loaded file of the same name lacks. The loader uses the loaded one. Reads more files only when
// there is such a pair.
void judge_substitution(const Inquiry& inquiry, const linker::Closure& closure,
                        std::vector<Diagnosis>& diagnoses);

// True for files that this system's loader accepts; others are checked as another system's (foreign.hpp).
bool is_native(binary::Kind kind);
// check() of preflight.hpp by this system's rules.
Report check_native(const Spec& spec);

// The rules of Linux and similar systems, for the machine in the Spec.
Report check_elf(const Spec& spec);

// Judges the plugin's header, adds its doubts after the certain findings, and lists the files that the
// verdict depends on. Reads the plugin.
void finish_at_home(const Spec& spec, Report& report);

// For spec.platform, which must not be null: system, processor, C library and its version come from the
// record. A record lists no libraries. The file's needs are therefore searched on this machine if it is of
// the record's kind, and not at all otherwise (Verdict::unsure). report.notes states which.
Report check_for_record(Spec spec, const binary::BinaryInfo& info);

}  // namespace enginehost::preflight
