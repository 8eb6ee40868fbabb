// Libraries that are known by what they say of themselves, in the place of a disk to read them from: a build
// whose archives are elsewhere is looked at by the same code as one that lies here.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/binary/binary.hpp"

namespace enginehost::linker {

// Paths are absolute and written with "/". A plain value; const use from several threads is safe.
class DescribedFiles {
 public:
  // Each is a file of its own: `info` gets an identity.
  void add(const std::string& path, binary::BinaryInfo info);
  // Of a file or a folder; `target` as links have it, from the link's own folder on.
  void add_link(const std::string& path, const std::string& target);

  // The library that a path leads to; null when it leads to none.
  const binary::BinaryInfo* find(std::string_view path) const;
  bool is_folder(std::string_view path) const;
  // Of what lies directly in the folder, sorted.
  std::vector<std::string> names_in(std::string_view folder) const;

 private:
  void note_folders(const std::string& path);
  // Where it leads, without links, "." and ".."; empty for a loop of links.
  std::string resolved(std::string_view path) const;

  std::map<std::string, binary::BinaryInfo> files_;
  std::map<std::string, std::string> links_;
  std::set<std::string> folders_ = {""};  // "" is the root
};

}  // namespace enginehost::linker
