// From a build of the catalog to an installed view: sources in turn, one pass, published when everything is
// right.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.hpp"
#include "base/result.hpp"
#include "cache/store.hpp"
#include "host/manifest/catalog.hpp"
#include "host/transfer/options.hpp"
#include "host/transfer/progress.hpp"

namespace enginehost::acquire {

// A license that covers something that would be downloaded.
struct LicenseQuestion {
  std::string name;  // the key in the manifest
  manifest::License license;
  std::vector<std::string> components;
};

// What is about to happen, told before the first byte.
struct Question {
  std::string build;
  std::uint64_t download = 0;  // bytes, of the parts whose size is known
  bool download_known = true;  // false: some size is neither in the manifest nor told by the server
  std::vector<LicenseQuestion> licenses;
  std::vector<std::string> sources;  // the first of each part, for people
};

struct AcquireOptions {
  transfer::TransferOptions transfer;  // transfer.offline: url and package_index sources are skipped (EH-N10)
  std::uint64_t download_limit = std::uint64_t{16} << 30;  // an artifact without size may not be longer
  std::uint64_t unpacked_limit = std::uint64_t{64} << 30;  // of one component
  // Also when the build is installed and looks right: what the store rejected of it is brought again.
  bool refetch = false;
  int repairs = 2;  // attempts to repair a damaged install
  // Asked once when something has to be downloaded; an error (settings' EH-P..) ends the acquisition with it.
  std::function<Result<void>(const Question&)> consent;
  std::chrono::milliseconds lock_patience{120'000};  // see cache::WaitOptions
};

struct Acquired {
  cache::Installed installed;
  std::uint64_t downloaded = 0;      // bytes over the wire (or from files)
  double seconds = 0;                // 0 when it was installed already
  bool repaired = false;             // it was damaged and repaired
  bool published = false;            // by this call: it was not there, and no other process made it
  std::vector<std::string> sources;  // where the parts came from
  std::vector<Diagnosis> warnings;   // sources that failed before one served; what was damaged
};

// The record of a build that was made of these trees (the plugin's first, then the components', in order),
// without what the store fills in.
cache::Installed record_for(const manifest::Build& build, std::vector<std::string> trees);

// What is missing of a build and how large that is; asks servers for sizes the manifest does not know (not
// offline).
Result<Question> question_for(const manifest::Build& build, const cache::Store& store,
                              const AcquireOptions& options, const std::optional<CancelToken>& cancel = {});

// Installs the build unless it is installed. Per part the artifacts and their sources are tried in turn; a
// source that sent wrong bytes is not asked again. When all fail the diagnosis has the code of the class that
// decides the exit status (wrong bytes only if every source that answered sent wrong bytes) and one
// "source_tried" per source with the code of its failure. EH-N15 ("component") when no artifact has a digest
// or none a source. Blocks; any thread; any number of processes: one of them downloads, the others wait.
Result<Acquired> acquire(const manifest::Build& build, const cache::Store& store,
                         const AcquireOptions& options, const transfer::ProgressCallback& progress = {},
                         const std::optional<CancelToken>& cancel = {});

// Options for waiting on another process that show who is waited for and end when it is canceled.
cache::WaitOptions waiting(const transfer::ProgressCallback& progress,
                           const std::optional<CancelToken>& cancel);

}  // namespace enginehost::acquire
