// The libraries a build brings, by the names under which they are asked for.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/linker/linker.hpp"
#include "host/preflight/preflight.hpp"

namespace enginehost::preflight {

// Lives as long as the spec and the reader it was made with.
class ViewIndex {
 public:
  ViewIndex(const Spec& spec, linker::Reader& reader);

  // All libraries in the search folders, sorted, without the plugin.
  const std::vector<std::string>& libraries() const { return libraries_; }
  // The library of that file name or SONAME, or an empty text.
  std::string find(const std::string& name) const;
  // Whether the manifest says the build can do without it.
  bool optional(const std::string& path) const;
  bool in_view(const std::string& path) const;

  // The view's libraries that `file` needs, leaves first, without `file` itself; appended to `order` unless
  // there.
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
