// Effects of the environment on a build's search: LD_LIBRARY_PATH, LD_PRELOAD, and the libraries that this
// process has loaded already.
#pragma once
#include <string>
#include <vector>

#include "host/preflight/preflight.hpp"
#include "host/preflight/view_index.hpp"

namespace enginehost::preflight {

struct Inquiry {
  const Spec& spec;
  const ViewIndex& index;
  linker::Reader& reader;
  const std::vector<std::string>& order;  // files that EngineHost opens first
  const std::vector<std::string>& later;  // files that the plugin opens at run time
};

// Adds to the report's warnings: EH-L03 (repaired by opening the build's file first), EH-L11 (a variable
// offers another file, of the build or of the system), EH-L17 (the process has loaded another file already),
// EH-L34 (a preload that does not exist). Turns a missing library into EH-L30 or EH-L31 when it lies in a
// folder of LD_LIBRARY_PATH that the loader does not search. Adds "from_environment" to failures caused by a
// file that the variable put first.
void judge_environment(const Inquiry& inquiry, const linker::Closure& closure, Report& report);

// EH-L17 as a failure: a library of the build imports a symbol that the build's own file offers and the
// already loaded file of the same name lacks. The loader uses the loaded one. Reads more files only when
// there is such a pair.
void judge_substitution(const Inquiry& inquiry, const linker::Closure& closure,
                        std::vector<Diagnosis>& diagnoses);

}  // namespace enginehost::preflight
