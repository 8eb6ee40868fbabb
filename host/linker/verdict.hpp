// Whether a loader accepts a file that it finds.
#pragma once
#include <optional>
#include <string>

#include "host/linker/linker.hpp"

namespace enginehost::linker {

struct Refusal {
  std::string why;
  bool fatal = false;  // the loader stops with an error; otherwise it continues its search
  Diagnosis diagnosis;
};

// Returns why the loader would refuse the file; nothing if it accepts it. The checks have the order of
// open_verify and _dl_map_object_from_fd (glibc elf/dl-load.c): a file of another class or machine is
// skipped, every other problem ends the search with an error. `direct` = the requested file.
std::optional<Refusal> refusal_of(const Machine& machine, const binary::BinaryInfo& info,
                                  const std::string& path, bool direct);

}  // namespace enginehost::linker
