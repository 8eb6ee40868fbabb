// From a release to the rows of a manifest: everything is read from the wheels, nothing is guessed.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "cache/store.hpp"
#include "host/acquire/acquire.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/progress.hpp"
#include "tools/follow/index.hpp"
#include "tools/follow/plan.hpp"
#include "tools/follow/wheel.hpp"

namespace enginehost::follow {

struct Fact {
  std::string what, source;  // "glibc >=2.27", "libraries of onnxruntime-1.32.0-….whl, read whole"
};

struct DerivedRow {
  Json components = Json::object();  // by id, as in a manifest, with tree, files and ranges
  Json build;
  std::vector<Fact> facts;
  std::uint64_t fetched = 0;  // bytes over the network
};

// Where a run reads and keeps what it learns.
struct Derivation {
  const Plan& plan;
  Index& index;
  const transfer::TransferOptions& options;
  std::filesystem::path scratch;  // for files that are read whole; each is deleted when its facts are kept
  transfer::ProgressCallback progress = {};
  std::optional<CancelToken> cancel = {};
  // Directories that were read already. Rows that share one fetch less; not set: each row reads its own.
  std::shared_ptr<WheelReader> wheels = {};
  // The user's cache: archives are unpacked into it instead of the scratch folder, and the open that follows
  // finds their files there.
  const cache::Store* store = nullptr;
  std::function<Result<void>(const acquire::Question&)> consent = {};  // before an archive is fetched
};

// Returns a reader for `wheels` of several rows.
std::shared_ptr<WheelReader> wheel_reader(const std::filesystem::path& scratch,
                                          const transfer::TransferOptions& options,
                                          const std::optional<CancelToken>& cancel);

// Returns the version of the CUDA toolkit for which the wheel of that row and release was built, "13.2", by
// its METADATA; empty if that names none. Reads one or two wheels by ranges. Errors: as derive_row().
Result<std::string> read_toolkit(const Derivation& derivation, const Row& row, const std::string& version);

// Reads directory, RECORD and METADATA of the row's wheel and of its parts by ranges, and the selected files
// only where their libraries' own facts (libc, GPU code) are not in the plan's memory yet. Each archive's
// facts are stored there before the next archive is read, so an interrupted run goes on. Where only ranges
// were read, the digest of the whole archive is the index's statement, and the fact says so.
//
// GPU code counts of the row's own wheel only, and of each library in it that has any;
// `requires.cuda.code_of` of the row's build names the libraries that count instead ("libtorch_cuda.so").
// NVIDIA's components choose their kernels by the device.
//
// Errors: EH-M19 ("project", "version", "file", "problem", "remedy"): the release is not as the plan
// describes it: an unknown layout, a part that the index does not have or that the plan does not name, a
// license whose text changed ("license", "expected", "actual"), a file with other bytes than the index or
// RECORD states, or another digest than the memory has for that name. Those of fetches, with "wheel", and of
// the disk. One thread at a time for a scratch folder.
Result<DerivedRow> derive_row(const Derivation& derivation, const Track& track, const Row& row,
                              const std::string& version);

}  // namespace enginehost::follow
