#include "host/decision_cache/decision_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/ownership.hpp"
#include "base/paths.hpp"
#include "base/record.hpp"
#include "base/system_errors.hpp"
#include "base/text.hpp"
#include "cache/layer_trust.hpp"
#include "host/explain/explain.hpp"
#include "host/history/last_update.hpp"
#include "host/history/program.hpp"
#include "host/settings/settings_key.hpp"
#include "host/vendor_facts/vendor_facts.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;
using Kind = Dependency::Kind;

constexpr std::string_view format_line = "enginehost-decision 2\n";
constexpr std::string_view end_of_decision = "dependencies";
constexpr std::size_t checksum_size = 32, most_bytes = 1u << 20, most_decisions = 100;

std::string key_of(const settings::SettingsKey& settings_key, const resolve::Request& request, bool probe,
                   std::optional<std::chrono::seconds> probe_deadline) {
  std::string key;
  const auto add = [&](std::string_view value) { key.append(value).push_back('\0'); };
  add(ENGINEHOST_VERSION);
  add(vendor::built_in_sha256());  // newer facts are documents of the catalog, on which a decision depends
  for (const std::string* part : {&request.engine, &request.version, &request.flavor, &request.device})
    add(*part);
  add(request.require ? "require" : "");
  add(request.offline ? "offline" : "");
  add(probe ? "probe" : "");
  if (probe_deadline) add(history::deadline_text(*probe_deadline));
  // A script is started by its own name. The build id shows that its interpreter changed.
  add(history::program_build_id());
  add(settings_key.text);
  return key;
}

// Calls visit(name, member) for each member, in the order of the file.
template <class Decision, class Visit>
void for_each_member(Decision& decision, const Visit& visit) {
  visit("cache", decision.cache_folder);
  visit("state", decision.state_folder);
  visit("layer", decision.system_layers);
  visit("flavor", decision.defaults.flavor);
  visit("flavor_source", decision.defaults.flavor_source);
  visit("device", decision.defaults.device);
  visit("device_source", decision.defaults.device_source);
  visit("update", decision.defaults.update);
  visit("offline", decision.defaults.offline);
  visit("build", decision.build);
  visit("digest", decision.digest);
  visit("artifacts", decision.artifacts);
  visit("fallback", decision.fallback);
  visit("opened_before", decision.opened_before);
  visit("program", decision.program);
  visit("load", decision.load_order);
  visit("warning", decision.warnings);
  visit("has_accelerators", decision.has_accelerators);
  visit("accelerator", decision.accelerators);
  visit("unusable", decision.unusable);
  visit("passed_over", decision.passed_over);
  visit("record", decision.installed);
}

bool take(std::string& member, std::string_view value) {
  member = value;
  return true;
}
bool take(bool& member, std::string_view value) {
  member = value == "yes";
  return true;
}
bool take(std::vector<std::string>& member, std::string_view value) {
  member.emplace_back(value);
  return true;
}
bool take(cache::Installed& member, std::string_view value) {
  const std::size_t space = value.find(' ');
  return space != std::string_view::npos &&
         cache::take_record_line(member, value.substr(0, space), value.substr(space + 1));
}

std::vector<std::string> lines_of(const std::string& member) { return {member}; }
std::vector<std::string> lines_of(bool member) { return {member ? "yes" : "no"}; }
const std::vector<std::string>& lines_of(const std::vector<std::string>& member) { return member; }
std::vector<std::string> lines_of(const cache::Installed& member) {
  if (member.digest.empty()) return {};
  std::vector<std::string> lines = split(cache::record_lines(member), '\n');
  std::erase(lines, "");
  return lines;
}

// Reads the lines up to the dependencies, and removes them from the text.
bool take_decision(std::string_view& text, CachedDecision& decision) {
  while (const auto line = take_key_and_value(text)) {
    if (line->key == end_of_decision) return !decision.digest.empty() && !decision.state_folder.empty();
    bool taken = false;
    for_each_member(decision, [&](std::string_view name, auto& member) {
      if (name == line->key) taken = take(member, line->value);
    });
    if (!taken) return false;
  }
  return false;
}

// Returns nothing if a value has a line break.
std::optional<std::string> text_of(const CachedDecision& decision) {
  std::string text;
  bool plain = true;
  for_each_member(decision, [&](std::string_view name, const auto& member) {
    for (const std::string& value : lines_of(member)) {
      plain = plain && value.find('\n') == std::string::npos;
      add_key_and_value(text, name, value);
    }
  });
  text.append(end_of_decision).append("\n");
  return plain ? std::optional(std::move(text)) : std::nullopt;
}

// Returns true if a layer is skipped for a lasting reason: the stamps of its folders change before the reason
// goes away. A dangling link is no lasting reason, because its target can appear without changing them.
bool lasts(const Diagnosis& passed_over) {
  calls::Status status{};
  const std::string folder(passed_over.value(Key::folder));
  return !is_transient(passed_over.value(Key::errno_)) &&
         (calls::stat(folder, &status) == 0 || errno == EACCES);
}

// Returns the warnings that every open repeats, each as a JSON document: those of the proof while it stands,
// EH-S24, and EH-G25 of a record. Returns nothing if one of the warnings is of another kind.
std::optional<std::vector<std::string>> lasting_warnings(const history::Record& proof,
                                                         const std::vector<Diagnosis>& warnings) {
  std::vector<std::string> lasting;
  std::set<std::string> of_proof;
  for (const Json& warning : proof.facts["warnings"].as_array()) {
    lasting.push_back(warning.dump());
    of_proof.insert(explain::one_line(explain::diagnosis_from_json(warning)));
  }
  for (const Diagnosis& warning : warnings) {
    if (warning.code == Code::accelerator_not_used || warning.code == Code::gpu_build_computes_on_processor)
      lasting.push_back(explain::to_json(warning).dump());
    else if (!of_proof.contains(explain::one_line(warning)))
      return std::nullopt;
  }
  return lasting;
}

// Returns true if the next open may decide otherwise although no dependency changes.
bool is_temporary(OpenContext& context, const resolve::Plan& plan) {
  return !context.catalog().failures.empty() || !context.warnings_last() ||
         !std::ranges::all_of(context.catalog_origin().passed_over, lasts) ||
         // The memory limit of a control group can change without any stamp.
         std::ranges::any_of(plan.candidates, [](const resolve::Candidate& candidate) {
           return candidate.verdict == resolve::Verdict::failed || candidate.build->requires_.memory != 0;
         });
}

// Returns until when the decision may be used, in seconds since 1970.
std::int64_t valid_until(OpenContext& context) {
  const std::int64_t now = OpenContext::now();
  std::int64_t until =
      std::min(now + platform::lifetime_seconds(context.platform()), context.catalog_origin().fresh_until);
  for (const auto& [build, record] : context.history().records)
    if (record.retry_after > now) until = std::min(until, record.retry_after);
  return until;
}

void add_settings(DependencySet& dependencies, const settings::Inputs& inputs) {
  for (const std::string& folder : inputs.writable) dependencies.add(Kind::writable, folder);
  for (const std::string& file : inputs.runnable) dependencies.add(Kind::runnable, file);
  // With the rights, because owner and mode of a repository decide whether its location is trusted.
  for (const std::string& file : inputs.files) dependencies.add(Kind::rights, file);
}

void add_decision(DependencySet& dependencies, OpenContext& context, const resolve::Plan& plan) {
  dependencies.add({Kind::made, {static_cast<std::uint64_t>(OpenContext::now())}, ""});
  dependencies.add({Kind::until, {static_cast<std::uint64_t>(valid_until(context))}, ""});
  const catalog::CatalogOrigin& origin = context.catalog_origin();
  for (const std::string& document : origin.documents) dependencies.add(Kind::stamp, document);
  dependencies.add(Kind::stamp, builds_folder(context.store().root()));
  for (const fs::path& layer : context.store().layers()) dependencies.add(Kind::stamp, builds_folder(layer));
  dependencies.add(Kind::stamp, records_folder(context.state_folder()));
  dependencies.add(Kind::stamp, path_text(history::updates_folder(context.state_folder())));
  if (const fs::path& lock = context.settings().lock_file; !lock.empty())
    dependencies.add(Kind::stamp, path_text(lock));
  dependencies.add(Kind::empty, sentinels_folder(context.state_folder()));
  // A repair of a skipped layer may change only the mode of a folder.
  if (!origin.passed_over.empty())
    for (const fs::path& layer : context.store().layers())
      for (const fs::path& folder : cache::leading_folders(layer))
        dependencies.add(Kind::rights, path_text(folder));
  // Or of a folder above.
  for (const Diagnosis& why : origin.passed_over)
    dependencies.add(Kind::rights, std::string(why.value(Key::folder)));
  for (const resolve::Candidate& candidate : plan.candidates) {
    // The builds' own records depend on these: a missing library that appears, a system library that is
    // updated.
    if (const history::Record* record = context.before(candidate.build->id))
      for (const history::DependencyStamp& stamp : record->dependency_stamps)
        dependencies.add(Kind::stamp, stamp.path);
    const history::Record* const record = context.history().find(candidate.build->id);
    if (record != nullptr && history::rests_on_a_limit(*record)) dependencies.add(Kind::limits, "");
  }
  for (const std::string& path : platform::file_dependencies(context.platform(), platform::Reach::decisive))
    dependencies.add(Kind::stamp, path);
}

// Removes all decisions if there are too many: those whose requests nobody repeats would otherwise stay
// forever, and the others are stored again.
void make_room(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> all;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    all.push_back(at->path());
  if (all.size() < most_decisions) return;
  for (const fs::path& file : all) fs::remove(file, error);
}

}  // namespace

OpenContext::Places CachedDecision::places() const {
  OpenContext::Places places{path_of(cache_folder), path_of(state_folder), {}};
  for (const std::string& layer : system_layers) places.system_layers.push_back(path_of(layer));
  return places;
}

DecisionCache::DecisionCache(const settings::FlagValues& flags, const resolve::Request& request, bool probe,
                             std::optional<std::chrono::seconds> probe_deadline)
    : began_ns_(wall_clock_ns()) {
  if (!request.force.empty()) return;  // a forced build is for one run
  const auto settings_key = settings::settings_key(flags);
  if (!settings_key) return;
  machine_ = platform::machine_key_text(platform::Reach::decisive);
  const std::string key = key_of(*settings_key, request, probe, probe_deadline) + machine_;
  cache_ = settings_key->cache;
  cache_is_named_ = settings_key->cache_is_named;
  file_ = text_below(path_of(cache_), {"state", "decisions", checksum_text(key)});
  first_lines_.append(format_line).append("key ").append(std::to_string(key.size())).append("\n");
  first_lines_.append(key).append("\n");
}

std::optional<CachedDecision> DecisionCache::find() const {
  if (first_lines_.empty()) return std::nullopt;
  // Settings, which ask about the cache, are not read before.
  const fs::path file = path_of(file_);
  if (who_may_change(file, cache_is_named_ ? Purpose::named : Purpose::personal).problem) return std::nullopt;
  const auto bytes = read_file(file, most_bytes);
  if (!bytes || bytes->size() < first_lines_.size() + checksum_size) return std::nullopt;
  std::string_view text(bytes->data(), bytes->size() - checksum_size);
  // A file that a power cut truncated is a miss. The checksum only detects damage; the key is compared whole.
  if (!text.starts_with(first_lines_) || !bytes->ends_with(checksum_text(text))) return std::nullopt;
  text.remove_prefix(first_lines_.size());
  CachedDecision decision;
  if (!take_decision(text, decision) || !DependencySet::holds(text, OpenContext::now())) return std::nullopt;
  return decision;
}

void DecisionCache::begin(const OpenContext& context) {
  if (first_lines_.empty() || context.is_recorded()) return;
  dependencies_.emplace(began_ns_, platform::files_in_machine_key_text(machine_));
  for (const platform::MachineInput& input :
       platform::machine_inputs(context.detect_request(), platform::Reach::decisive))
    dependencies_->add(input);
}

void DecisionCache::keep(OpenContext& context, const resolve::Plan& plan, const cache::Installed& opened,
                         bool fallback, const std::vector<Diagnosis>& warnings) {
  if (!dependencies_) return;
  const settings::Settings& settings = context.settings();
  const history::Record* const proof = context.history().find(opened.build);
  if (proof == nullptr || is_temporary(context, plan) || !settings.force.empty() ||
      // A cached decision opens without reading the build's files.
      settings::bytes_to_hash(settings) != 0 || context.store().root() != path_of(cache_) ||
      context.state_folder().empty() || !context.read_state_folder().empty() ||
      // A sentinel that exists now may become a crash without changing its folder.
      !is_empty_folder(sentinels_folder(context.state_folder())))
    return;
  auto lasting = lasting_warnings(*proof, warnings);
  if (!lasting) return;
  CachedDecision decision{.cache_folder = cache_,
                          .state_folder = path_text(context.state_folder()),
                          .system_layers = {},
                          .defaults = defaults_of(settings),
                          .build = opened.build,
                          .digest = opened.digest,
                          .artifacts = proof->artifacts_digest,
                          .fallback = fallback,
                          .program = history::program_id(),
                          .load_order = {},
                          .warnings = std::move(*lasting),
                          .accelerators = {},
                          .unusable = {},
                          .passed_over = {},
                          .installed = {}};
  for (const fs::path& layer : context.store().layers()) decision.system_layers.push_back(path_text(layer));
  for (const Json& path : proof->facts["load_order"].as_array())
    decision.load_order.push_back(cache::rebase_into_view(path.as_string(), opened));
  decision.has_accelerators = proof->facts.find("accelerators") != nullptr;
  for (const Json& name : proof->facts["accelerators"].as_array())
    decision.accelerators.push_back(name.as_string());
  for (const Json& failure : proof->facts["unusable"].as_array()) decision.unusable.push_back(failure.dump());
  for (const Diagnosis& why : context.catalog_origin().passed_over)
    decision.passed_over.push_back(explain::one_line(why));
  if (!opened.read_only && opened.layer == context.store().root() && context.store().keeps_locks())
    decision.installed = opened;
  DependencySet dependencies = std::move(*dependencies_);
  dependencies_.reset();
  add_settings(dependencies, settings.inputs);
  add_decision(dependencies, context, plan);
  // The key identifies this program.
  const std::string survived = history::file_of_first(context.state_folder(), decision.digest,
                                                      history::First::opening, decision.program);
  decision.opened_before = calls::access(survived, F_OK) == 0;
  if (decision.opened_before) dependencies.add(Kind::there, survived);
  const auto decision_lines = text_of(decision), dependency_lines = dependencies.text();
  const fs::path file = path_of(file_);
  if (!decision_lines || !dependency_lines || !make_folders(file.parent_path())) return;
  make_room(file.parent_path());
  const std::string text = first_lines_ + *decision_lines + *dependency_lines;
  // Not synced, and no error if it cannot be written, because it can be made again.
  static_cast<void>(write_file(file, text + checksum_text(text), false));
  // Earlier versions kept theirs in these folders.
  std::error_code ignored;
  fs::remove_all(context.store().root() / "state" / "shortcuts", ignored);
  fs::remove_all(context.state_folder() / "ready", ignored);
}

}  // namespace enginehost::open
