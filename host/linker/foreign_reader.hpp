// Files of a machine that is not this one: read once each, found by name as that machine's file system would.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/result.hpp"
#include "host/binary/binary.hpp"

namespace enginehost::linker {

// Belongs to one thread; may serve many closures as long as the files do not change. Paths are this
// machine's.
class ForeignReader {
 public:
  // `machine` chooses the slice of universal Mach-O files (binary::read_binary).
  explicit ForeignReader(std::string machine = {}) : machine_(std::move(machine)) {}

  // The library, or why it could not be read. The reference lives as long as the reader.
  const Result<binary::BinaryInfo>& read(const std::filesystem::path& file);
  // The file of that name in the folder, upper and lower case taken as one; empty when there is none.
  std::filesystem::path find_ignoring_case(const std::filesystem::path& folder, std::string_view name);
  bool folder_exists(const std::filesystem::path& folder);

 private:
  using Listing = std::unordered_map<std::string, std::string>;  // name in lower case -> name
  struct Folder {
    bool exists = false;
    Listing names;
  };
  const Folder& folder(const std::filesystem::path& path);

  std::string machine_;
  std::map<std::string, Result<binary::BinaryInfo>> files_;
  std::map<std::string, Folder> folders_;
};

}  // namespace enginehost::linker
