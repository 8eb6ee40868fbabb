// Writes a component's files below one folder only, and lists them meanwhile.
#pragma once
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "cache/portable_names.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::cache {

struct TreeLimits {
  std::uint64_t bytes = std::uint64_t{64} << 30;  // of all files together
  std::uint64_t entries = 200'000;
};

// Writes the files of an untrusted archive or bundle and refuses what a safe tree does not contain: absolute
// paths, "..", links that lead out, names that other systems read otherwise (name_problem(), of links'
// targets, too), the same path twice, paths that differ in case only, files below a link, more bytes than the
// limits. Files get modes 0444 and 0555. Never changes the process's current folder or umask.
//
// Errors: EH-F19 with "entry" and "problem" for a refused entry; EH-F15/F16/F17 for the disk, with "file" and
// "folder". Thread safety: one thread at a time.
class TreeWriter {
 public:
  explicit TreeWriter(std::filesystem::path folder, TreeLimits limits = {});

  // Writes one file after another: begin_file, write any number of times (ascending, gaps are zeros),
  // end_file.
  Result<void> begin_file(std::string_view path, bool executable);
  Result<void> write(std::string_view bytes);
  Result<void> end_file();
  // Moves in a file of the same file system that was written and hashed elsewhere.
  Result<void> adopt_file(std::string_view path, bool executable, const std::filesystem::path& file,
                          std::uint64_t size, std::string sha256);
  Result<void> add_link(std::string_view path, std::string_view target);

  // Turns a written file into the link that its content names, or sets its mode: zip archives state both only
  // at their end.
  Result<void> make_link_of(std::string_view path);
  Result<void> set_executable(std::string_view path, bool executable);

  std::size_t entries() const { return entries_.size(); }

  // Checks links against the written entries, makes everything durable and returns the list. The writer
  // cannot be used afterwards.
  Result<TreeList> finish();

 private:
  // The file being written. Decoding takes longer than hashing and writing, so a second thread does the
  // latter, one piece at a time; where no thread can be started, the caller does it. Smaller files need no
  // thread.
  struct OpenFile {
    TreeEntry entry;
    FileDescriptor file;
    Sha256 digest;
    std::string filling, full;
    std::uint64_t written = 0;
    std::future<int> writing;  // of `full`; the last member, because its destruction waits for the thread

    // Each returns 0 or an errno.
    int wait() { return writing.valid() ? writing.get() : 0; }
    int write(std::string_view bytes);
    int finish();
  };

  Diagnosis disk_failure(int error_number, std::string_view path) const;
  Result<void> make_parents(std::string_view path);
  Result<void> claim(std::string_view path);
  Result<void> count_bytes(std::string_view path, std::uint64_t size);
  TreeEntry* written_file(std::string_view path);
  Result<void> check_link(const TreeEntry& link) const;
  Result<void> sync_all() const;

  std::filesystem::path folder_;
  TreeLimits limits_;
  std::uint64_t file_limit_;
  std::map<std::string, TreeEntry> entries_;  // by path
  Spellings spellings_;                       // of files, links and folders
  std::unordered_set<std::string> folders_;   // relative paths
  std::uint64_t bytes_ = 0;
  std::unique_ptr<OpenFile> open_;
};

}  // namespace enginehost::cache
