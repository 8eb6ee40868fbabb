// The facts in a library file, as text for people and as JSON for programs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/binary/binary.hpp"
#include "host/linker/linker.hpp"
#include "host/linker/machine.hpp"
#include "host/platform/platform.hpp"

namespace enginehost::preflight {

// Everything that --inspect shows of one file except the libraries it is loaded with.
struct BinaryFacts {
  binary::BinaryInfo info;                 // of a universal file: the first slice, with the machines of all
  std::vector<binary::BinaryInfo> slices;  // of a universal file: each slice separately
  binary::PeResources resources;
  std::string gpu_code_note;  // why the list of GPU code may be incomplete
};

// `info` is the result of read_binary() for the file without a choice of slice.
BinaryFacts gather_facts(const std::filesystem::path& file, binary::BinaryInfo info);

// The member "binary" of the contract's inspect document. Members that do not apply to the format are left
// out.
Json to_json(const BinaryFacts& facts);

// Returns the lines of a report; each begins with its own keyword ("machine", "needs", ...). with_needs =
// false for a report that lists the libraries it would be loaded with.
std::vector<std::string> to_lines(const BinaryFacts& facts, bool with_needs = true);

// The static check: will this build load here? Reads files; loads and runs nothing.

struct Spec {
  std::filesystem::path view;    // absolute; the build's folder. Empty: a single library
  std::filesystem::path plugin;  // absolute
  std::vector<std::filesystem::path>
      search;                         // absolute folders where the build's libraries lie, or single libraries
  std::vector<std::string> optional;  // patterns over paths in the view (manifest "optional")
  std::vector<std::string> lazy;      // file names opened at run time, looked up in `search`
  linker::Machine machine;            // linker::describe_this_machine() with `loaded` filled in
  const platform::Platform* platform = nullptr;  // for sentences about GPUs and drivers; may be null
  bool symbols = false;                          // run the symbol pass too (EH-L12, EH-L15); costs some 10 ms
  bool versioned_symbols = false;                // the pass for symbols of which the library is known
  bool plugin_header = true;                     // the plugin must export a readable engine_plugin_v1
};

enum class Verdict {
  loads,
  fails,
  unsure  // the plugin's own closure is whole, but a library it may open at run time is not: the probe
          // decides
};
const char* name_of(Verdict verdict);

struct Report {
  Verdict verdict = Verdict::loads;
  std::filesystem::path file;  // the plugin, or the inspected file
  binary::Kind kind = binary::Kind::unknown;
  BinaryFacts facts;                           // filled by inspect() only
  std::vector<linker::Missing> missing;        // needed to load
  std::vector<linker::Missing> missing_later;  // that the plugin may open while it runs
  std::vector<linker::Rejected> rejected;      // found, but not accepted
  struct Item {
    std::string name, path, needed_by;
  };
  std::vector<Item> closure;
  std::vector<linker::VersionProblem> versions;
  std::vector<linker::HighestVersion> highest;
  std::vector<binary::GpuCode::Entry> gpu_code;
  // Files to open before the plugin, by absolute path and in this order (leaves first): the build's own
  // libraries that the plugin needs, and those that are opened by a name that the loader does not find.
  // Neither a missing RUNPATH nor LD_LIBRARY_PATH then decides which file is used.
  std::vector<std::filesystem::path> load_order;
  // Files that glibc finds only through the DT_RPATH of this program, leaves first. Another program, such as
  // the probe, must open these before all others to get the same files.
  std::vector<std::filesystem::path> via_program_rpath;
  std::vector<std::filesystem::path> left_out;  // optional files that are broken
  std::vector<Diagnosis>
      warnings;  // EH-L03 (repaired by preloading), EH-L11, EH-L20, …, one for each optional loss
  std::vector<Diagnosis> diagnoses;  // why it fails (or, unsure, would); the first is the main one
  std::vector<std::string>
      notes;  // from inspect(): which facts come from a recorded machine and which from this one
  // Files outside the view that the verdict depends on, and paths whose appearance would change it. They
  // become the dependency stamps of a record.
  std::vector<std::filesystem::path> depends_on;
};

// Any thread; reads each file once.
Report check(const Spec& spec);

// `engine-info --inspect`: checks any ELF, PE or Mach-O file. Fails with the reading error (EH-F01, EH-F11,
// EH-L25) only when the file cannot be read at all; EH-F05 and the like are in the report. For a PE or Mach-O
// file the verdict on Linux is `fails` with EH-F09, together with what it would need on its own system. With
// a platform of its own system it is judged for that platform (foreign.hpp). For an ELF file with a platform
// see recorded.hpp. `facts`: this machine, for what only its facts explain (driver, container, variables).
Result<Report> inspect(const std::filesystem::path& file, bool symbols, const linker::Machine& machine,
                       const platform::Platform* platform = nullptr,
                       const platform::Platform* facts = nullptr);

// EH-L22, EH-L24 or EH-L23 when code in this folder cannot be mapped executable: reads the mount's flags and
// maps one page of `file`.
Result<void> check_executable_mapping(const std::filesystem::path& file);

// Makes the contract's inspect document. `describe` turns a diagnosis into JSON (explain::to_json).
Json to_json(const Report& report, Json (*describe)(const Diagnosis&));

}  // namespace enginehost::preflight
