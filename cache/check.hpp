// What must hold of a cache at every moment, whoever died where: one checker for `engine-cache verify` and
// for the tests.
//
//   I1  nothing under trees/ has other bytes than its list says, and every list is the one its name says
//   I2  a record means that its trees and its view are there and right
//   I5  when nobody is at work and everything was swept: nothing unfinished, nothing that no record refers to
// I4 (what is leased stays as it is) and I9 (nothing is written to a read-only layer) are comparisons:
// fingerprint_of.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "cache/problem.hpp"

namespace enginehost::cache {

struct CheckOptions {
  bool deep = true;      // hash every file; a file with two names once
  bool at_rest = false;  // I5, too
  std::string build;     // only this build's part; empty: everything
  std::optional<CancelToken> cancel;
};

struct Violation {
  const char* invariant;
  std::string build;  // that it concerns; empty: no record does
  Problem problem;    // its path is that in the view, or in the cache where there is no view of it
};

// Reads only. EH-P10 when canceled; EH-F16, EH-F23 as Store::check_readable().
Result<std::vector<Violation>> check(const std::filesystem::path& root, const CheckOptions& options = {});

// A digest of everything below a folder: names, kinds, modes, sizes, times of change and contents.
std::string fingerprint_of(const std::filesystem::path& folder);

}  // namespace enginehost::cache
