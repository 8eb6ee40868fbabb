#include "host/attempt/load_check.hpp"

#include <algorithm>
#include <iterator>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/attempt/process_engines.hpp"
#include "host/decision_cache/decision_cache.hpp"
#include "host/explain/explain.hpp"
#include "host/load/probe.hpp"
#include "host/load/probe_outcome.hpp"
#include "host/load/wire.hpp"
#include "host/resolve/cuda.hpp"

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

Json strings_of(const std::vector<fs::path>& paths) {
  Json list = Json::array();
  for (const fs::path& path : paths) list.push(path_text(path));
  return list;
}

Diagnosis of_the_static_check(Diagnosis failure) {
  return std::move(failure.with(Key::stage, "preflight", "nothing was executed"));
}

std::string set_by(const settings::Settings& settings, std::string_view key, const char* otherwise) {
  const settings::Setting* set = settings.find(std::string(key));
  return std::string(key) + ", " + (set != nullptr ? set->source : otherwise);
}

// Names the setting that was set: the launcher or the probe program.
void add_who_chose_probe(const settings::Settings& settings, Diagnosis& diagnosis) {
  for (const char* key : {"probe_launcher", "helper"})
    if (const settings::Setting* set = settings.find(key);
        set != nullptr && set->source != "default" && !set->value.empty()) {
      diagnosis.with(Key::setting, key, "settings").with(Key::set_by, set->source, "settings");
      return;
    }
}

// create() gets the manifest's options. The caller of an open cannot set one.
void add_whose_option(const cache::Installed& installed, Diagnosis& failure) {
  if (failure.code != Code::engine_reports_error) return;
  const std::string_view option = failure.value(Key::option);
  for (const auto& [key, value] : installed.options)
    if (key == option)
      failure.with(Key::option_value, value, "options of the build")
          .with(Key::option_set_by, "manifest", "options of the build")
          .with(Key::build, installed.build, "manifest");
}

// Without a probe a build is opened untested. Says where the probe is missing, or that it cannot be run.
Diagnosis untested(const std::string& build, const settings::Settings& settings) {
  Diagnosis warning = diagnose(Code::probe_not_found).with(Key::build, build);
  std::error_code ignored;
  for (const std::string& place : settings.missing_helper)
    if (fs::exists(path_of(place), ignored) && warning.value(Key::file).empty())
      warning.with(Key::file, place, "libexec");
    else
      warning.with(Key::searched, place, "libexec");
  return warning;
}

}  // namespace

std::int32_t log_level(const AttemptOptions& options, const settings::Settings& settings) {
  if (options.log_level != 0) return options.log_level;
  const std::string& level = settings.log;
  return level == "debug"   ? ENGINE_LOG_DEBUG
         : level == "info"  ? ENGINE_LOG_INFO
         : level == "error" ? ENGINE_LOG_ERROR
                            : ENGINE_LOG_WARNING;
}

bool LoadCheck::by_record(const cache::Installed& installed, const manifest::Build& build) {
  failed_by_device_ = false;
  devices_ = {};
  const history::Record* const on_processor = parts_.options.on_processor;
  const history::Record* record =
      on_processor != nullptr ? on_processor : parts_.context.history().find(installed.build);
  if (record == nullptr || record->digest != installed.digest ||
      !history::is_of_loading(*record, build.loading_digest()))
    return false;
  const bool holds = record->state == history::State::proven || on_processor != nullptr ||
                     (history::works_on_processor(*record) && resolve::are_processors(parts_.devices));
  if (!holds || !say_enough(record->facts, accelerator_, parts_.devices)) return false;
  devices_ = devices_from_facts(record->facts);
  load_order_.clear();
  for (const Json& path : record->facts["load_order"].as_array())
    load_order_.push_back(path_of(cache::rebase_into_view(path.as_string(), installed)));
  own_ = libraries_in(record->facts);
  for (load::Library& library : own_) library.path = cache::rebase_into_view(library.path, installed);
  for (const Json& warning : record->facts["warnings"].as_array())
    parts_.log.warn(explain::diagnosis_from_json(warning));
  if (on_processor != nullptr) {
    Diagnosis warning =
        diagnose(Code::gpu_build_computes_on_processor).with(Key::build, installed.build, "the record");
    for (const Diagnosis& failure : devices_.unusable)
      warning.with(Key::device, failure.value(Key::device), "the probe")
          .with(Key::reason, explain::one_line(failure), "the probe")
          .with(Key::first_code, failure.code);
    parts_.log.warn(std::move(warning));
  }
  return true;
}

void LoadCheck::by_cached_decision(const CachedDecision& decision) {
  load_order_.clear();
  for (const std::string& path : decision.load_order) load_order_.push_back(path_of(path));
  for (const std::string& text : decision.warnings)
    if (const auto warning = parse_json(text, "a cached decision"))
      parts_.log.warn(explain::diagnosis_from_json(*warning));
  own_ = opened_first();
  devices_.is_known = decision.has_accelerators;
  devices_.accelerators = decision.accelerators;
  for (const std::string& text : decision.unusable)
    if (const auto failure = parse_json(text, "a cached decision"))
      devices_.unusable.push_back(explain::diagnosis_from_json(*failure));
}

Result<void> LoadCheck::check_and_probe(const cache::Installed& installed, bool without_probe,
                                        std::chrono::seconds hinted) {
  AttemptLog& log = parts_.log;
  spec_ = spec_of(installed);
  checked_whole_ = failed_static_check_ = failed_by_device_ = false;
  devices_ = {};
  TRY(beside_loaded_libraries(installed));
  preflight::Report report;
  {
    const Stopwatch watch(log, "preflight");
    report = preflight::check(*spec_);
  }
  depends_on_ = report.depends_on;
  // Libraries that the plugin of an installation opens on demand are not in the closure.
  if (!installed.in_place.empty())
    depends_on_.insert(depends_on_.end(), spec_->search.begin(), spec_->search.end());
  drop_served(report.warnings);
  // Libraries that the process holds instead of the build's.
  own_.clear();
  for (const Diagnosis& warning : report.warnings)
    if (warning.code == Code::other_file_already_loaded)
      own_.push_back(
          {std::string(warning.value(Key::library)), std::string(warning.value(Key::wanted)), "cache"});
  TRY(beside_failed_load_libraries(installed));
  if (auto conflict = conflict_with_engines(installed, report.warnings))
    return fail(of_the_static_check(std::move(*conflict)));
  for (Diagnosis& warning : report.warnings) log.warnings.push_back(std::move(warning));
  if (report.verdict == preflight::Verdict::fails) {
    // All other causes are included, so that nobody repairs one and then meets the next.
    Diagnosis failure = report.diagnoses.front();
    for (std::size_t i = 1; i < report.diagnoses.size(); ++i)
      failure.with(Key::also, explain::one_line(report.diagnoses[i]));
    failed_static_check_ = true;
    return fail(of_the_static_check(std::move(failure)));
  }
  checked_whole_ = true;
  load_order_ = report.load_order;
  via_program_rpath_ = report.via_program_rpath;
  if (!without_probe) {
    if (!parts_.context.settings().helper.empty())
      TRY(probe(installed, hinted));
    else
      log.warnings.push_back(untested(installed.build, parts_.context.settings()));
  }
  own_ = libraries_in(probe_facts_);
  return {};
}

Result<void> LoadCheck::beside_loaded_libraries(const cache::Installed& installed) {
  TRY_ASSIGN(substitutes_, substitutes_for(installed, parts_.context.settings().policy));
  return {};
}

// Warnings of loaded libraries that are used in place of the build's say nothing new.
void LoadCheck::drop_served(std::vector<Diagnosis>& warnings) const {
  std::erase_if(warnings, [&](const Diagnosis& warning) {
    return warning.code == Code::other_file_already_loaded &&
           substitutes_.leave_out(path_of(warning.value(Key::wanted)));
  });
}

std::optional<Diagnosis> LoadCheck::as_of_this_process(const Diagnosis& failure,
                                                       const cache::Installed& installed) {
  if (failed_static_check_) {
    // The check counts what the process has loaded.
    preflight::Spec alone = spec_of(installed);
    alone.machine.loaded.clear();
    if (preflight::check(alone).verdict == preflight::Verdict::fails) return std::nullopt;
  } else if (!parts_.log.probed && !parts_.log.proven_before) {
    return std::nullopt;
  }
  return failed_beside(failure, installed);
}

Result<void> LoadCheck::beside_others(const cache::Installed& installed) {
  const Stopwatch watch(parts_.log, "preflight");
  spec_ = spec_of(installed);
  preflight::Report report = preflight::check(*spec_);
  drop_served(report.warnings);
  if (auto conflict = conflict_with_engines(installed, report.warnings))
    return fail(of_the_static_check(std::move(*conflict)));
  for (Diagnosis& warning : report.warnings) parts_.log.warn(std::move(warning));
  return {};
}

Result<void> LoadCheck::beside_failed_load_libraries(const cache::Installed& installed) const {
  if (auto conflict = conflict_with_failed_load(installed, own_)) return fail(std::move(*conflict));
  return {};
}

bool LoadCheck::serves_its_purpose() const {
  return accelerator_.empty() || !devices_.is_known || devices_.works_on(accelerator_);
}

Result<void> LoadCheck::check_devices() {
  if (!devices_.is_known || parts_.options.on_processor != nullptr || resolve::are_processors(parts_.devices))
    return {};
  failed_by_device_ = true;
  if (!serves_its_purpose()) {
    if (!devices_.unusable.empty()) return fail(devices_.unusable.front());
    return fail(diagnose(Code::no_gpu_offered).with(Key::device, accelerator_, "the build's flavor"));
  }
  for (const std::string& wanted : parts_.devices)
    if (const Diagnosis* const failure = devices_.why_not(wanted)) return fail(*failure);
  failed_by_device_ = false;
  return {};
}

Diagnosis LoadCheck::explained(Diagnosis failure, const cache::Installed& installed) {
  if (!spec_) spec_ = spec_of(installed);
  // Only creating an engine reports this here, because nothing else was requested yet.
  if (failure.code == Code::engine_reports_error && failure.value(Key::stage).empty())
    failure.with(Key::stage, "create");
  add_whose_option(installed, failure);
  load::refine_report(failure);
  Diagnosis diagnosis = load::recheck(std::move(failure), *spec_);
  add_gpu_facts(parts_.context.platform(), installed, diagnosis);
  return diagnosis;
}

void LoadCheck::note(Diagnosis warning) {
  Json warnings = probe_facts_["warnings"];
  warnings.push(explain::to_json(warning));
  probe_facts_.set("warnings", std::move(warnings));
  parts_.log.warn(std::move(warning));
}

load::LoadRequest LoadCheck::load_request(const cache::Installed& installed) const {
  std::vector<fs::path> preload = load_order_;
  std::erase_if(preload, [&](const fs::path& file) { return substitutes_.leave_out(file); });
  return {.plugin = path_of(text_below(installed.folder, {installed.plugin})),
          .view = installed.folder,
          .preload = std::move(preload),
          .on_stage = {},
          .root = path_of(installed.root)};
}

Json LoadCheck::facts() const {
  Json facts = probe_facts_;
  facts.set("load_order", strings_of(load_order_));
  return facts;
}

Basis LoadCheck::basis(const cache::Installed& installed, const manifest::Build& build) const {
  const AttemptLog& log = parts_.log;
  return {&installed,
          build.artifacts_digest(),
          build.loading_digest(),
          spec_ ? &*spec_ : nullptr,
          depends_on_,
          log.probed || log.proven_before,
          !accelerator_.empty() || !devices_.accelerators.empty()};
}

preflight::Spec LoadCheck::spec_of(const cache::Installed& installed) const {
  preflight::Spec spec;
  spec.view = installed.folder;
  spec.plugin = installed.folder / path_of(installed.plugin);
  for (const std::string& folder : installed.search)
    spec.search.push_back(installed.folder / path_of(folder));
  spec.optional = installed.optional;
  spec.lazy = installed.lazy;
  spec.machine = parts_.context.machine();
  spec.platform = &parts_.context.platform();
  return spec;
}

std::vector<load::Library> LoadCheck::opened_first() const {
  std::vector<load::Library> libraries;
  for (const fs::path& path : load_order_) libraries.push_back({"", path_text(path), "cache"});
  return libraries;
}

std::vector<load::Library> LoadCheck::libraries_in(const Json& facts) const {
  std::vector<load::Library> libraries = load::libraries_from_wire(facts["libraries"]);
  std::erase_if(libraries, [](const load::Library& library) { return library.origin != "cache"; });
  std::ranges::move(opened_first(), std::back_inserter(libraries));
  return libraries;
}

Result<void> LoadCheck::probe(const cache::Installed& installed, std::chrono::seconds hinted) {
  AttemptLog& log = parts_.log;
  const Stopwatch watch(log, "probe");
  load::ProbeRequest request;
  request.helper = parts_.context.settings().helper;
  request.launcher = parts_.context.settings().probe_launcher;
  request.load = load_request(installed);
  request.load.preload = load_order_;  // the child has loaded nothing else
  // The probe does not have this program's DT_RPATH, so the libraries found by it are passed by path. A
  // library that the build opens by a bare name at run time is not covered.
  request.load.preload.insert(request.load.preload.begin(), via_program_rpath_.begin(),
                              via_program_rpath_.end());
  request.options = installed.options;
  request.devices = parts_.devices;
  request.accelerator = accelerator_;
  // The longer of the settings' and the manifest's deadline. The deadline of the request has priority.
  const settings::Settings& settings = parts_.context.settings();
  const auto configured = std::chrono::seconds(settings.probe_deadline_seconds);
  const auto allowed = std::max(configured, hinted);
  const std::string allowed_by = hinted > configured ? "probe_seconds of the manifest"
                                                     : set_by(settings, "probe_deadline_seconds", "default");
  const auto& requested = parts_.options.probe_deadline;
  request.deadline = requested.value_or(allowed);
  request.deadline_source = requested ? "the request" : allowed_by;
  request.memory_bytes = settings.probe_memory_bytes.value_or(load::default_memory_limit());
  request.memory_source = set_by(settings, "probe_memory_bytes", "default: the memory of the machine");
  request.cancel = parts_.context.cancel();
  const auto& listening = parts_.options.log;
  if (listening) request.log_level = log_level(parts_.options, settings);
  if (parts_.options.before_probe) parts_.options.before_probe();
  load::ProbeResult result = load::probe(request);
  for (const load::LogLine& line : result.log)
    if (listening) listening->report({line.level, line.topic, line.message, true});
  for (Diagnosis& warning : result.warnings) add_gpu_facts(parts_.context.platform(), installed, warning);
  take_devices(result, installed);
  warn_of_devices(result, installed);
  for (const Diagnosis& warning : result.warnings) log.warn(warning);
  probe_facts_ = result.to_json();
  add_to_facts(probe_facts_, devices_, accelerator_);
  log.probed = result.passed;
  crashed_once_ = std::move(result.crashed_once);
  if (result.passed) return {};
  // Some other device works, but not the one that the request names.
  if (!result.tested.empty())
    if (auto checked = check_devices(); !checked) return checked;
  // A request with a shorter deadline than allowed learned nothing about the build.
  if (result.diagnosis->code == Code::engine_does_not_start_in_time && request.deadline < allowed)
    result.diagnosis->with(Key::allowed, std::to_string(allowed.count()) + " s", allowed_by);
  if (result.diagnosis->code == Code::probe_not_started) add_who_chose_probe(settings, *result.diagnosis);
  return fail(explained(std::move(*result.diagnosis), installed));
}

// A device that fails in the probe is a failure of the build only if the build, or the request, is for it.
void LoadCheck::take_devices(load::ProbeResult& result, const cache::Installed& installed) {
  devices_ = {};
  // No device works, and this one is the reason.
  if (result.tested.empty() && result.diagnosis && result.stage == "selftest" &&
      !result.diagnosis->value(Key::device).empty()) {
    const std::string_view name = result.diagnosis->value(Key::device);
    const bool is_accelerator = std::ranges::any_of(result.devices, [&](const load::Device& device) {
      return device.is_accelerator() && device.text() == name;
    });
    if (is_accelerator && !accelerator_.empty())
      result.tested.push_back({std::string(name), *result.diagnosis, true, true});
  }
  if (result.tested.empty() && result.diagnosis) return;
  devices_.is_known = true;
  for (const load::Device& device : result.devices)
    if (device.is_accelerator()) devices_.accelerators.push_back(device.text());
  for (load::TestedDevice& tested : result.tested) {
    if (!tested.failure) {
      devices_.working.push_back(tested.device);
      continue;
    }
    *tested.failure =
        failure_of_device(explained(std::move(*tested.failure), installed), tested, result.devices);
    if (tested.is_accelerator)
      devices_.unusable.push_back(*tested.failure);
    else
      result.warnings.push_back(*tested.failure);
  }
}

void LoadCheck::warn_of_devices(load::ProbeResult& result, const cache::Installed& installed) {
  if (!devices_.is_known || !serves_its_purpose()) return;
  for (const Diagnosis& failure : devices_.unusable) result.warnings.push_back(failure);
  const platform::Cuda& cuda = parts_.context.platform().cuda;
  if (accelerator_ != "cuda" || !cuda.devices.is_known()) return;
  const resolve::VisibleDevices visible = resolve::visible_devices(cuda);
  if (!visible.certain || devices_.accelerators.size() >= visible.devices.size()) return;
  result.warnings.push_back(
      std::move(diagnose(Code::fewer_gpus_than_driver)
                    .with(Key::build, installed.build, "manifest")
                    .with(Key::listed, join(devices_.accelerators, ", "), "the engine")
                    .with(Key::offered, std::to_string(visible.devices.size()), cuda.devices.source())));
}

}  // namespace enginehost::open
