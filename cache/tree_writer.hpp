// Writes a component's files below one folder only, and lists them meanwhile.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/cancel.hpp"
#include "cache/tree_list.hpp"

namespace enginehost::cache {

struct TreeLimits {
  std::uint64_t bytes = std::uint64_t{64} << 30;  // of all files together
  std::uint64_t entries = 200'000;
};

// Writes the files of an untrusted archive and refuses what a safe tree does not contain: absolute paths,
// "..", links that lead out, the same path twice, paths that differ in case only, files below a link, more
// bytes than the limits. Files get modes 0444 and 0555. Never changes the process's current folder or umask.
//
// Errors: EH-F19 with "entry" and "problem" for a refused entry; EH-F15/F16/F17 for the disk, with "file" and
// "folder". Thread safety: one thread at a time.
class TreeWriter {
 public:
  explicit TreeWriter(std::filesystem::path folder, TreeLimits limits = {});
  TreeWriter(TreeWriter&&) noexcept;
  TreeWriter& operator=(TreeWriter&&) noexcept;
  ~TreeWriter();

  // Writes one file after another: begin_file, write any number of times (ascending, gaps are zeros),
  // end_file.
  Result<void> begin_file(std::string_view path, bool executable);
  Result<void> write(std::string_view bytes);
  Result<void> end_file();
  // Moves in a file of the same file system that was written and hashed elsewhere.
  Result<void> adopt_file(std::string_view path, bool executable, const std::filesystem::path& file,
                          std::uint64_t size, std::string sha256);
  Result<void> add_link(std::string_view path, std::string_view target);

  // Waits until the ended files are written, because another thread writes and hashes them. Any later call
  // may report a disk failure. Call it before anyone else reads the files.
  Result<void> settle();

  // Turns a written file into the link that its content names, or sets its mode: zip archives state both only
  // at their end.
  Result<void> make_link_of(std::string_view path);
  Result<void> set_executable(std::string_view path, bool executable);

  std::size_t entries() const;

  // Checks links against the written entries, makes everything durable and returns the list. The writer
  // cannot be used afterwards.
  Result<TreeList> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace enginehost::cache
