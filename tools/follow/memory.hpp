// The memory of a plan beside the facts of archives: files that were seen, and the inputs of each row.
#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/result.hpp"

namespace enginehost::follow {

struct SeenFile {
  std::string sha256;
  std::int64_t since = 0;  // when it was seen first
};

struct KnownRow {
  std::string inputs;  // digest of what the row was derived from
  std::string row;     // digest of the build and its components in the manifest
};

struct Memory {
  std::int64_t looked = 0;                                      // when it was written last
  std::map<std::string, std::map<std::string, SeenFile>> seen;  // by project and name of the file
  std::map<std::string, KnownRow> rows;                         // by id of the build
  std::map<std::string, std::string> toolkits;  // CUDA's version by name of the wheel; "" if it has none
};

// Returns the folder of the memory's files below the plan's facts: ENGINE.json, ENGINE-proofs.json,
// ENGINE.lock and, while a run reads archives, ENGINE.scratch.
std::filesystem::path memory_folder(const std::filesystem::path& facts);

// Returns an empty memory if there is none yet. Error: EH-M17 ("file", "problem", "remedy").
Result<Memory> read_memory(const std::filesystem::path& facts, const std::string& engine);

// Writes the memory unless nothing but the time differs. Errors: as write_file().
Result<void> write_memory(const std::filesystem::path& facts, const std::string& engine, const Memory& memory,
                          std::int64_t now);

}  // namespace enginehost::follow
