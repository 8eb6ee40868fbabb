// The paths dyld tries for one name.
#pragma once
#include <string>
#include <vector>

#include "host/linker/dyld.hpp"

namespace enginehost::linker {

struct DyldTry {
  std::string path;
  std::string why;       // "LC_RPATH of libx.dylib", "path", "DYLD_LIBRARY_PATH"
  std::string found_by;  // "LC_RPATH of /a/libx.dylib"
  bool fallback = false;
};

// `chain`: the image that needs the name, then those that brought it in, the caller of dlopen, and the
// program.
std::vector<DyldTry> dyld_tries(const AppleMachine& machine, const std::string& name,
                                const std::vector<std::pair<std::string, const binary::BinaryInfo*>>& chain);

}  // namespace enginehost::linker
