// What the environment (LD_LIBRARY_PATH, LD_PRELOAD, the libraries this process holds already) does to a
// build's search.
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
  const std::vector<std::string>& order;  // what our loader opens first
  const std::vector<std::string>& later;  // what the plugin opens at run time
};

// Adds to the report's warnings EH-L03 (repaired by opening first), EH-L11 (a variable offers another file,
// of the build or of the system), EH-L17 (the process holds another file already), EH-L34 (a preload that is
// not there). Turns a missing library into EH-L30 or EH-L31 where it lies in a folder of LD_LIBRARY_PATH that
// the loader does not look at, and adds "from_environment" to what fails because of a file that the variable
// put first.
void judge_environment(const Inquiry& inquiry, const linker::Closure& closure, Report& report);

// EH-L17 as a failure: a library of the build imports what the build's own file of that name offers and the
// one that the process holds already does not. The loader serves the name with the latter. Costs something
// only where there is such a pair of files.
void judge_substitution(const Inquiry& inquiry, const linker::Closure& closure,
                        std::vector<Diagnosis>& diagnoses);

}  // namespace enginehost::preflight
