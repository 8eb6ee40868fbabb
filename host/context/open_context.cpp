#include "host/context/open_context.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/binary/binary.hpp"
#include "host/explain/explain.hpp"
#include "host/history/program.hpp"
#include "host/load/probe.hpp"
#include "host/platform/machine_key.hpp"
#include "host/settings/audit.hpp"
#include "host/settings/policy.hpp"
#include "host/settings/records.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::open {
namespace {

// Returns the file behind the links and its build id, which differs between drivers of the same version
// number.
std::string identity_of_library(const std::filesystem::path& library) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(library, error);
  if (error) return path_text(library) + " (cannot be read)";
  const auto info = binary::read_binary(real);
  return path_text(real) + " " +
         (info && !info->build_id.empty() ? info->build_id : std::string("without build id"));
}

// Returns what the settings name, for transfer::TransferOptions::named_origins. The transfer adds the indexes
// of packages.
std::vector<std::string> named_origins(const settings::Settings& settings) {
  std::vector<std::string> named;
  const auto add = [&](const std::string& url) {
    if (settings::is_url(url)) named.push_back(transfer::origin_of(url));
  };
  for (const settings::Repository& repository : settings.repositories) add(repository.location);
  for (const settings::Mirror& mirror : settings.mirrors) {
    add(mirror.of);
    add(mirror.use);
  }
  for (const std::string& host : settings.plain_http_registries) {
    add("http://" + host);
    add("https://" + host);
  }
  for (const std::string& pair : settings.registry_mirrors)
    for (const std::string& host : split(pair, '=')) add("https://" + host);
  for (const std::string& host : settings.policy.allowed_hosts.value_or(std::vector<std::string>()))
    if (!host.starts_with("*")) add("https://" + host);
  return named;
}

// A driver that takes so long is not asked for every report: it may wake a GPU.
constexpr std::chrono::seconds slow_detection{1};

constexpr std::string_view mount_of_cache = "mount of the cache folder",
                           mount_of_layer = "mount of the layer ";

// Returns the flags of the folder, or of its nearest existing parent.
std::string mount_flags_of(std::filesystem::path folder) {
  std::string flags = mount_flags(folder);
  while (flags.empty() && folder.has_relative_path()) {
    folder = folder.parent_path();
    flags = mount_flags(folder);
  }
  return flags;
}

// Returns the crash as a failure of the build: EH-R02 with "stage", "program", "process", "began" and
// "build".
history::Failure failure_of(const history::Crash& crash) {
  constexpr const char* source = "the sentinel that the process left";
  Diagnosis diagnosis = diagnose(Code::build_crashed);
  // Without the build id, which people do not need.
  diagnosis.with(Key::stage, crash.phase, source)
      .with(Key::program, crash.program.substr(0, crash.program.rfind(' ')), source)
      .with(Key::process, std::to_string(crash.pid), source)
      .with(Key::began, settings::utc_text(crash.started), source)
      .with(Key::build, crash.build, source);
  history::Failure failure;
  failure.build = crash.build;
  failure.digest = crash.digest;
  failure.artifacts_digest = crash.artifacts_digest;
  failure.category = history::Category::crash;
  failure.in_host = true;
  failure.program = crash.program;
  failure.boot = crash.boot;
  failure.diagnosis = explain::to_json(diagnosis);
  return failure;
}

}  // namespace

std::string builds_folder(const std::filesystem::path& cache_folder) {
  return text_below(cache_folder, {"refs"});
}
std::string records_folder(const std::filesystem::path& state_folder) {
  return text_below(state_folder, {"history"});
}
std::string sentinels_folder(const std::filesystem::path& state_folder) {
  return text_below(state_folder, {"running"});
}

OpenContext::OpenContext(settings::Settings settings, std::optional<platform::Platform> recorded,
                         std::optional<CancelToken> cancel)
    : settings_(std::move(settings)),
      state_folder_(settings_->state_folder),
      read_state_folder_(settings_->read_state_folder),
      store_(cache::Store::open(settings_->cache_folder, settings_->system_layers)),
      recorded_(recorded.has_value()),
      cancel_(std::move(cancel)),
      platform_(recorded ? std::make_unique<platform::Platform>(std::move(*recorded)) : nullptr) {}

OpenContext::OpenContext(Places places, std::function<Result<settings::Settings>()> settings,
                         std::optional<CancelToken> cancel)
    : read_settings_(std::move(settings)),
      state_folder_(std::move(places.state_folder)),
      store_(cache::Store::open(std::move(places.cache_folder), std::move(places.system_layers))),
      cancel_(std::move(cancel)) {}

const settings::Settings& OpenContext::settings() const {
  if (settings_) return *settings_;
  if (auto read = read_settings_()) {
    settings_ = std::move(*read);
  } else {
    // If the rules cannot be read, nothing is fetched that they might forbid.
    settings_.emplace();
    settings_->offline = true;
    settings_->warnings.push_back(explain::one_line(read.error()));
  }
  settings_->cache_folder = store_.root();
  settings_->system_layers = store_.layers();
  settings_->state_folder = state_folder_;
  settings_->read_state_folder.clear();
  return *settings_;
}

std::int64_t OpenContext::now() { return static_cast<std::int64_t>(std::time(nullptr)); }

transfer::TransferOptions OpenContext::transfer_options() const {
  transfer::TransferOptions options;
  options.offline = settings().offline;
  options.package_index = settings().package_index;
  if (const settings::Setting* setting = settings().find("package_index"); setting != nullptr)
    options.package_index_set_by = setting->source;
  options.named_origins = named_origins(settings());
  options.answers_folder = path_text(state_folder_);
  options.plain_http_registries = settings().plain_http_registries;
  options.registry_mirrors = settings().registry_mirrors;
  options.connect_limit = std::chrono::seconds(settings().downloads.connect_timeout_seconds);
  options.stall_limit = std::chrono::seconds(settings().downloads.stall_timeout_seconds);
  options.document_limit = std::max(options.stall_limit / 2, std::chrono::milliseconds(2'000));
  options.retries = settings().downloads.retries;
  options.most_connections = settings().downloads.connections;
  options.extra_ca = path_text(settings().extra_ca);
  if (const settings::Setting* setting = settings().find("extra_ca"); setting != nullptr)
    options.extra_ca_set_by = setting->source;
  options.proxy = settings().proxy;
  if (const settings::Setting* setting = settings().find("proxy"); setting != nullptr)
    options.proxy_set_by = setting->source;
  options.no_proxy = settings().no_proxy;
  if (settings().policy.allowed_hosts)
    options.permit = [policy = settings().policy](std::string_view url) {
      return settings::check_host(policy, url);
    };
  return options;
}

platform::DetectRequest OpenContext::detect_request() const {
  platform::DetectRequest request;
  request.helper = settings().helper;
  request.helper_launcher = settings().probe_launcher;
  request.cache_folder = settings().cache_folder;
  return request;
}

const platform::Platform& OpenContext::platform() {
  if (platform_) return *platform_;
  const platform::DetectRequest request = detect_request();
  const std::filesystem::path file = state_folder_ / "platform.json";
  // Computed before detection, so that a change during detection is not missed.
  const std::string key = platform::machine_key(request, platform::Reach::everything);
  using std::chrono::milliseconds;
  const bool asks = refresh_ && settings().refresh;
  if (auto recalled =
          asks || state_folder_.empty()
              ? std::nullopt
              : platform::recall(request, key, file, now(), refresh_ ? slow_detection : milliseconds(0))) {
    platform_ = std::make_unique<platform::Platform>(std::move(*recalled));
    if (refresh_)
      warn(platform_->cuda.devices.is_unknown()
               ? "the driver did not answer, and is asked again after ten minutes; --refresh asks it now"
               : "the drivers answered slowly, so their last answer is used; --refresh asks them again");
    return *platform_;
  }
  const auto began = std::chrono::steady_clock::now();
  platform_ = std::make_unique<platform::Platform>(platform::detect(request));
  const auto took = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - began);
  // A new cache gets its state folder with the first record. An answer that took long is worth the folder.
  std::error_code error;
  const bool is_there = std::filesystem::is_directory(state_folder_, error);
  if (is_there || (!state_folder_.empty() && took >= slow_detection && make_folders(state_folder_)))
    platform::remember(*platform_, key, file, now(), took);
  return *platform_;
}

void OpenContext::look_for_libraries(std::string_view engine) {
  if (recorded_ || platform().os.value() != "linux") return;
  std::vector<std::string> names;
  for (const auto& build : catalog().builds)
    if ((engine.empty() || build->engine == engine) && build->os == platform_->os.value() &&
        build->arch == platform_->arch.value())
      names.insert(names.end(), build->requires_.libraries.begin(), build->requires_.libraries.end());
  platform::look_for_libraries(*platform_, std::move(names));
}

const manifest::Catalog& OpenContext::catalog() {
  if (!catalog_) {
    settings::Settings settings = this->settings();
    // Installations of this machine do not belong to another one.
    if (recorded_) settings.installations.clear();
    const transfer::TransferOptions transfer = transfer_options();
    catalog_ = catalog::load_catalog({.settings = settings,
                                      .store = store_,
                                      .transfer = transfer,
                                      .now = now(),
                                      .cancel = cancel_,
                                      .spare_unreached = spare_unreached_,
                                      .engines = needed_engines_},
                                     catalog_origin_);
  }
  return *catalog_;
}

void OpenContext::need_engine(const std::string& engine) {
  if (catalog_ && (needed_engines_.empty() || needed_engines_.contains(engine))) return;
  if (engine.empty())
    needed_engines_.clear();
  else
    needed_engines_.insert(engine);
  catalog_.reset();
  catalog_origin_ = {};
}

bool OpenContext::ask_the_spared() {
  spare_unreached_ = false;
  if (!catalog_ || !catalog_origin_.spared) return false;
  catalog_.reset();
  catalog_origin_ = {};
  return true;
}

const catalog::CatalogOrigin& OpenContext::catalog_origin() {
  static_cast<void>(catalog());
  return catalog_origin_;
}

const history::Fingerprint& OpenContext::fingerprint() {
  if (fingerprint_) return *fingerprint_;
  history::Fingerprint parts = history::host_fingerprint(platform());
  const auto add = [&](std::string_view name, std::string value) {
    if (!value.empty()) parts.emplace_back(name, std::move(value));
  };
  add(history::boot_part, history::boot_id());
  add(history::program_part, history::program_id());
  if (platform().cuda.library.is_known())
    add("file of the driver library", identity_of_library(path_of(platform().cuda.library.value().path)));
  add(mount_of_cache, mount_flags_of(settings().cache_folder));
  for (const std::filesystem::path& layer : store_.layers())
    add(std::string(mount_of_layer) + path_text(layer), mount_flags(layer));
  if (const auto stamp = stamp_of(settings().helper))
    add(history::helper_part,
        std::to_string(stamp->size) + " bytes of " + std::to_string(stamp->modified_ns));
  add(history::deadline_part, history::deadline_text(std::max(
                                  probe_deadline_, std::chrono::seconds(settings().probe_deadline_seconds))));
  add(history::probe_memory_part,
      history::probe_memory_text(settings().probe_memory_bytes.value_or(load::default_memory_limit())));
  for (auto& [name, value] : history::process_limits()) add(name, std::move(value));
  fingerprint_ = std::move(parts);
  return *fingerprint_;
}

void OpenContext::read_history() {
  if (history_) return;
  history_.emplace();
  // A recorded machine's decision does not use this machine's history.
  if (recorded_) return;
  if (!state_folder_.empty()) *history_ = history::read(state_folder_, now(), &fingerprint());
  if (!read_state_folder_.empty()) {
    history::ReadResult there = history::read(read_state_folder_, now(), &fingerprint(), false);
    for (const auto& [build, record] : there.history.records)
      if (record.state != history::State::proven) only_read_.insert(build);
    history::add_quarantined(*history_, std::move(there));
  }
  // Crashes are collected only if they can be added to the records; until then their files stay.
  if (state_folder_.empty() || history_->failure) return;
  for (const history::Crash& crash : history::collect_crashes(state_folder_)) note_crash(*this, crash);
}

Result<void> OpenContext::check_cache() const {
  if (settings().cache_problem) return fail(*settings().cache_problem);
  return {};
}

Result<void> OpenContext::check_records() {
  read_history();
  if (history_->failure) return fail(*history_->failure);
  return {};
}

const history::ReadResult& OpenContext::records() {
  read_history();
  return *history_;
}

const history::Record* OpenContext::before(const std::string& build) {
  if (const history::Record* held = history().find(build)) return held;
  for (const history::Stale& stale : history_->stale)
    if (stale.record.build == build) return &stale.record;
  return nullptr;
}

linker::Machine OpenContext::machine() {
  linker::Machine machine = linker::describe_this_machine();
  machine.loaded = linker::loaded_libraries();
  return machine;
}

// Settings name no state folder if none can be written.
Result<void> OpenContext::check_state_place() const {
  if (!state_folder_.empty()) return {};
  TRY(store_.check_place());
  return fail(diagnose(Code::folder_not_writable)
                  .with(Key::place, "state")
                  .with(Key::problem, "neither the cache " + path_text(store_.root()) +
                                          " nor this user's state folder can be written"));
}

Result<void> OpenContext::remember(history::Record record) {
  // The existing record may say that the build is disabled; it is never overwritten.
  TRY(check_records());
  Result<void> written = state_folder_.empty() ? check_state_place() : history::write(state_folder_, record);
  if (!written && written.error().code == Code::folder_not_writable &&
      written.error().value(Key::place).empty() && written.error().value(Key::variable).empty())
    written.error().with(Key::place, "state");
  written = settings::mark_as_state(std::move(written), settings());
  if (!written && !state_folder_.empty())
    warn("the record of " + record.build +
         " cannot be kept: " + std::string(written.error().value(Key::folder)) + " cannot be written (" +
         std::string(written.error().value(Key::os_said)) + ")");
  const std::string build = record.build;
  history_->history.records.insert_or_assign(build, std::move(record));
  return written;
}

Result<void> OpenContext::check_may_end(const std::string& build) {
  read_history();
  if (!only_read_.contains(build)) return {};
  return fail(diagnose_errno(Code::folder_not_writable,
                             calls::access(read_state_folder_.c_str(), W_OK) != 0 ? errno : EACCES)
                  .with(Key::place, "cache")
                  .with(Key::build, build)
                  .with(Key::folder, path_text(read_state_folder_)));
}

Result<void> OpenContext::forget(const std::string& build) {
  TRY(check_may_end(build));
  if (!state_folder_.empty())
    TRY(settings::mark_as_state(history::clear(state_folder_, build), settings()).map([](bool) {}));
  history_->history.records.erase(build);
  return {};
}

void OpenContext::note(std::string_view event, const Json& facts) {
  if (const auto added = settings::add_event(state_folder_, settings().audit_rotate_bytes, event, facts);
      !added)
    warn("the audit log of " + path_text(state_folder_) + " cannot be written (" +
         std::string(added.error().code_text()) + " " + std::string(added.error().value(Key::os_said)) + ")");
}

void OpenContext::warn(std::string text) {
  if (std::ranges::find(warnings_, text) == warnings_.end()) warnings_.push_back(std::move(text));
}

bool OpenContext::warnings_last() const {
  return warnings_.empty() && (!catalog_ || catalog_->warnings.empty()) &&
         (!history_ || history_->warnings.empty());
}

std::vector<std::string> OpenContext::warnings() const {
  std::vector<std::string> all = settings().warnings;
  if (catalog_) {
    all.insert(all.end(), catalog_->warnings.begin(), catalog_->warnings.end());
    for (const Diagnosis& why : catalog_origin_.passed_over) all.push_back(explain::one_line(why));
  } else {
    all.insert(all.end(), known_passed_over_.begin(), known_passed_over_.end());
  }
  if (history_) all.insert(all.end(), history_->warnings.begin(), history_->warnings.end());
  all.insert(all.end(), warnings_.begin(), warnings_.end());
  return all;
}

history::Fingerprint parts_for(history::Fingerprint parts, const std::filesystem::path& layer) {
  const std::string own = std::string(mount_of_layer) + path_text(layer);
  std::erase_if(parts, [&](const auto& part) {
    const std::string& name = part.first;
    if (name.starts_with(mount_of_layer)) return layer.empty() || name != own;
    return !layer.empty() && name == mount_of_cache;
  });
  return parts;
}

void note_crash(OpenContext& context, const history::Crash& crash) {
  // Alone the build may work well.
  if (!crash.beside.empty()) {
    context.warn("process " + std::to_string(crash.pid) + " (" +
                 crash.program.substr(0, crash.program.rfind(' ')) + ") died at stage " + crash.phase +
                 " of " + crash.build + ", beside " + crash.beside +
                 ": nothing is remembered of the build; open it in a process of its own");
    return;
  }
  const history::Record* before = context.before(crash.build);
  history::Fingerprint machine = parts_for(context.fingerprint(), {});
  // The build died under the loading settings of its proof.
  if (before != nullptr)
    std::ranges::copy_if(before->host, std::back_inserter(machine),
                         [](const auto& part) { return part.first == history::loading_part; });
  if (auto record = history::after_failure(failure_of(crash), before, machine, OpenContext::now()))
    static_cast<void>(context.remember(std::move(*record)));  // a warning says so
}

}  // namespace enginehost::open
