// Everything that a request needs: settings, machine, catalog, cache and history, each gathered once.
#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.hpp"
#include "base/json.hpp"
#include "cache/store.hpp"
#include "host/catalog/repositories.hpp"
#include "host/history/sentinel.hpp"
#include "host/history/store.hpp"
#include "host/linker/machine.hpp"
#include "host/manifest/catalog.hpp"
#include "host/platform/detect.hpp"
#include "host/platform/platform.hpp"
#include "host/settings/settings.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::open {

// Folders whose times change when a build is installed or removed, and when a record is written or cleared.
std::string builds_folder(const std::filesystem::path& cache_folder);
std::string records_folder(const std::filesystem::path& state_folder);
// The folder of the sentinels (history/sentinel.hpp).
std::string sentinels_folder(const std::filesystem::path& state_folder);

// The inputs of one request. Each part is gathered when it is first used and then stays, so that all stages
// see the same state.
//
// Thread safety: one object from one thread at a time; several objects are independent.
class OpenContext {
 public:
  // `recorded`: decides for that machine instead of this one.
  explicit OpenContext(settings::Settings settings, std::optional<platform::Platform> recorded = {},
                       std::optional<CancelToken> cancel = {});
  // The folders of a cached decision. Settings are read later, when they are first used. They were readable
  // when the decision was made; if they no longer are, warnings() says why and these folders stay.
  struct Places {
    std::filesystem::path cache_folder, state_folder;
    std::vector<std::filesystem::path> system_layers;
  };
  OpenContext(Places places, std::function<Result<settings::Settings>()> settings,
              std::optional<CancelToken> cancel);

  const settings::Settings& settings() const;
  // Returns the settings' state folder without reading the settings.
  const std::filesystem::path& state_folder() const { return state_folder_; }
  // Returns a second state folder, whose records are only read; may be empty.
  const std::filesystem::path& read_state_folder() const { return read_state_folder_; }
  const cache::Store& store() const { return store_; }
  const std::optional<CancelToken>& cancel() const { return cancel_; }
  bool is_recorded() const { return recorded_; }
  transfer::TransferOptions transfer_options() const;

  // Returns the machine's facts. Remembered facts serve while everything they depend on is unchanged
  // (platform/remembered.hpp).
  const platform::Platform& platform();
  // Looks for the system libraries that this machine's builds of the engine require (empty: of every engine)
  // and adds them to platform(). Only on Linux, where a search by name finds what the loader will find; not
  // for a recorded machine.
  void look_for_libraries(std::string_view engine);
  // Detects the machine again, without remembered facts. Facts whose detection took a second or longer are
  // still used, those of a driver that did not answer too, unless the settings ask for a refresh. Call it
  // before platform().
  void refresh() { refresh_ = true; }
  // Returns the inputs of platform().
  platform::DetectRequest detect_request() const;
  // Returns the manifests of every engine, or of those that were asked for with need_engine().
  const manifest::Catalog& catalog();
  // Says that the request is about this engine (empty: about all), so that catalog() need not read other
  // manifests. Reads the catalog again if it was read without this engine. References to it are then void.
  void need_engine(const std::string& engine);
  // Skips repositories that were recently unreachable (repositories.hpp). Call it before catalog(), which is
  // read only once.
  void spare_unreached() { spare_unreached_ = true; }
  // Reads the catalog again with the skipped repositories. Returns false if none was skipped.
  bool ask_the_spared();
  // Returns the sources of catalog().
  const catalog::CatalogOrigin& catalog_origin();
  // Sets the request's probe deadline. It may be longer than the settings' one; a build that timed out with
  // less is then tried again. Call it before fingerprint() and history().
  void allow_probe(std::chrono::seconds deadline) { probe_deadline_ = deadline; }
  // Returns history::host_fingerprint() and further parts: the program, the boot, the driver library's real
  // file and build id, the mount flags of the cache folder and of each layer, the probe program, its deadline
  // and its limit of memory, and the process limits. A record uses parts_for() the layer of its build.
  const history::Fingerprint& fingerprint();
  // Fails with EH-F22 if somebody else may change the cache. Nothing may be opened from it then.
  Result<void> check_cache() const;
  // Fails with EH-F23 or EH-F24 if records cannot be read for a transient reason. Nothing may be decided
  // then, because a quarantined build would be used.
  Result<void> check_records();
  // Returns the valid records on disk, and those kept in memory because the state folder cannot be written.
  const history::History& history() { return records().history; }
  // Returns also those that no longer hold, and the builds whose records cannot be read.
  const history::ReadResult& records();
  // Returns the last record of a build, even if it has expired, or nullptr. A repeated quarantine lasts
  // longer.
  const history::Record* before(const std::string& build);
  // Returns the machine as the loader sees it, including the libraries that this process holds now.
  linker::Machine machine();

  // Writes a record. If that fails, the record is kept in memory and warnings() says so. Returns EH-F15
  // or EH-F16 for callers that were asked to store it. Keeps nothing if check_records() fails.
  Result<void> remember(history::Record record);
  // Fails with EH-F16 if there is no folder for records.
  Result<void> check_state_place() const;
  // Fails with EH-F16 if the record of the build is in a folder that is only read.
  Result<void> check_may_end(const std::string& build);
  // Forgets all failures of a build, so that it is tried again. EH-F16 if the record cannot be removed.
  Result<void> forget(const std::string& build);

  // Writes one line to the audit log (settings/audit.hpp). If that fails, warnings() says so once.
  void note(std::string_view event, const Json& facts);

  // Returns the warnings of settings, catalog, system layers and history, for people.
  std::vector<std::string> warnings() const;
  // Sets the messages about skipped layers from a cached decision. They are used until the catalog is read.
  void set_passed_over(std::vector<std::string> messages) { known_passed_over_ = std::move(messages); }
  // Adds the warning unless it is there already.
  void warn(std::string text);
  // Returns true if the next open would give all of warnings() again: they are of settings and system layers.
  bool warnings_last() const;

  static std::int64_t now();  // seconds since 1970

 private:
  void read_history();

  mutable std::optional<settings::Settings> settings_;
  std::function<Result<settings::Settings>()> read_settings_;
  std::filesystem::path state_folder_, read_state_folder_;
  cache::Store store_;
  bool recorded_ = false, refresh_ = false, spare_unreached_ = false;
  std::optional<CancelToken> cancel_;
  std::unique_ptr<platform::Platform> platform_;  // large, and rarely needed
  std::set<std::string> needed_engines_;          // empty: all
  std::optional<manifest::Catalog> catalog_;
  catalog::CatalogOrigin catalog_origin_;
  std::chrono::seconds probe_deadline_{0};
  std::optional<history::Fingerprint> fingerprint_;
  std::optional<history::ReadResult> history_;
  std::set<std::string> only_read_;  // builds that have a record in read_state_folder_
  std::vector<std::string> warnings_, known_passed_over_;
};

// Returns the parts that apply to the record of a build in that layer: among the mounts, only the layer's
// own. An empty layer is the cache folder.
history::Fingerprint parts_for(history::Fingerprint parts, const std::filesystem::path& layer);

// Records a crash inside an application as a failure of the build. The crash is known from the sentinel or
// the crash marker that the process left. A crash beside other engines is only a warning.
void note_crash(OpenContext& context, const history::Crash& crash);

}  // namespace enginehost::open
