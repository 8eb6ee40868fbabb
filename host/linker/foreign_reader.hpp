// Files of another machine: each is read once, and found by name under that machine's rules.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.hpp"
#include "host/binary/binary.hpp"
#include "host/linker/described_files.hpp"

namespace enginehost::linker {

// Paths are this machine's. May serve many closures while the files do not change. Thread safety: one thread.
class ForeignReader {
 public:
  // `machine` chooses the slice of universal Mach-O files (binary::read_binary). With `described`, which must
  // outlive the reader, no disk is read; the descriptions are of that machine.
  explicit ForeignReader(std::string machine = {}, const DescribedFiles* described = nullptr)
      : machine_(std::move(machine)), described_(described) {}

  // Returns the library, or why it could not be read. The reference lives as long as the reader.
  const Result<binary::BinaryInfo>& read(const std::filesystem::path& file);
  // Returns the file of that name in the folder, ignoring case; empty if there is none.
  std::filesystem::path find_ignoring_case(const std::filesystem::path& folder, std::string_view name);
  bool folder_exists(const std::filesystem::path& folder);
  bool file_exists(const std::filesystem::path& file) const;
  // Returns the names in the folder, sorted, as far as it can be read.
  std::vector<std::string> names_in(const std::filesystem::path& folder) const;
  bool is_described() const { return described_ != nullptr; }

 private:
  using Listing = std::unordered_map<std::string, std::string>;  // name in lower case -> name
  struct Folder {
    bool exists = false;
    Listing names;
  };
  const Folder& folder(const std::filesystem::path& path);

  std::string machine_;
  const DescribedFiles* described_;
  std::map<std::string, Result<binary::BinaryInfo>> files_;
  std::map<std::string, Folder> folders_;
};

}  // namespace enginehost::linker
