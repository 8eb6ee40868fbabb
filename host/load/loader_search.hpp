// What glibc's loader itself said about its searches, in a probe that was run once more under
// enginehost-audit.so.
#pragma once
#include <string>
#include <vector>

#include "base/diagnosis.hpp"

namespace enginehost::load {

// One name that the loader looked for.
struct LoaderSearch {
  struct Folder {
    std::string path;
    std::string rule;  // "LD_LIBRARY_PATH", "RPATH or RUNPATH", "ld.so.cache", "default", "path"
  };
  std::string name;
  std::string needed_by;        // the file that needs it; "" = the program
  std::vector<Folder> folders;  // in its order; a folder's hwcaps and tls folders are not listed beside it
  std::string taken;            // the file it ended with; "" = none
};

// The searches of the stages "preload" and "load", from all that came over a probe's private channel. Lines
// without the nonce are not the loader's.
std::vector<LoaderSearch> read_loader_searches(const std::string& channel, const std::string& nonce);

// Adds the last search that found nothing to what is told of it: "loader_asked_for", "loader_asked_by" and
// one "loader_searched" a folder, in the loader's order.
void add_loader_search(const std::vector<LoaderSearch>& searches, Diagnosis& diagnosis);

}  // namespace enginehost::load
