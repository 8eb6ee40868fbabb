#include "host/open/cached_decision.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/system_errors.hpp"
#include "base/text.hpp"
#include "cache/layer_trust.hpp"
#include "host/explain/explain.hpp"
#include "host/open/dependency_stamp.hpp"
#include "host/open/open.hpp"
#include "host/open/rebase_into_view.hpp"
#include "host/platform/machine_key.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kind_line = "enginehost-ready 2";

// Returns a digest of everything but files that the decision can depend on: the request and its settings.
std::string key_of(const OpenContext& context, const OpenRequest& open) {
  std::string text;
  text.reserve(2048);
  const auto add = [&](std::string_view value) { text.append(value).push_back('\0'); };
  add(ENGINEHOST_VERSION);
  for (const std::string* part : {&open.request.engine, &open.request.version, &open.request.flavor,
                                  &open.request.device, &open.request.force})
    add(*part);
  add(open.request.require ? "require" : "");
  add(open.request.offline ? "offline" : "");
  add(open.attempt.probe ? "probe" : "");
  if (open.attempt.probe_deadline) add(history::deadline_text(*open.attempt.probe_deadline));
  for (const settings::Setting& setting : context.settings().effective) {
    add(setting.key);
    add(setting.value);
  }
  return sha256_hex(text);
}

// Returns true if a layer is skipped for a lasting reason: the stamps of its folders change before the reason
// goes away. A dangling link is no lasting reason, because its target can appear without changing them.
bool lasts(const Diagnosis& passed_over) {
  calls::Status status{};
  const std::string folder(passed_over.value("folder"));
  return !is_transient(passed_over.value("errno")) && (calls::stat(folder, &status) == 0 || errno == EACCES);
}

}  // namespace

DecisionCache::DecisionCache(OpenContext& context, const OpenRequest& open)
    : context_(context),
      // A forced build is for one run. The decision of a recorded machine is not this machine's.
      usable_(!context.state_folder().empty() && !context.is_recorded() && open.plugin.empty() &&
              open.request.force.empty() && context.settings().force.empty() &&
              // A cached decision opens without reading the build's files.
              settings::bytes_to_hash(context.settings()) == 0),
      key_(usable_ ? key_of(context, open) : ""),
      file_(usable_ ? context.state_folder() / "ready" / key_.substr(0, 32) : fs::path()),
      began_ns_(wall_clock_ns()),
      machine_(usable_ ? platform::machine_key(context.detect_request(), platform::Reach::decisive) : "") {}

std::optional<CachedDecision> DecisionCache::find() const {
  if (!usable_) return std::nullopt;
  Result<std::string> bytes = read_file(file_, 1u << 20);
  if (!bytes) return std::nullopt;
  std::string_view rest = *bytes;
  // The last line is the digest of all before it. A file that a power cut truncated is a miss.
  constexpr std::size_t digest_size = 64;
  if (rest.size() < digest_size ||
      sha256_hex(rest.substr(0, rest.size() - digest_size)) != rest.substr(rest.size() - digest_size))
    return std::nullopt;
  rest.remove_suffix(digest_size);
  CachedDecision decision;
  std::string_view machine;
  DependencyStamps dependency_stamps(OpenContext::now());
  bool first = true, ours = false;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (line.size() == rest.size()) return std::nullopt;
    (*bytes)[static_cast<std::size_t>(line.data() + line.size() - bytes->data())] = '\0';
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (std::exchange(first, false)) {
      if (line != kind_line) return std::nullopt;
      continue;
    }
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return std::nullopt;
    const std::string_view name = line.substr(0, space), value = line.substr(space + 1);
    if (name == "key") {
      if (value != key_) return std::nullopt;
      ours = true;
    } else if (name == "machine") {
      machine = value;
    } else if (name == "build") {
      decision.build = value;
    } else if (name == "digest") {
      decision.digest = value;
    } else if (name == "artifacts") {
      decision.artifacts = value;
    } else if (name == "fallback") {
      decision.fallback = value == "yes";
    } else if (name == "load") {
      decision.load_order.emplace_back(value);
    } else if (name == "warning") {
      decision.warnings.emplace_back(value);
    } else if (name == "passed-over") {
      decision.passed_over.emplace_back(value);
    } else if (!dependency_stamps.hold(name, value)) {
      return std::nullopt;
    }
    if (is_dependency_stamp(name)) decision.dependency_stamps.append(line).push_back('\n');
  }
  if (!ours || decision.build.empty() || decision.digest.empty() || machine != machine_) return std::nullopt;
  decision.machine = machine;
  return decision;
}

// These warnings are repeated at every open: those of the proof while it stands, and EH-S24.
std::vector<std::string> DecisionCache::lasting_warnings(const Outcome& outcome) const {
  std::vector<std::string> warnings;
  for (const Diagnosis& warning : outcome.warnings)
    if (warning.code == "EH-S24") warnings.push_back(explain::to_json(warning).dump());
  if (const history::Record* proof = context_.history().find(outcome.chosen->build->id))
    for (const Json& warning : proof->facts["warnings"].as_array()) warnings.push_back(warning.dump());
  return warnings;
}

// A temporary decision is made again at the next open.
bool DecisionCache::rests_on_transient(const Outcome& outcome) const {
  using resolve::Verdict;
  if (outcome.state != State::opened || !outcome.proven_before || outcome.probed || outcome.downloaded != 0 ||
      outcome.chosen == nullptr || outcome.chosen->rank != 1 || outcome.opened->installed.unlike_its_record ||
      outcome.warnings.size() > lasting_warnings(outcome).size())
    return true;
  const manifest::Catalog& catalog = context_.catalog();
  // A warning of the context is repeated at the next open only if settings or layers cause it: settings
  // report theirs at every open, and the cached decision holds those of layers.
  const std::vector<Diagnosis>& passed_over = context_.catalog_origin().passed_over;
  if (!catalog.failures.empty() || !std::ranges::all_of(passed_over, lasts) ||
      context_.warnings().size() != context_.settings().warnings.size() + passed_over.size())
    return true;
  return std::any_of(outcome.plan.candidates.begin(), outcome.plan.candidates.end(),
                     [](const resolve::Candidate& candidate) {
                       // The memory limit of a control group can change without any stamp.
                       return candidate.verdict == Verdict::failed || candidate.build->requires_.memory != 0;
                     });
}

std::vector<std::string> DecisionCache::rests_on(const Outcome& outcome) const {
  std::set<std::string> paths(context_.catalog_origin().documents.begin(),
                              context_.catalog_origin().documents.end());
  paths.insert(builds_folder(context_.store().root()));
  for (const fs::path& layer : context_.store().layers()) paths.insert(builds_folder(layer));
  paths.insert(records_folder(context_.state_folder()));
  if (!context_.read_state_folder().empty()) paths.insert(records_folder(context_.read_state_folder()));
  // The builds' own records depend on these: a missing library that appears, a system library that is
  // updated.
  for (const resolve::Candidate& candidate : outcome.plan.candidates)
    if (const history::Record* record = context_.before(candidate.build->id))
      for (const history::DependencyStamp& stamp : record->dependency_stamps) paths.insert(stamp.path);
  for (const auto& [path, stamp] :
       platform::file_dependencies(context_.platform(), platform::Reach::decisive))
    paths.insert(path);
  return {paths.begin(), paths.end()};
}

// Returns true if a candidate is skipped because of a limit of this process.
bool DecisionCache::rests_on_a_limit(const Outcome& outcome) const {
  return std::ranges::any_of(outcome.plan.candidates, [&](const resolve::Candidate& candidate) {
    const history::Record* record = context_.history().find(candidate.build->id);
    return record != nullptr && history::rests_on_a_limit(*record);
  });
}

std::int64_t DecisionCache::valid_until() const {
  const std::int64_t now = OpenContext::now();
  std::int64_t until =
      std::min(now + platform::lifetime_seconds(context_.platform()), context_.catalog_origin().fresh_until);
  for (const auto& [build, record] : context_.history().records)
    if (record.retry_after > now) until = std::min(until, record.retry_after);
  return until;
}

void DecisionCache::keep(const Outcome& outcome) const {
  if (!usable_ || rests_on_transient(outcome)) return;
  const history::Record* proof = context_.history().find(outcome.chosen->build->id);
  // A sentinel that exists now may become a crash without changing the folder. The folder's time is not
  // compared, because a sentinel that was lowered also changes it.
  const fs::path sentinels = context_.state_folder() / "running";
  if (proof == nullptr || path_text(sentinels).find('\n') != std::string::npos ||
      !is_empty_folder(path_text(sentinels).c_str()))
    return;
  std::string text(kind_line);
  text += "\nkey " + key_ + "\nmade " + std::to_string(OpenContext::now()) + "\nuntil " +
          std::to_string(valid_until()) + "\nmachine " + machine_ + "\nbuild " +
          outcome.opened->installed.build + "\ndigest " + outcome.opened->installed.digest + "\nartifacts " +
          proof->artifacts_digest + "\nfallback " + (outcome.fallback ? "yes" : "no") + "\nempty " +
          path_text(sentinels) + "\n";
  if (rests_on_a_limit(outcome)) text += limits_line();
  for (const Json& path : proof->facts["load_order"].as_array()) {
    if (path.as_string().find('\n') != std::string::npos) return;
    text += "load " + rebase_into_view(path.as_string(), outcome.opened->installed) + "\n";
  }
  for (const std::string& warning : lasting_warnings(outcome)) text += "warning " + warning + "\n";
  bool keepable = true;
  const auto add_stamp = [&](const std::string& path, bool with_rights) {
    keepable = keepable && path.find('\n') == std::string::npos && is_at_rest(path, began_ns_);
    if (keepable) text += stamp_line(path, with_rights);
  };
  for (const std::string& path : rests_on(outcome)) add_stamp(path, false);
  // A repair of such a layer may change only the mode of a folder.
  const std::vector<Diagnosis>& passed_over = context_.catalog_origin().passed_over;
  for (const Diagnosis& why : passed_over) {
    const std::string message = explain::one_line(why);
    keepable = keepable && message.find('\n') == std::string::npos;
    text += "passed-over " + message + "\n";
  }
  if (!passed_over.empty())
    for (const fs::path& layer : context_.store().layers())
      for (const fs::path& folder : cache::leading_folders(layer)) add_stamp(path_text(folder), true);
  if (!keepable) return;
  if (!make_folders(file_.parent_path())) return;
  make_room(file_.parent_path());
  // Not synced, and no error if it cannot be written, because the decision can be made again.
  static_cast<void>(write_file(file_, text + sha256_hex(text), false));
}

}  // namespace enginehost::open
