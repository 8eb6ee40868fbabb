// Installs a build of the catalog: tries its sources in turn, receives and unpacks in one pass, and publishes
// the result when everything is verified.
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
  std::uint64_t download = 0;        // bytes of these components, of the parts whose size is known
  std::string accepted_before = {};  // when this user accepted another text of this id (host/consent)
};

// The pending download, as shown before the first byte is fetched.
struct Question {
  std::string build;
  std::string repository;              // of the build's manifest; empty: it was read from a record
  std::vector<std::string> signed_by;  // the trusted keys that signed that manifest
  std::uint64_t download = 0;          // bytes, of the parts whose size is known
  bool download_known = true;          // false: neither the manifest nor the server gives some size
  std::vector<LicenseQuestion> licenses;
  std::vector<std::string> components;  // the ids of the missing parts
  std::vector<std::string> sources;     // the first source of each part, for display
  std::vector<std::string> origins;     // the kind of each source, for a sentence: "the package index"
};

struct AcquireOptions {
  transfer::TransferOptions transfer;  // transfer.offline: url and package_index sources are skipped (EH-N10)
  std::uint64_t download_limit = std::uint64_t{16} << 30;  // of an artifact without a size in the manifest
  std::uint64_t unpacked_limit = std::uint64_t{64} << 30;  // of one component
  // Also for an installed build that looks right: fetches again the parts that the store rejected.
  bool refetch = false;
  // Bytes of an installed build that are hashed before it is used; 0: only sizes, times and inodes are
  // compared.
  std::uint64_t hash_bytes = 0;
  int repairs = 2;  // attempts to repair a damaged install
  // cache::Installed::only_for of the build; an installed build is never narrowed by it. Unset: as it is.
  std::optional<std::string> only_for;
  // Called once if something has to be downloaded. An error (the settings' EH-P..) ends the acquisition.
  std::function<Result<void>(const Question&)> consent;
  std::chrono::milliseconds lock_patience{120'000};  // see cache::WaitOptions
};

struct Acquired {
  cache::Installed installed;
  std::uint64_t downloaded = 0;      // bytes over the network, or from files
  double seconds = 0;                // 0 if it was installed already
  bool repaired = false;             // it was damaged and repaired
  bool published = false;            // by this call, and not by another process
  std::vector<std::string> sources;  // where the parts came from
  std::vector<Diagnosis> warnings;   // sources that failed before one served; what was damaged
};

// Returns the record of a build that was made of these trees (the plugin's first, then the components' in
// order), without the fields that the store fills in.
cache::Installed record_for(const manifest::Build& build, std::vector<std::string> trees,
                            std::string files_by);

// Returns the missing parts of a build and their size. Asks servers for sizes that the manifest does not
// give, unless offline.
Result<Question> question_for(const manifest::Build& build, const cache::Store& store,
                              const AcquireOptions& options, const std::optional<CancelToken>& cancel = {});

// Installs the build unless it is installed. Tries the artifacts of each part and their sources in turn; a
// source that sent wrong bytes is not asked again.
//
// Blocks. Thread safety: any thread and any number of processes; one of them downloads, the others wait.
// Errors: if all sources fail, the diagnosis has the code of the class that decides the exit status (wrong
// bytes only if every source that answered sent wrong bytes), and one "source_tried" per source with its own
// code. EH-P10 with "kept" and "total" of the download if some of it arrived: the next call continues. EH-N15
// ("component"): no artifact has a digest, or none a source.
Result<Acquired> acquire(const manifest::Build& build, const cache::Store& store,
                         const AcquireOptions& options, const transfer::ProgressCallback& progress = {},
                         const std::optional<CancelToken>& cancel = {});

struct FetchedTrees {
  std::vector<std::string> trees;  // of the components, in their order
  std::uint64_t downloaded = 0;    // bytes over the network, or from files
  std::vector<std::string> sources;
  std::vector<Diagnosis> warnings;  // as in Acquired
};

// Fetches the components of a build into the store's trees as acquire() does, and makes no view and no record
// of them. `stage`: of the caller; the trees are there as long as it lives, later until something is swept.
// Errors: as acquire().
Result<FetchedTrees> fetch_trees(const manifest::Build& build, cache::Stage& stage, const cache::Store& store,
                                 const AcquireOptions& options,
                                 const transfer::ProgressCallback& progress = {},
                                 const std::optional<CancelToken>& cancel = {});

// Returns options for waiting on another process. They show which process is waited for, and end when the
// call is canceled.
cache::WaitOptions waiting(const transfer::ProgressCallback& progress,
                           const std::optional<CancelToken>& cancel);

// Returns the bytes of one file of a component, from the parts of its zip archives that hold it. The caller
// must compare digests. `scratch` is emptied. `build` gives the base of relative sources. Errors: that of the
// first source if none gives the file: as unpack_parts, EH-N10 offline; EH-N15 if there is no zip archive.
Result<std::string> file_of_component(const manifest::Build& build, const manifest::Component& component,
                                      const std::string& view_path, const std::filesystem::path& scratch,
                                      const AcquireOptions& options,
                                      const std::optional<CancelToken>& cancel = {});

// Runs cache::Store::repair under the build's lock. Fetches missing bytes from the artifacts' sources in
// turn, as parts of zip archives. Files that can only be fetched as a whole (other archives, servers without
// ranges) stay in Repaired::left. The caller then uses Store::reject_damaged and acquire(). With `build`
// nullptr only local files are used. EH-F18 if another process works on the build for too long. Blocks; any
// thread.
Result<cache::Repaired> repair(std::string_view id, const manifest::Build* build, const cache::Store& store,
                               const AcquireOptions& options, const std::optional<CancelToken>& cancel = {});

}  // namespace enginehost::acquire
