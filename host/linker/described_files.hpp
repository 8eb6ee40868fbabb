// Libraries known by their metadata instead of a disk. The same code then checks builds whose archives are
// elsewhere and builds on disk.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/binary/binary.hpp"

namespace enginehost::linker {

// Paths are absolute and written with "/". Thread safety: a plain value; const use from several threads is
// safe.
class DescribedFiles {
 public:
  // Adds a separate file: `info` gets an identity.
  void add(const std::string& path, binary::BinaryInfo info);
  // Adds a link to a file or folder; `target` is relative to the link's folder, as in links.
  void add_link(const std::string& path, const std::string& target);

  // Returns the library that a path leads to; null if there is none.
  const binary::BinaryInfo* find(std::string_view path) const;
  bool is_folder(std::string_view path) const;
  // Returns the names directly in the folder, sorted.
  std::vector<std::string> names_in(std::string_view folder) const;

 private:
  void note_folders(const std::string& path);
  // Returns the path without links, "." and ".."; empty for a loop of links.
  std::string resolved(std::string_view path) const;

  std::map<std::string, binary::BinaryInfo> files_;
  std::map<std::string, std::string> links_;
  std::set<std::string> folders_ = {""};  // "" is the root
};

}  // namespace enginehost::linker
