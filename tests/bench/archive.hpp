// Archives for the benchmarks of installing.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace enginehost::bench {

// An archive ("zip", "tar.zst") of real libraries of this machine below lib/, about `bytes` unpacked, and
// with `marker` an empty file of that name. Made once and kept. Empty when it cannot be made.
std::filesystem::path archive_of(std::uintmax_t bytes, const std::string& kind,
                                 const std::string& marker = {});

}  // namespace enginehost::bench
