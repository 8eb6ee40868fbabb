// engine-cache verify: finds problems of the cache, the records and the audit log, and repairs them.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <map>
#include <memory>
#include <set>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "cache/check.hpp"
#include "cache/layer_trust.hpp"
#include "host/acquire/acquire.hpp"
#include "host/attempt/install.hpp"
#include "host/commands/build_names.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"
#include "host/history/store.hpp"
#include "host/settings/audit.hpp"
#include "host/settings/records.hpp"

namespace enginehost::commands {
namespace {

namespace fs = std::filesystem;

struct VerifyFlags {
  std::string build;
  bool deep = false, repair = false;
};

// The result for one build.
struct Verified {
  std::vector<cache::Problem> problems;
  fs::path layer;  // the read-only layer of the first problem; nothing is repaired there
  std::vector<cache::RepairedFile> repaired;
  std::vector<Diagnosis> not_fetched;
  bool refetched = false, fully_repaired = false;
  bool sound() const { return problems.empty() || fully_repaired; }
};

// Without --deep.
constexpr const char* sizes_are_right =
    "every file is there with its size, kind and mode; bytes were read only where times differ (--deep: all)";

class Verification {
 public:
  Verification(open::OpenContext& context, const VerifyFlags& flags, bool json, bool quiet)
      : context_(context), store_(context.store()), flags_(flags), json_(json), quiet_(quiet) {}

  Result<Json> run();
  std::optional<Diagnosis> worst;  // the first problem that was not repaired
  // Returns the diagnosis to report: after a failed repair its cause, because its remedy is not another
  // repair.
  const Diagnosis& to_report() const { return why_not_repaired_ ? *why_not_repaired_ : *worst; }

 private:
  Result<void> look();
  Result<void> note_unread(Diagnosis why);
  Result<std::vector<cache::Problem>> look_at(const std::string& id) const;
  Result<void> repair(const std::string& id, Verified& verified);
  Result<void> refetch(const std::string& id);
  void note_repaired(const std::string& id, const std::vector<cache::RepairedFile>& repaired);
  Json report(const std::string& id, const Verified& verified) const;
  void report_the_rest(Json& document);
  Result<Json> places();
  acquire::AcquireOptions options() const;
  const manifest::Build* known(const std::string& id);
  // The store without the layers.
  cache::Store own() const { return cache::Store::open(store_.root()); }

  open::OpenContext& context_;
  const cache::Store& store_;
  const VerifyFlags& flags_;
  bool json_, quiet_;
  std::map<std::string, Verified> builds_;
  std::vector<cache::Problem> beside_;  // problems that belong to no build
  std::optional<Diagnosis> why_not_repaired_;
};

bool reported_already(const std::vector<cache::Problem>& problems, const cache::Problem& problem) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const cache::Problem& other) { return other.path == problem.path; });
}

// Adds a record that could not be read, as a problem of its build.
Result<void> Verification::note_unread(Diagnosis why) {
  const fs::path file = path_of(why.value("file")), layer = path_of(why.value("layer"));
  // Without a file the whole folder of records is unreadable.
  if (file.empty()) return fail(std::move(why));
  const std::string build = path_text(file.stem());
  if (!flags_.build.empty() && build != flags_.build) return {};
  Verified& verified = builds_[build];
  if (layer != store_.root()) verified.layer = layer;
  verified.problems.push_back(
      {cache::Problem::Kind::unreadable, generic_text(file.lexically_relative(layer)), std::move(why)});
  return {};
}

// Checks everything, or one build. Reports a file once, although it is in a view and in a tree.
Result<void> Verification::look() {
  std::set<std::string> layered;
  std::vector<Diagnosis> unread;
  for (const cache::Installed& build : store_.list(&unread)) {
    if (!flags_.build.empty() && build.build != flags_.build) continue;
    builds_[build.build];
    if (!build.read_only) continue;
    layered.insert(build.build);
    Verified& verified = builds_[build.build];
    TRY_ASSIGN(verified.problems, store_.verify(build.build, flags_.deep, context_.cancel()));
    if (!verified.problems.empty()) verified.layer = build.layer;
  }
  if (!flags_.build.empty() && layered.contains(flags_.build)) return {};
  for (Diagnosis& why : unread) TRY(note_unread(std::move(why)));
  TRY_ASSIGN(std::vector<cache::Violation> violations,
             cache::check(store_.root(), {flags_.deep, false, flags_.build, context_.cancel()}));
  for (cache::Violation& violation : violations) {
    auto& problems = violation.build.empty() ? beside_ : builds_[violation.build].problems;
    if (!reported_already(problems, violation.problem)) problems.push_back(std::move(violation.problem));
  }
  if (!flags_.build.empty() && builds_.empty()) return fail(store_.not_installed(flags_.build));
  return {};
}

Result<std::vector<cache::Problem>> Verification::look_at(const std::string& id) const {
  TRY_ASSIGN(const auto violations, cache::check(store_.root(), {true, false, id, context_.cancel()}));
  std::vector<cache::Problem> problems;
  for (const cache::Violation& violation : violations) problems.push_back(violation.problem);
  return problems;
}

acquire::AcquireOptions Verification::options() const {
  acquire::AcquireOptions options;
  options.transfer = context_.transfer_options();
  options.download_limit = context_.settings().downloads.max_artifact_bytes;
  options.unpacked_limit = context_.settings().downloads.max_unpacked_bytes;
  return options;
}

const manifest::Build* Verification::known(const std::string& id) {
  for (const auto& build : context_.catalog().builds)
    if (build->id == id) return build.get();
  return nullptr;
}

// Quarantines the damaged parts and installs the build again from the catalog or from its own record.
Result<void> Verification::refetch(const std::string& id) {
  const manifest::Build* build = known(id);
  if (build == nullptr) return fail(diagnose("EH-S19").with("build", id));
  {
    TRY_ASSIGN(cache::Stage stage, store_.stage(cache::Store::key_of(id)));
    TRY(store_.reject_damaged(id, stage).map([](const auto&) {}));
  }
  transfer::ProgressBar bar(stderr, quiet_, !json_);
  acquire::AcquireOptions again = options();
  again.refetch = true;
  return open::install_noted(context_, *build, again, bar.callback()).map([](const auto&) {});
}

void Verification::note_repaired(const std::string& id, const std::vector<cache::RepairedFile>& repaired) {
  if (repaired.empty()) return;
  Json files = Json::array();
  for (const cache::RepairedFile& file : repaired)
    files.push(Json::object().set("file", file.problem.path).set("from", file.from));
  context_.note("mend", Json::object().set("build", id).set("files", std::move(files)));
}

// Repairs file by file first, and installs the build again if files are left.
Result<void> Verification::repair(const std::string& id, Verified& verified) {
  auto repaired = acquire::repair(id, known(id), store_, options(), context_.cancel());
  // Another process removed the build meanwhile, so nothing of it is damaged.
  if (const auto still = own().record_of(id); still && !*still) {
    verified.fully_repaired = true;
    return {};
  }
  if (!repaired && (repaired.error().code == "EH-P10" || repaired.error().code == "EH-F18"))
    return fail(std::move(repaired).error());
  if (repaired) {
    verified.repaired = std::move(repaired->files);
    verified.not_fetched = std::move(repaired->not_fetched);
    note_repaired(id, verified.repaired);
  }
  if (!repaired || !repaired->left.empty()) {
    if (auto fetched = refetch(id); !fetched) {
      // A source without single files no longer matters, because whole archives were tried.
      std::erase_if(verified.not_fetched, [](const Diagnosis& why) { return why.code == "EH-N15"; });
      verified.not_fetched.push_back(std::move(fetched).error());
      if (verified.not_fetched.back().code == "EH-P10") return fail(verified.not_fetched.back());
      return {};
    }
    verified.refetched = true;
  }
  TRY_ASSIGN(const std::vector<cache::Problem> left, look_at(id));
  verified.fully_repaired = left.empty() && verified.layer.empty();
  // find() renews the stamps, so that the next open need not hash.
  static_cast<void>(store_.find(id));
  return {};
}

Json json_of(const cache::Problem& problem) {
  return Json::object()
      .set("file", problem.path)
      .set("problem", cache::name_of(problem.kind))
      .set("diagnosis", explain::to_json(problem.diagnosis));
}

Json Verification::report(const std::string& id, const Verified& verified) const {
  Json found = Json::array(), repaired = Json::array(), failures = Json::array();
  for (const cache::Problem& problem : verified.problems) {
    found.push(json_of(problem));
    if (!json_) say("%s  %s  %s\n", id.c_str(), cache::name_of(problem.kind), problem.path.c_str());
  }
  for (const cache::RepairedFile& file : verified.repaired) {
    repaired.push(Json::object()
                      .set("file", file.problem.path)
                      .set("problem", cache::name_of(file.problem.kind))
                      .set("from", file.from));
    if (!json_)
      say("%s  repaired %s (%s), from %s\n", id.c_str(), file.problem.path.c_str(),
          cache::name_of(file.problem.kind), file.from.c_str());
  }
  for (const Diagnosis& failure : verified.not_fetched) failures.push(explain::to_json(failure));
  if (!json_) {
    const char* verdict = verified.problems.empty() ? (flags_.deep ? "every byte is right" : sizes_are_right)
                          : verified.fully_repaired
                              ? (verified.refetched ? "repaired by fetching it again" : "repaired")
                              : "damaged";
    say("%s  %s\n", id.c_str(), verdict);
    if (!verified.sound() && flags_.repair && !verified.layer.empty())
      say("%s  not repaired: it lies in the layer %s, which is only read here\n", id.c_str(),
          path_text(verified.layer).c_str());
    if (!verified.sound())
      for (const Diagnosis& failure : verified.not_fetched)
        say("%s  not repaired: %s\n", id.c_str(), explain::one_line(failure).c_str());
    if (!verified.sound() && flags_.repair && verified.layer.empty())
      say("%s  stays damaged and is not opened until its files can be fetched\n", id.c_str());
  }
  return Json::object()
      .set("build", id)
      .set("ok", verified.sound())
      .set("repaired", verified.fully_repaired)
      .set("read_only_layer", verified.layer.empty() ? Json() : Json(path_text(verified.layer)))
      .set("problems", std::move(found))
      .set("mended", std::move(repaired))
      .set("fetched_anew", verified.refetched)
      .set("not_fetched", std::move(failures));
}

// Reports the problems beside the builds, and those of the folders themselves.
void Verification::report_the_rest(Json& document) {
  Json problems = Json::array(), places = Json::array();
  for (const cache::Problem& problem : beside_) {
    problems.push(json_of(problem));
    if (!json_) say("the cache  %s  %s\n", cache::name_of(problem.kind), problem.path.c_str());
  }
  std::vector<Diagnosis> found = cache::place_problems(store_.root());
  for (const fs::path& layer : store_.layers())
    for (Diagnosis& diagnosis : cache::place_problems(layer)) found.push_back(std::move(diagnosis));
  for (const Diagnosis& diagnosis : found) {
    // Nothing can be installed or removed any more, so this is a failure and not a warning.
    const bool stops_writing =
        diagnosis.code == "EH-F23" && diagnosis.value("folder") == path_text(store_.root());
    if (stops_writing && !worst) {
      worst = diagnosis;
      continue;  // reported as the failure
    }
    places.push(explain::to_json(diagnosis));
    if (!json_ && !quiet_) say_aside("warning: %s\n", explain::one_line(diagnosis).c_str());
  }
  document.set("problems", std::move(problems)).set("warnings", std::move(places));
}

// Moves aside, or reports, other objects in the places of the cache's folders. Later checks read some of
// these folders and report their own problems.
Result<Json> Verification::places() {
  Json moved = Json::array();
  for (Diagnosis& odd : store_.unexpected_entries()) {
    const fs::path place = path_of(odd.value("folder"));
    if (!flags_.repair) {
      beside_.push_back({cache::Problem::Kind::wrong_kind, path_text(place.filename()), std::move(odd)});
      continue;
    }
    TRY_ASSIGN(const auto aside, store_.move_aside(place));
    if (!aside) continue;
    moved.push(Json::object().set("file", path_text(place)).set("to", path_text(*aside)));
    if (!json_)
      say("the cache  moved %s aside, to %s\n", path_text(place).c_str(), path_text(*aside).c_str());
  }
  if (!moved.as_array().empty()) TRY(store_.prepare());
  return moved;
}

Result<Json> Verification::run() {
  TRY_ASSIGN(Json moved, places());
  TRY(store_.check_readable());
  bool layout_repaired = false;
  if (flags_.repair) {
    TRY_ASSIGN(layout_repaired, store_.repair_layout());
  }
  if (layout_repaired && !json_) say("the cache  repaired LAYER.json: it was written again\n");
  TRY(look());
  Json builds = Json::array();
  for (auto& [id, verified] : builds_) {
    const bool ours = own().record_of(id).map([](const auto& r) { return r.has_value(); }).value_or(true);
    if (!verified.problems.empty() && flags_.repair && ours) TRY(repair(id, verified));
    if (!verified.sound() && !worst) {
      worst = verified.problems.front().diagnosis;
      if (!verified.not_fetched.empty()) why_not_repaired_ = verified.not_fetched.back();
    }
    builds.push(report(id, verified));
  }
  // The sweep removes damaged files that no build needs.
  if (!beside_.empty() && flags_.repair) {
    TRY(store_.sweep().map([](std::uint64_t) {}));
    TRY_ASSIGN(const auto left, cache::check(store_.root(), {flags_.deep, false, {}, context_.cancel()}));
    std::erase_if(beside_, [&](const cache::Problem& problem) {
      return std::none_of(left.begin(), left.end(), [&](const cache::Violation& violation) {
        return violation.build.empty() && violation.problem.path == problem.path;
      });
    });
  }
  if (!beside_.empty() && !worst) worst = beside_.front().diagnosis;
  Json document = Json::object();
  document.set("format", 1)
      .set("cache", path_text(store_.root()))
      .set("layout_mended", layout_repaired)
      .set("places_moved", std::move(moved))
      .set("builds", std::move(builds));
  report_the_rest(document);
  return document;
}

Result<fs::path> move_aside(const fs::path& file) {
  fs::path to = file;
  to += ".aside-" + random_hex(4);
  if (calls::rename(file.c_str(), to.c_str()) == 0) return to;
  return fail(diagnose_errno("EH-F16", errno).with("place", "state").with("file", path_text(file)));
}

// Returns {"ok","unreadable":[texts],"set_aside":[{"file","to"}]}. Another object in the place of a file of
// records loses every later record: it becomes `worst`, or is moved aside with `repair`. An unreadable record
// of a build is reported, because a disabled build is used again without it.
Json check_records(const settings::Settings& settings, bool repair, bool print_text,
                   std::optional<Diagnosis>& worst) {
  Json unreadable = Json::array(), moved = Json::array();
  bool ok = true;
  const auto report = [&](const std::string& text) {
    unreadable.push(text);
    ok = false;
    if (print_text) say("records  %s\n", with_given_flags(text).c_str());
  };
  for (const fs::path& folder : {settings.state_folder, settings.read_state_folder}) {
    if (folder.empty()) continue;
    const bool may_write = folder == settings.state_folder;
    for (const std::string& warning :
         history::read(folder, open::OpenContext::now(), nullptr, may_write).warnings)
      report(warning);
  }
  for (const char* name : {"consents/consents.jsonl", "audit/audit.jsonl"}) {
    if (settings.state_folder.empty()) break;
    const fs::path file = settings.state_folder / path_of(name);
    auto usable = settings::check_record_file(file);
    if (!usable && repair) {
      if (const auto to = move_aside(file)) {
        moved.push(Json::object().set("file", path_text(file)).set("to", path_text(*to)));
        if (print_text)
          say("records  moved %s aside, to %s\n", path_text(file).c_str(), path_text(*to).c_str());
        continue;
      } else {
        usable = fail(to.error());
      }
    }
    if (usable) continue;
    report(path_text(file) + " is " + std::string(usable.error().value("kind")) + ", not a file of records");
    if (!worst) worst = std::move(usable).error();
  }
  return Json::object()
      .set("ok", ok)
      .set("unreadable", std::move(unreadable))
      .set("set_aside", std::move(moved));
}

// Returns {"folder","files","events","last","ok","problems":[{"file","line","problem"}]}. A changed log is
// EH-P04 in `worst`, unless that is set.
Json check_audit_log(const settings::Settings& settings, bool print_text, std::optional<Diagnosis>& worst) {
  const auto folder = settings.state_folder / "audit";
  Json document = Json::object().set("folder", path_text(folder));
  const auto report = settings::check_audit(settings.state_folder);
  if (!report) {
    if (!worst) worst = report.error();
    return document.set("ok", false);
  }
  Json problems = Json::array();
  for (const settings::AuditProblem& problem : report->problems) {
    problems.push(
        Json::object().set("file", problem.file).set("line", problem.line).set("problem", problem.problem));
    if (print_text)
      say("audit log  %s line %lld  %s\n", problem.file.c_str(), static_cast<long long>(problem.line),
          problem.problem.c_str());
  }
  if (!report->problems.empty() && !worst) {
    const settings::AuditProblem& first = report->problems.front();
    worst = std::move(diagnose("EH-P04")
                          .with("file", first.file)
                          .with("line", std::to_string(first.line))
                          .with("problem", first.problem)
                          .with("count", std::to_string(report->problems.size())));
  }
  if (print_text && report->events > 0)
    say("audit log  %s, %s\n",
        pluralize(static_cast<std::uint64_t>(report->events), "event", "events").c_str(),
        report->problems.empty() ? "each follows the one before it" : "not as it was written");
  return document.set("files", report->files)
      .set("events", report->events)
      .set("last", report->last)
      .set("ok", report->problems.empty())
      .set("problems", std::move(problems));
}

Result<CacheAnswer> verify(const CacheRun& run, VerifyFlags flags) {
  if (flags.repair) TRY(prepare_to_write(run));
  open::OpenContext context(run.settings, {}, run.cancel);
  TRY_ASSIGN(flags.build, installed_build(context.store(), flags.build));
  Verification verification(context, flags, run.common.json, run.common.quiet);
  TRY_ASSIGN(Json document, explain::of_this_cache(verification.run()));
  if (flags.build.empty()) {
    document.set("records", check_records(run.settings, flags.repair, run.prints_text(), verification.worst));
    document.set("audit", check_audit_log(run.settings, run.prints_text(), verification.worst));
  }
  if (!verification.worst) return document;
  document.set("diagnosis", explain::to_json(verification.to_report()));
  if (run.prints_text()) say_failure(verification.to_report());
  return CacheAnswer(std::move(document), static_cast<int>(explain::exit_status(*verification.worst)));
}

}  // namespace

std::vector<CacheSubcommand> add_verify(CLI::App& app) {
  const auto flags = std::make_shared<VerifyFlags>();
  CLI::App* verifying = app.add_subcommand("verify", "check installed builds for damage");
  verifying->add_flag("--deep", flags->deep, "read and hash every file");
  verifying->add_flag("--repair", flags->repair,
                      "repair what is damaged, file by file if a source has single files");
  verifying->add_option("ID", flags->build, std::string(build_id_meaning) + "; without it all builds");
  return {{verifying, [flags](const CacheRun& run) { return verify(run, *flags); }}};
}

}  // namespace enginehost::commands
