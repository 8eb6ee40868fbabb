// The import libraries that the CUDA engine for Windows is linked with.
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "base/paths.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::engines::tests {

// The names of engines/cuda/windows/*.def by their DLL.
inline std::map<std::string, std::set<std::string>> import_libraries() {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(path_of(test::source_path("/engines/cuda/windows")))) {
    if (entry.path().extension() != ".def") continue;
    std::ifstream words(entry.path());
    std::string library;
    for (std::string word; words >> word;) {
      if (word == "LIBRARY")
        words >> library;
      else if (word != "EXPORTS")
        names[library].insert(word);
    }
  }
  return names;
}

}  // namespace enginehost::engines::tests
