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
#include "host/commands/arguments.hpp"
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

// A run of the command.
struct Verification {
  open::OpenContext& context;
  const VerifyFlags& flags;
  bool json, quiet;
  std::map<std::string, Verified> builds = {};
  std::vector<cache::Problem> beside = {};         // problems that belong to no build
  std::optional<Diagnosis> worst = {};             // the first problem that was not repaired
  std::optional<Diagnosis> why_not_repaired = {};  // its cause, whose remedy is not another repair

  const cache::Store& store() const { return context.store(); }
};

bool reported_already(const std::vector<cache::Problem>& problems, const cache::Problem& problem) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const cache::Problem& other) { return other.path == problem.path; });
}

// Adds a record that could not be read, as a problem of its build.
Result<void> note_unread(Verification& all, Diagnosis why) {
  const fs::path file = path_of(why.value(Key::file)), layer = path_of(why.value(Key::layer));
  // Without a file the whole folder of records is unreadable.
  if (file.empty()) return fail(std::move(why));
  const std::string build = path_text(file.stem());
  if (!all.flags.build.empty() && build != all.flags.build) return {};
  Verified& verified = all.builds[build];
  if (layer != all.store().root()) verified.layer = layer;
  verified.problems.push_back(
      {cache::Problem::Kind::unreadable, generic_text(file.lexically_relative(layer)), std::move(why)});
  return {};
}

// Checks everything, or one build. Reports a file once, although it is in a view and in a tree.
Result<void> look(Verification& all) {
  std::set<std::string> layered;
  std::map<std::string, std::string> names;  // of the writable layer's records that are called otherwise
  std::vector<Diagnosis> unread;
  for (const cache::Installed& build : all.store().list(&unread)) {
    if (!all.flags.build.empty() && build.build != all.flags.build) continue;
    all.builds[build.build];
    if (!build.record.empty()) names[build.record] = build.build;
    if (!build.read_only) continue;
    layered.insert(build.build);
    Verified& verified = all.builds[build.build];
    TRY_ASSIGN(verified.problems, all.store().verify(build.build, all.flags.deep, all.context.cancel()));
    if (!verified.problems.empty()) verified.layer = build.layer;
  }
  if (!all.flags.build.empty() && layered.contains(all.flags.build)) return {};
  for (Diagnosis& why : unread) TRY(note_unread(all, std::move(why)));
  // A record that is not there has no violations.
  const std::string record = all.flags.build.empty()
                                 ? std::string()
                                 : all.store().own_record(all.flags.build).value_or(all.flags.build);
  TRY_ASSIGN(std::vector<cache::Violation> violations,
             cache::check(all.store().root(), {all.flags.deep, false, record, all.context.cancel()}));
  for (cache::Violation& violation : violations) {
    const auto renamed = names.find(violation.build);
    const std::string& build = renamed == names.end() ? violation.build : renamed->second;
    auto& problems = violation.build.empty() ? all.beside : all.builds[build].problems;
    if (!reported_already(problems, violation.problem)) problems.push_back(std::move(violation.problem));
  }
  if (!all.flags.build.empty() && all.builds.empty()) return fail(all.store().not_installed(all.flags.build));
  return {};
}

Result<std::vector<cache::Problem>> problems_of(const Verification& all, const std::string& id) {
  TRY_ASSIGN(const auto violations,
             cache::check(all.store().root(),
                          {true, false, all.store().own_record(id).value_or(id), all.context.cancel()}));
  std::vector<cache::Problem> problems;
  for (const cache::Violation& violation : violations) problems.push_back(violation.problem);
  return problems;
}

// Returns true if the writable layer has the build, or a record that cannot be read.
bool installed_here(const cache::Store& store, const std::string& id) {
  return store.own_record(id).has_value();
}

acquire::AcquireOptions options_of(const open::OpenContext& context) {
  acquire::AcquireOptions options;
  options.transfer = context.transfer_options();
  options.download_limit = context.settings().downloads.max_artifact_bytes;
  options.unpacked_limit = context.settings().downloads.max_unpacked_bytes;
  return options;
}

const manifest::Build* known(open::OpenContext& context, const std::string& id) {
  for (const auto& build : context.catalog().builds)
    if (build->id == id) return build.get();
  return nullptr;
}

// Quarantines the damaged parts and installs the build again from the catalog or from its own record.
Result<void> refetch(const Verification& all, const std::string& id) {
  const manifest::Build* build = known(all.context, id);
  if (build == nullptr) return fail(diagnose(Code::no_repository_lists_build).with(Key::build, id));
  {
    TRY_ASSIGN(cache::Stage stage, all.store().stage(cache::Store::key_of(id)));
    TRY(all.store().reject_damaged(id, stage).map([](const auto&) {}));
  }
  transfer::ProgressBar bar(stderr, all.quiet, !all.json);
  acquire::AcquireOptions again = options_of(all.context);
  again.refetch = true;
  return open::install_noted(all.context, *build, again, bar.callback()).map([](const auto&) {});
}

void note_repaired(open::OpenContext& context, const std::string& id,
                   const std::vector<cache::RepairedFile>& repaired) {
  if (repaired.empty()) return;
  Json files = Json::array();
  for (const cache::RepairedFile& file : repaired)
    files.push(Json::object().set("file", file.problem.path).set("from", file.from));
  context.note("mend", Json::object().set("build", id).set("files", std::move(files)));
}

// Repairs file by file first, and installs the build again if files are left.
Result<void> repair(const Verification& all, const std::string& id, Verified& verified) {
  auto repaired =
      acquire::repair(id, known(all.context, id), all.store(), options_of(all.context), all.context.cancel());
  // Another process removed the build meanwhile, so nothing of it is damaged.
  if (!installed_here(all.store(), id)) {
    verified.fully_repaired = true;
    return {};
  }
  if (!repaired && (repaired.error().code == Code::canceled || repaired.error().code == Code::lock_held))
    return fail(std::move(repaired).error());
  if (repaired) {
    verified.repaired = std::move(repaired->files);
    verified.not_fetched = std::move(repaired->not_fetched);
    note_repaired(all.context, id, verified.repaired);
  }
  if (!repaired || !repaired->left.empty()) {
    if (auto fetched = refetch(all, id); !fetched) {
      // A source without single files no longer matters, because whole archives were tried.
      std::erase_if(verified.not_fetched,
                    [](const Diagnosis& why) { return why.code == Code::component_without_source; });
      verified.not_fetched.push_back(std::move(fetched).error());
      if (verified.not_fetched.back().code == Code::canceled) return fail(verified.not_fetched.back());
      return {};
    }
    verified.refetched = true;
    verified.not_fetched.clear();  // the whole archive held what could not be fetched file by file
  }
  TRY_ASSIGN(const std::vector<cache::Problem> left, problems_of(all, id));
  verified.fully_repaired = left.empty() && verified.layer.empty();
  // find() renews the stamps, so that the next open need not hash.
  static_cast<void>(all.store().find(id));
  return {};
}

Json json_of(const cache::Problem& problem) {
  return Json::object()
      .set("file", problem.path)
      .set("problem", cache::name_of(problem.kind))
      .set("diagnosis", explain::to_json(problem.diagnosis));
}

// A copy of a cache, or of an image's layers, may have lost the permissions.
bool of_modes_alone(const Verified& verified) {
  return std::ranges::all_of(verified.problems, [](const cache::Problem& problem) {
    return problem.kind == cache::Problem::Kind::wrong_mode;
  });
}

Json report(const Verification& all, const std::string& id, const Verified& verified) {
  Json found = Json::array(), repaired = Json::array(), failures = Json::array();
  for (const cache::Problem& problem : verified.problems) {
    found.push(json_of(problem));
    if (!all.json) say("%s  %s  %s\n", id.c_str(), cache::name_of(problem.kind), problem.path.c_str());
  }
  for (const cache::RepairedFile& file : verified.repaired) {
    repaired.push(Json::object()
                      .set("file", file.problem.path)
                      .set("problem", cache::name_of(file.problem.kind))
                      .set("from", file.from));
    if (!all.json)
      say("%s  repaired %s (%s), from %s\n", id.c_str(), file.problem.path.c_str(),
          cache::name_of(file.problem.kind), file.from.c_str());
  }
  for (const Diagnosis& failure : verified.not_fetched) failures.push(explain::to_json(failure));
  if (!all.json) {
    const char* verdict =
        verified.problems.empty()  ? (all.flags.deep ? "every byte is right" : sizes_are_right)
        : verified.fully_repaired  ? (verified.refetched ? "repaired by fetching it again" : "repaired")
        : of_modes_alone(verified) ? "whole, but with other permissions than it was installed with"
                                   : "damaged";
    say("%s  %s\n", id.c_str(), verdict);
    if (!verified.sound() && all.flags.repair && !verified.layer.empty())
      say("%s  not repaired: it lies in the layer %s, which is only read here\n", id.c_str(),
          path_text(verified.layer).c_str());
    if (!verified.sound())
      for (const Diagnosis& failure : verified.not_fetched)
        say("%s  not repaired: %s\n", id.c_str(), explain::one_line(failure).c_str());
    if (!verified.sound() && all.flags.repair && verified.layer.empty())
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
void report_the_rest(Verification& all, Json& document) {
  Json problems = Json::array(), places = Json::array();
  for (const cache::Problem& problem : all.beside) {
    problems.push(json_of(problem));
    if (!all.json) say("the cache  %s  %s\n", cache::name_of(problem.kind), problem.path.c_str());
  }
  std::vector<Diagnosis> found = cache::place_problems(all.store().root());
  for (const fs::path& layer : all.store().layers())
    for (Diagnosis& diagnosis : cache::place_problems(layer)) found.push_back(std::move(diagnosis));
  for (const Diagnosis& diagnosis : found) {
    // Nothing can be installed or removed any more, so this is a failure and not a warning.
    const bool stops_writing = diagnosis.code == Code::cache_unusable &&
                               diagnosis.value(Key::folder) == path_text(all.store().root());
    if (stops_writing && !all.worst) {
      all.worst = diagnosis;
      continue;  // reported as the failure
    }
    places.push(explain::to_json(diagnosis));
    if (!all.json && !all.quiet) say_aside("warning: %s\n", explain::one_line(diagnosis).c_str());
  }
  document.set("problems", std::move(problems)).set("warnings", std::move(places));
}

// Moves aside, or reports, other objects in the places of the cache's folders. Later checks read some of
// these folders and report their own problems.
Result<Json> check_places(Verification& all) {
  Json moved = Json::array();
  for (Diagnosis& odd : all.store().unexpected_entries()) {
    const fs::path place = path_of(odd.value(Key::folder));
    if (!all.flags.repair) {
      all.beside.push_back({cache::Problem::Kind::wrong_kind, path_text(place.filename()), std::move(odd)});
      continue;
    }
    TRY_ASSIGN(const auto aside, all.store().move_aside(place));
    if (!aside) continue;
    moved.push(Json::object().set("file", path_text(place)).set("to", path_text(*aside)));
    if (!all.json)
      say("the cache  moved %s aside, to %s\n", path_text(place).c_str(), path_text(*aside).c_str());
  }
  if (!moved.as_array().empty()) TRY(all.store().prepare());
  return moved;
}

Result<Json> verify_all(Verification& all) {
  TRY_ASSIGN(Json moved, check_places(all));
  TRY(all.store().check_readable());
  bool layout_repaired = false;
  if (all.flags.repair) {
    TRY_ASSIGN(layout_repaired, all.store().repair_layout());
  }
  if (layout_repaired && !all.json) say("the cache  repaired LAYER.json: it was written again\n");
  TRY(look(all));
  Json builds = Json::array();
  for (auto& [id, verified] : all.builds) {
    if (!verified.problems.empty() && all.flags.repair && installed_here(all.store(), id))
      TRY(repair(all, id, verified));
    if (!verified.sound() && !all.worst) {
      all.worst = verified.problems.front().diagnosis;
      if (!verified.not_fetched.empty()) all.why_not_repaired = verified.not_fetched.back();
    }
    builds.push(report(all, id, verified));
  }
  // The sweep removes damaged files that no build needs.
  if (!all.beside.empty() && all.flags.repair) {
    TRY(all.store().sweep().map([](std::uint64_t) {}));
    TRY_ASSIGN(const auto left,
               cache::check(all.store().root(), {all.flags.deep, false, {}, all.context.cancel()}));
    std::erase_if(all.beside, [&](const cache::Problem& problem) {
      return std::none_of(left.begin(), left.end(), [&](const cache::Violation& violation) {
        return violation.build.empty() && violation.problem.path == problem.path;
      });
    });
  }
  if (!all.beside.empty() && !all.worst) all.worst = all.beside.front().diagnosis;
  Json document = Json::object();
  document.set("format", 1)
      .set("cache", path_text(all.store().root()))
      .set("layout_mended", layout_repaired)
      .set("places_moved", std::move(moved))
      .set("builds", std::move(builds));
  report_the_rest(all, document);
  return document;
}

Result<fs::path> move_aside(const fs::path& file) {
  fs::path to = file;
  to += ".aside-" + random_hex(4);
  if (calls::rename(file.c_str(), to.c_str()) == 0) return to;
  return fail(diagnose_errno(Code::folder_not_writable, errno)
                  .with(Key::place, "state")
                  .with(Key::file, path_text(file)));
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
    report(path_text(file) + " is " + std::string(usable.error().value(Key::kind)) +
           ", not a file of records");
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
    worst = std::move(diagnose(Code::audit_log_changed)
                          .with(Key::file, first.file)
                          .with(Key::line, std::to_string(first.line))
                          .with(Key::problem, first.problem)
                          .with(Key::count, std::to_string(report->problems.size())));
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
  if (flags.repair) prepare_to_write(run);
  open::OpenContext context(run.settings, {}, run.cancel);
  TRY_ASSIGN(flags.build, installed_build(context.store(), flags.build));
  Verification all{context, flags, run.common.json, run.common.quiet};
  TRY_ASSIGN(Json document, explain::of_this_cache(verify_all(all)));
  if (flags.build.empty()) {
    document.set("records", check_records(run.settings, flags.repair, run.prints_text(), all.worst));
    document.set("audit", check_audit_log(run.settings, run.prints_text(), all.worst));
  }
  if (!all.worst) return document;
  const Diagnosis& reported = all.why_not_repaired ? *all.why_not_repaired : *all.worst;
  document.set("diagnosis", explain::to_json(reported));
  if (run.prints_text()) say_failure(reported);
  return CacheAnswer(std::move(document), static_cast<int>(explain::exit_status(*all.worst)));
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
