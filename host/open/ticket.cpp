#include "host/open/ticket.hpp"

#include <algorithm>
#include <cerrno>
#include <set>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/passing_errors.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "cache/place.hpp"
#include "host/explain/explain.hpp"
#include "host/open/moved.hpp"
#include "host/open/open.hpp"
#include "host/open/witness.hpp"
#include "host/platform/machine_key.hpp"

#ifndef ENGINEHOST_VERSION
#error "the build passes the version of the project"
#endif

namespace enginehost::open {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kind_line = "enginehost-ready 2";

// Everything that the same decision can depend on beside files: who asks, for what, under which settings.
std::string key_of(const World& world, const OpenRequest& open) {
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
  for (const settings::Setting& setting : world.settings().effective) {
    add(setting.key);
    add(setting.value);
  }
  return sha256_hex(text);
}

// Whether a layer is passed over for what is as it is until somebody changes one of its folders, which their
// stamps tell. They do not tell when a link that leads nowhere changes.
bool lasts(const Diagnosis& passed_over) {
  calls::Status status{};
  const std::string folder(passed_over.value("folder"));
  return !may_pass(passed_over.value("errno")) && (calls::stat(folder, &status) == 0 || errno == EACCES);
}

}  // namespace

TicketOffice::TicketOffice(World& world, const OpenRequest& open)
    : world_(world),
      // A forced build is for one run; a recorded machine's decision is not this one's.
      usable_(!world.state_folder().empty() && !world.is_recorded() && open.plugin.empty() &&
              open.request.force.empty() && world.settings().force.empty()),
      key_(usable_ ? key_of(world, open) : ""),
      file_(usable_ ? world.state_folder() / "ready" / key_.substr(0, 32) : fs::path()),
      began_ns_(wall_clock_ns()),
      machine_(usable_ ? platform::machine_key(world.detect_request(), platform::Reach::decisive) : "") {}

std::optional<Ticket> TicketOffice::find() const {
  if (!usable_) return std::nullopt;
  Result<std::string> bytes = read_file(file_, 1u << 20);
  if (!bytes) return std::nullopt;
  std::string_view rest = *bytes;
  // The last line is the digest of all before it: a file that a power cut left half empty is none.
  constexpr std::size_t digest_size = 64;
  if (rest.size() < digest_size ||
      sha256_hex(rest.substr(0, rest.size() - digest_size)) != rest.substr(rest.size() - digest_size))
    return std::nullopt;
  rest.remove_suffix(digest_size);
  Ticket ticket;
  std::string_view machine;
  Witnesses witnesses(World::now());
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
      ticket.build = value;
    } else if (name == "digest") {
      ticket.digest = value;
    } else if (name == "artifacts") {
      ticket.artifacts = value;
    } else if (name == "fallback") {
      ticket.fallback = value == "yes";
    } else if (name == "load") {
      ticket.load_order.emplace_back(value);
    } else if (name == "warning") {
      ticket.warnings.emplace_back(value);
    } else if (name == "passed-over") {
      ticket.passed_over.emplace_back(value);
    } else if (!witnesses.hold(name, value)) {
      return std::nullopt;
    }
    if (is_witness(name)) ticket.witnesses.append(line).push_back('\n');
  }
  if (!ours || ticket.build.empty() || ticket.digest.empty() || machine != machine_) return std::nullopt;
  ticket.machine = machine;
  return ticket;
}

// They are told at every open: those of the proof as long as it stands, and what was decided against.
std::vector<std::string> TicketOffice::lasting_warnings(const Outcome& outcome) const {
  std::vector<std::string> warnings;
  for (const Diagnosis& warning : outcome.warnings)
    if (warning.code == "EH-S24") warnings.push_back(explain::to_json(warning).dump());
  if (const history::Record* proof = world_.history().find(outcome.chosen->build->id))
    for (const Json& warning : proof->facts["warnings"].as_array()) warnings.push_back(warning.dump());
  return warnings;
}

// What was decided in passing is decided again the next time.
bool TicketOffice::is_passing(const Outcome& outcome) const {
  using resolve::Verdict;
  if (outcome.state != State::opened || !outcome.proven_before || outcome.probed || outcome.downloaded != 0 ||
      outcome.chosen == nullptr || outcome.chosen->rank != 1 || outcome.opened->installed.unlike_its_record ||
      outcome.warnings.size() > lasting_warnings(outcome).size())
    return true;
  const manifest::Catalogue& catalogue = world_.catalogue();
  // Who is warned must be warned again; the settings' own warnings are told at every open, and those of
  // layers by the ticket.
  const std::vector<Diagnosis>& passed_over = world_.catalogue_origin().passed_over;
  if (!catalogue.failures.empty() || !std::ranges::all_of(passed_over, lasts) ||
      world_.warnings().size() != world_.settings().warnings.size() + passed_over.size())
    return true;
  return std::any_of(outcome.plan.candidates.begin(), outcome.plan.candidates.end(),
                     [](const resolve::Candidate& candidate) {
                       // The memory of a control group can change while everything else stays.
                       return candidate.verdict == Verdict::failed || candidate.build->requires_.memory != 0;
                     });
}

std::vector<std::string> TicketOffice::rests_on(const Outcome& outcome) const {
  std::set<std::string> paths(world_.catalogue_origin().documents.begin(),
                              world_.catalogue_origin().documents.end());
  paths.insert(builds_folder(world_.store().root()));
  for (const fs::path& layer : world_.store().layers()) paths.insert(builds_folder(layer));
  paths.insert(records_folder(world_.state_folder()));
  if (!world_.read_state_folder().empty()) paths.insert(records_folder(world_.read_state_folder()));
  // What the builds' records depend on themselves: a missing library that appears, a system library that is
  // updated.
  for (const resolve::Candidate& candidate : outcome.plan.candidates)
    if (const history::Record* record = world_.before(candidate.build->id))
      for (const history::Witness& witness : record->witnesses) paths.insert(witness.path);
  for (const auto& [path, stamp] : platform::file_witnesses(world_.platform(), platform::Reach::decisive))
    paths.insert(path);
  return {paths.begin(), paths.end()};
}

// Whether a candidate is passed over for what this process may not take.
bool TicketOffice::rests_on_a_limit(const Outcome& outcome) const {
  return std::ranges::any_of(outcome.plan.candidates, [&](const resolve::Candidate& candidate) {
    const history::Record* record = world_.history().find(candidate.build->id);
    return record != nullptr && history::rests_on_a_limit(*record);
  });
}

std::int64_t TicketOffice::valid_until() const {
  const std::int64_t now = World::now();
  std::int64_t until =
      std::min(now + platform::lifetime_seconds(world_.platform()), world_.catalogue_origin().fresh_until);
  for (const auto& [build, record] : world_.history().records)
    if (record.retry_after > now) until = std::min(until, record.retry_after);
  return until;
}

void TicketOffice::keep(const Outcome& outcome) const {
  if (!usable_ || is_passing(outcome)) return;
  const history::Record* proof = world_.history().find(outcome.chosen->build->id);
  // A sentinel that stands now may become a crash without its folder changing. One that was lowered again
  // tells nothing: the folder's time does not count.
  const fs::path sentinels = world_.state_folder() / "running";
  if (proof == nullptr || path_text(sentinels).find('\n') != std::string::npos ||
      !is_empty_folder(path_text(sentinels).c_str()))
    return;
  std::string text(kind_line);
  text += "\nkey " + key_ + "\nmade " + std::to_string(World::now()) + "\nuntil " +
          std::to_string(valid_until()) + "\nmachine " + machine_ + "\nbuild " +
          outcome.opened->installed.build + "\ndigest " + outcome.opened->installed.digest + "\nartifacts " +
          proof->artifacts_digest + "\nfallback " + (outcome.fallback ? "yes" : "no") + "\nempty " +
          path_text(sentinels) + "\n";
  if (rests_on_a_limit(outcome)) text += limits_line();
  for (const Json& path : proof->facts["load_order"].as_array()) {
    if (path.as_string().find('\n') != std::string::npos) return;
    text += "load " + in_view_now(path.as_string(), outcome.opened->installed) + "\n";
  }
  for (const std::string& warning : lasting_warnings(outcome)) text += "warning " + warning + "\n";
  bool keepable = true;
  const auto add_stamp = [&](const std::string& path, bool with_rights) {
    keepable = keepable && path.find('\n') == std::string::npos && is_at_rest(path, began_ns_);
    if (keepable) text += stamp_line(path, with_rights);
  };
  for (const std::string& path : rests_on(outcome)) add_stamp(path, false);
  // What mends such a layer may change no more than the rights of a folder.
  const std::vector<Diagnosis>& passed_over = world_.catalogue_origin().passed_over;
  for (const Diagnosis& why : passed_over) {
    const std::string told = explain::one_line(why);
    keepable = keepable && told.find('\n') == std::string::npos;
    text += "passed-over " + told + "\n";
  }
  if (!passed_over.empty())
    for (const fs::path& layer : world_.store().layers())
      for (const fs::path& folder : cache::leading_folders(layer)) add_stamp(path_text(folder), true);
  if (!keepable) return;
  if (!make_folders(file_.parent_path())) return;
  make_room(file_.parent_path());
  // Neither synced nor missed when it cannot be written: it is made again.
  static_cast<void>(write_file(file_, text + sha256_hex(text), false));
}

}  // namespace enginehost::open
