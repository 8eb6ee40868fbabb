// Checks whether a build's libraries would find each other on a user's machine, from descriptions of the
// files. The archives need not be present.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "host/linker/linker.hpp"

namespace enginehost::publish {

// Thread safety: a plain value; const use from several threads is safe.
class LibraryList final : public linker::DescribedFiles {
 public:
  // Adds a separate file: `info` gets an identity.
  void add(const std::string& path, binary::BinaryInfo info);
  // Adds a link to a file or folder; `target` is relative to the link's folder, as in links.
  void add_link(const std::string& path, const std::string& target);

  const binary::BinaryInfo* find(std::string_view path) const override;
  bool is_folder(std::string_view path) const override;
  std::vector<std::string> names_in(std::string_view folder) const override;

 private:
  void note_folders(const std::string& path);
  // Returns the path without links, "." and ".."; empty for a loop of links.
  std::string resolved(std::string_view path) const;

  std::map<std::string, binary::BinaryInfo> files_;
  std::map<std::string, std::string> links_;
  std::set<std::string> folders_ = {""};  // "" is the root
};

// Paths are those of the view, written with "/".
struct DescribedBuild {
  LibraryList files;  // below described_view
  std::string plugin;
  std::vector<std::string> search, optional, lazy;  // as in the manifest
  bool musl = false;
};
inline constexpr const char* described_view = "/view";
// Converts "lib/libx.so" to "/view/lib/libx.so", and back.
std::string in_described_view(const std::string& path);
std::string view_path_of(const std::string& path);

// The libraries that a loader would miss on a machine on which nothing exists but the build; libraries of the
// system are therefore among them.
struct DescribedMissing {
  std::vector<linker::Missing> at_load,
      later;  // `later`: of libraries that the plugin may open while it runs
};

// Runs the search part of preflight's check. On Windows, whose paths differ, nothing is reported as missing.
// Any thread.
DescribedMissing check_described(const DescribedBuild& build);

}  // namespace enginehost::publish
