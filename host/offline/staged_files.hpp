// The files of a bundle between their arrival and their place in a tree.
#pragma once
#include <filesystem>
#include <functional>
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

// Files lie under their digests in a stage's folder; the caller has checked the bytes that it writes. One
// thread at a time. Errors: EH-F15, EH-F16, EH-F17 with "file", "folder".
class StagedFiles {
 public:
  StagedFiles(const cache::Store& store, std::filesystem::path folder);

  // Sets the digests and sizes to keep; all other files are skipped.
  void want(std::map<std::string, std::uint64_t> wanted) { wanted_ = std::move(wanted); }
  bool is_wanted(const std::string& sha256) const { return wanted_.contains(sha256); }

  // Reads a file by read(take), which passes its bytes to `take`, and keeps it if it is wanted. Returns the
  // digest of the bytes.
  using Take = std::function<Result<void>(std::string_view)>;
  Result<std::string> keep(const std::string& sha256, const std::function<Result<void>(const Take&)>& read);

  // Finds installed trees, in any layer or the other caches, that have these files. Error: EH-F44 ("missing",
  // "count", "bytes") when some files are found nowhere.
  Result<void> find_in_caches(const std::vector<Blob>& blobs, const std::vector<cache::Store>& others);
  // Copies a found file, if it is wanted, and checks it.
  Result<void> take_from_cache(const Blob& blob);

  // Counts how often those trees use each file: the last use moves it, the others copy it.
  void count_uses(const std::map<std::string, cache::TreeList>& trees, const std::set<std::string>& wanted);
  Result<void> fill(cache::TreeWriter& writer, const cache::TreeList& tree);

 private:
  std::filesystem::path place_of(const std::string& sha256) const { return folder_ / sha256; }

  const cache::Store& store_;
  std::filesystem::path folder_;
  std::map<std::string, std::uint64_t> wanted_;
  std::map<std::string, std::filesystem::path> found_;
  std::map<std::string, int> uses_;
};

}  // namespace enginehost::offline
