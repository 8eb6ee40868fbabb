// The static check: will this build load here? Files are read, nothing is loaded or run.
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
#include "host/preflight/binary_facts.hpp"

namespace enginehost::preflight {

struct Spec {
  std::filesystem::path view;    // absolute; the build's folder. Empty: a library on its own
  std::filesystem::path plugin;  // absolute
  std::vector<std::filesystem::path>
      search;                         // absolute folders where the build's libraries lie, or single libraries
  std::vector<std::string> optional;  // patterns over paths in the view (manifest "optional")
  std::vector<std::string> lazy;      // file names opened at run time, looked up in `search`
  linker::Machine machine;            // linker::describe_this_machine() with `loaded` filled in
  const platform::Platform* platform = nullptr;  // for sentences about GPUs and drivers; may be null
  bool symbols = false;                          // the symbol pass too (EH-L12, EH-L15); costs some 10 ms
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
  std::vector<linker::Missing> missing;        // of what must be there
  std::vector<linker::Missing> missing_later;  // of what the plugin may open while it runs
  std::vector<linker::Rejected> rejected;      // found, but not taken
  struct Item {
    std::string name, path, needed_by;
  };
  std::vector<Item> closure;
  std::vector<linker::VersionProblem> versions;
  std::vector<linker::HighestVersion> highest;
  std::vector<binary::GpuCode::Entry> gpu_code;
  // What to open before the plugin, by absolute path and in this order (leaves first): the build's own
  // libraries that the plugin needs, so that neither a missing RUNPATH nor LD_LIBRARY_PATH decides which file
  // is taken.
  std::vector<std::filesystem::path> load_order;
  // What glibc finds through the DT_RPATH of the program alone, leaves first. Another program, as the helper
  // is one, has to open these before all others to be served with the same files.
  std::vector<std::filesystem::path> via_program_rpath;
  std::vector<std::filesystem::path> left_out;  // optional files that are broken
  std::vector<Diagnosis>
      warnings;  // EH-L03 (repaired by preloading), EH-L11, EH-L20, …, one for each optional loss
  std::vector<Diagnosis> diagnoses;  // why it fails (or, unsure, would); the first is the main one
  std::vector<std::string> notes;    // of inspect(): what a recorded machine told, and what this one did
  // Files outside the view that the verdict depends on, and paths whose appearing would change it: the
  // witnesses of a record about it.
  std::vector<std::filesystem::path> depends_on;
};

// Any thread; reads each file once.
Report check(const Spec& spec);

// `engine-info --inspect`: any ELF, PE or Mach-O file. Fails with the reading error (EH-F01, EH-F11, EH-L25)
// only when the file cannot be read at all; EH-F05 and the like are in the report. For a PE or Mach-O file
// the verdict on Linux is `fails` with EH-F09, beside which stands what it would need at home; given a
// platform of its own system, it is judged for that one (foreign.hpp). An ELF file with a platform:
// recorded.hpp.
Result<Report> inspect(const std::filesystem::path& file, bool symbols, const linker::Machine& machine,
                       const platform::Platform* platform = nullptr);

// EH-L22, EH-L24 or EH-L23 when code in this folder cannot be mapped executable: the mount's flag, and a
// trial mapping of one page of `file`.
Result<void> check_executable_mapping(const std::filesystem::path& file);

// The contract's inspect document. `describe` turns a diagnosis into JSON (explain::to_json).
Json to_json(const Report& report, Json (*describe)(const Diagnosis&));

}  // namespace enginehost::preflight
