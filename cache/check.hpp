// The invariants of a cache, which hold at every moment even if processes die. `engine-cache verify` and the
// tests use the same checker.
//
//   I1  every file under trees/ has the bytes of its list, and every list has the digest in its name
//   I2  a recorded build has its trees and its view, and both are correct
//   I5  when no process is active and everything was swept: nothing unfinished, nothing unreferenced
//
// I4 (leased files do not change) and I9 (nothing writes to a read-only layer) are comparisons, made by the
// tests.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "cache/store.hpp"

namespace enginehost::cache {

struct CheckOptions {
  bool deep = true;      // hash every file; a file with two names once
  bool at_rest = false;  // also check I5
  std::string build;     // only this build's part; empty: everything
  std::optional<CancelToken> cancel;
};

struct Violation {
  const char* invariant;
  std::string build;  // the build that it concerns; empty if no record does
  Problem problem;    // its path is that in the view, or in the cache for files outside of views
};

// Reads only. Errors: EH-P10 if canceled; EH-F16 and EH-F23 as Store::check_readable().
Result<std::vector<Violation>> check(const std::filesystem::path& root, const CheckOptions& options = {});

}  // namespace enginehost::cache
