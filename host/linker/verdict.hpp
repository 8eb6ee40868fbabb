// Whether a loader would take a file that it finds.
#pragma once
#include <optional>
#include <string>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

struct Refusal {
  std::string why;
  bool fatal = false;  // the loader stops with an error; otherwise it looks further
  Diagnosis diagnosis;
};

// The order of the questions is that of open_verify and _dl_map_object_from_fd (glibc elf/dl-load.c): another
// class or machine is passed over, everything else that is wrong ends the search with an error. `direct` =
// the requested file.
std::optional<Refusal> refusal_of(const Machine& machine, const binary::BinaryInfo& info,
                                  const std::string& path, bool direct);

}  // namespace enginehost::linker
