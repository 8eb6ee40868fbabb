// Writes a component's files beneath one folder and nowhere else, and lists them while doing so.
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

// Refuses whatever a safe tree does not hold, whoever made the archive: absolute paths, "..", links that lead
// out, the same path twice, paths that differ in case only, files below a link, more bytes than the limits.
// Files get modes 0444 and 0555. EH-F19 with "entry" and "problem" for a refused entry; EH-F15/F16/F17 for
// the disk, with "file", "folder". Never changes the process' folder or umask. One thread at a time.
class TreeWriter {
 public:
  explicit TreeWriter(std::filesystem::path folder, TreeLimits limits = {});
  TreeWriter(TreeWriter&&) noexcept;
  TreeWriter& operator=(TreeWriter&&) noexcept;
  ~TreeWriter();

  // One file after another: begin_file, write any number of times (ascending, gaps are zeros), end_file.
  Result<void> begin_file(std::string_view path, bool executable);
  Result<void> write(std::string_view bytes);
  Result<void> end_file();
  // Takes over a file of the same file system that was written and hashed elsewhere: it is renamed.
  Result<void> adopt_file(std::string_view path, bool executable, const std::filesystem::path& file,
                          std::uint64_t size, std::string sha256);
  Result<void> add_link(std::string_view path, std::string_view target);

  // Waits until the files that were ended are written: files are written and hashed in another thread
  // meanwhile, and a disk failure may be told by any later call. Before anyone else reads them.
  Result<void> settle();

  // Turns a written file into the link that its content names, or gives it its mode: what a zip archive tells
  // only at its end.
  Result<void> make_link_of(std::string_view path);
  Result<void> set_executable(std::string_view path, bool executable);

  std::uint64_t bytes_written() const;
  std::size_t entries() const;

  // Checks links against what was written, makes everything durable and returns the list. The writer is
  // spent.
  Result<TreeList> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace enginehost::cache
