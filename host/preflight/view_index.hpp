// Index of the libraries in a build, by the names under which they are requested.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/linker/linker.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// The spec and the reader must outlive it.
class ViewIndex {
 public:
  ViewIndex(const Spec& spec, linker::Reader& reader);

  // All libraries in the search folders, sorted, without the plugin.
  const std::vector<std::string>& libraries() const { return libraries_; }
  // Returns the library with that file name or SONAME, or an empty text.
  std::string find(const std::string& name) const;
  // True when the manifest lists it as optional.
  bool optional(const std::string& path) const;
  bool in_view(const std::string& path) const;

  // Appends the view's libraries that `file` needs to `order`, leaves first, without `file` itself and
  // without those already there.
  void add_needs(const std::string& file, std::vector<std::string>& order) const;

 private:
  void visit(const std::string& file, std::set<std::string>& visited, std::vector<std::string>& order,
             int depth) const;
  const Spec& spec_;
  linker::Reader& reader_;
  std::vector<std::string> libraries_;
  std::map<std::string, std::string> by_name_;
};

}  // namespace enginehost::preflight
