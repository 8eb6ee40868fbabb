// The searches of glibc's loader, as reported by a probe that ran again under enginehost-audit.so.
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
  std::vector<Folder> folders;  // in search order, without the hwcaps and tls folders below them
  std::string taken;            // the file that was found; "" = none
};

// Reads the searches of the stages "preload" and "load" from everything that came over a probe's private
// channel. Lines without the nonce are ignored.
std::vector<LoaderSearch> read_loader_searches(const std::string& channel, const std::string& nonce);

// Adds the last unsuccessful search to its diagnosis: "loader_asked_for", "loader_asked_by" and one
// "loader_searched" for each folder, in the loader's order.
void add_loader_search(const std::vector<LoaderSearch>& searches, Diagnosis& diagnosis);

}  // namespace enginehost::load
