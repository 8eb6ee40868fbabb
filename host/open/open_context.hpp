// Everything a request needs to know, gathered once: settings, machine, catalog, cache, history.
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
#include "host/history/store.hpp"
#include "host/linker/machine.hpp"
#include "host/manifest/catalog.hpp"
#include "host/open/repositories.hpp"
#include "host/platform/detect.hpp"
#include "host/platform/platform.hpp"
#include "host/settings/settings.hpp"
#include "host/transfer/options.hpp"

namespace enginehost::open {

// Whose time changes when a build is installed or removed, and when a record is written or cleared.
std::string builds_folder(const std::filesystem::path& cache_folder);
std::string records_folder(const std::filesystem::path& state_folder);

// Each part is gathered when it is first asked for and then stays, so that one request sees one world. Use
// one object from one thread at a time; several objects are independent.
class OpenContext {
 public:
  // `recorded`: decide for that machine instead of this one.
  explicit OpenContext(settings::Settings settings, std::optional<platform::Platform> recorded = {},
                       std::optional<CancelToken> cancel = {});
  // Where a early decision leads: the settings were not read, and are when somebody asks for them. They could
  // be read when it was made, of the same inputs; if they no longer can be, warnings() says why and the
  // places stay.
  struct Places {
    std::filesystem::path cache_folder, state_folder;
    std::vector<std::filesystem::path> system_layers;
  };
  OpenContext(Places places, std::function<Result<settings::Settings>()> settings,
              std::optional<CancelToken> cancel);

  const settings::Settings& settings() const;
  // Of the settings, without reading them.
  const std::filesystem::path& state_folder() const { return state_folder_; }
  // Where records are only read, beside them; or empty.
  const std::filesystem::path& read_state_folder() const { return read_state_folder_; }
  const cache::Store& store() const { return store_; }
  const std::optional<CancelToken>& cancel() const { return cancel_; }
  bool is_recorded() const { return recorded_; }
  transfer::TransferOptions transfer_options() const;

  // What was seen at the last look serves while all that it rests on stays (platform/remembered.hpp).
  const platform::Platform& platform();
  // Looks for the system libraries that this machine's builds of the engine ask for, or those of every engine
  // where it is empty: platform() knows of them then. Not of a recorded machine, and on Linux only, where a
  // search by name alone finds what the loader will.
  void look_for_libraries(std::string_view engine);
  // From here on nothing remembered serves: for who reports on the machine. Call it before platform().
  void refresh() { refresh_ = true; }
  // What platform() is asked of.
  platform::DetectRequest detect_request() const;
  const manifest::Catalog& catalog();
  // Repositories that were not reached a short while ago are passed over (repositories.hpp). Call it before
  // catalog(): one that is there stays.
  void spare_unreached() { spare_unreached_ = true; }
  // The catalog is read again with those that were passed over. False when there was none.
  bool ask_the_spared();
  // What catalog() was read from.
  const CatalogOrigin& catalog_origin();
  // What the request gives a probe, where that may be more than settings allow: a build that did not come up
  // in less is tried again. Call it before fingerprint() and history().
  void allow_probe(std::chrono::seconds deadline) { probe_deadline_ = deadline; }
  const history::Fingerprint& fingerprint();  // a record takes parts_for() the layer of its build
  // Whether the records could be read: EH-F23, EH-F24 when some could not for a reason that may pass. Nothing
  // may be decided then, since a build that is quarantined would be used.
  Result<void> check_records();
  // What holds of the records on disk, and those kept in memory because the state folder cannot be written.
  const history::History& history();
  const std::vector<history::Stale>& stale_records();
  // Builds whose records lie here and cannot be read, and what to tell of them.
  const std::vector<std::string>& unreadable_records();
  const std::vector<std::string>& record_warnings();
  // What was last known of a build, even if its time is over: a quarantine that is repeated lasts longer. Or
  // nullptr.
  const history::Record* before(const std::string& build);
  // The machine as the loader sees it, with what this process has loaded already (asked again each time).
  linker::Machine machine();

  // Writes a record; where that fails it is kept in memory and warnings() says so once. The failure is for
  // who was asked to keep it: EH-F15, EH-F16. Nothing is kept where check_records() fails.
  Result<void> remember(history::Record record);
  // Whether there is a place for records at all: EH-F16 without one.
  Result<void> check_state_place() const;
  // Whether what is on record for a build can be ended: EH-F16 when it lies in a folder that is only read.
  Result<void> check_may_end(const std::string& build);
  // Forgets everything about a build's failures, so that it is tried again. EH-F16 where the record stays.
  Result<void> forget(const std::string& build);

  // One line of the audit log (settings/audit.hpp); where it cannot be written warnings() says so once.
  void note(std::string_view event, const Json& facts);

  // Of settings, catalog, system layers and history, for people.
  std::vector<std::string> warnings() const;
  // What a cached decision says of layers that are passed over: told until the catalog is read, which looks
  // itself.
  void set_passed_over(std::vector<std::string> reported) { known_passed_over_ = std::move(reported); }
  void warn(std::string text) { warnings_.push_back(std::move(text)); }

  static std::int64_t now();  // seconds since 1970

 private:
  void read_history();

  mutable std::optional<settings::Settings> settings_;
  std::function<Result<settings::Settings>()> read_settings_;
  std::filesystem::path state_folder_, read_state_folder_;
  cache::Store store_;
  bool recorded_ = false, refresh_ = false, spare_unreached_ = false;
  std::optional<CancelToken> cancel_;
  std::unique_ptr<platform::Platform> platform_;  // large, and seldom asked for
  std::optional<manifest::Catalog> catalog_;
  CatalogOrigin catalog_origin_;
  std::chrono::seconds probe_deadline_{0};
  std::optional<history::Fingerprint> fingerprint_;
  std::optional<history::ReadResult> history_;
  std::set<std::string> only_read_;  // builds that have a record in read_state_folder_
  std::vector<std::string> warnings_, known_passed_over_;
  bool audit_failed_ = false;
};

}  // namespace enginehost::open
