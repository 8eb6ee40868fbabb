// The files of a bundle between their arrival and their place in a tree.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "cache/store.hpp"
#include "cache/tree_writer.hpp"
#include "host/offline/bundle_list.hpp"

namespace enginehost::offline {

// Lie under their digests in a stage's folder; the caller has checked the bytes that it writes. One thread at
// a time. Disk failures: EH-F15, F16, F17 with "file", "folder".
class StagedFiles {
 public:
  StagedFiles(const cache::Store& store, std::filesystem::path folder);

  // Digests and sizes that are to be kept; everything else is only passed over.
  void want(std::map<std::string, std::uint64_t> wanted) { wanted_ = std::move(wanted); }
  bool is_wanted(const std::string& sha256) const { return wanted_.contains(sha256); }

  Result<void> begin(const std::string& sha256);
  Result<void> write(std::string_view bytes);
  Result<void> end();

  // Finds out which installed tree, of any layer or of the others, has these files. EH-F44 ("missing",
  // "count", "bytes") when some are nowhere.
  Result<void> find_in_caches(const std::vector<Blob>& blobs, const std::vector<cache::Store>& others);
  // Copies a file that was found, when it is wanted, and checks it.
  Result<void> take_from_cache(const Blob& blob);

  // How often each file is used by those trees: the last use takes it, the others copy.
  void count_uses(const std::map<std::string, cache::TreeList>& trees, const std::set<std::string>& wanted);
  Result<void> fill(cache::TreeWriter& writer, const cache::TreeList& tree);

 private:
  std::filesystem::path place_of(const std::string& sha256) const { return folder_ / sha256; }
  Diagnosis failure(int error_number, const std::filesystem::path& file) const;

  const cache::Store& store_;
  std::filesystem::path folder_;
  std::map<std::string, std::uint64_t> wanted_;
  std::map<std::string, std::filesystem::path> found_;
  std::map<std::string, int> uses_;
  FileDescriptor file_;
  std::string name_;
};

}  // namespace enginehost::offline
