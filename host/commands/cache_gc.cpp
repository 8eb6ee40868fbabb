// engine-cache gc, pin and unpin.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <memory>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/attempt/install.hpp"
#include "host/commands/arguments.hpp"
#include "host/commands/engine_cache.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/context/open_context.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

struct GcFlags {
  std::string max_size, max_age;
  bool dry_run = false, orphaned = false;
};

// Splits a text into a number, which may have a fraction, and the letters after it.
std::optional<std::pair<double, std::string>> number_and_unit(std::string_view text) {
  const std::string all(trim(text));
  // from_chars reads only whole numbers in the library of macOS. strtod also reads "inf", "nan" and
  // hexadecimal numbers, which are no sizes.
  if (all.empty() || all.find_first_not_of("0123456789.") == 0 || to_lower(all).starts_with("0x")) return {};
  char* after = nullptr;
  const double number = std::strtod(all.c_str(), &after);
  if (after == all.c_str() || !std::isfinite(number)) return {};
  return std::pair(number, to_lower(trim(std::string_view(after))));
}

// Reads a size in bytes: "500M", "2.5 GiB", "1000000"; K, M, G and T are powers of 1024.
std::optional<std::uint64_t> parse_size(std::string_view text) {
  const auto parts = number_and_unit(text);
  if (!parts) return {};
  std::string unit = parts->second;
  if (unit.ends_with("ib"))
    unit.resize(unit.size() - 2);
  else if (unit.size() > 1 && unit.ends_with("b"))
    unit.pop_back();
  static constexpr std::string_view units = "kmgt";
  double factor = 1;
  if (!unit.empty() && unit != "b" && unit != "bytes") {
    const std::size_t power = unit.size() == 1 ? units.find(unit[0]) : std::string_view::npos;
    if (power == std::string_view::npos) return {};
    factor = std::pow(1024.0, static_cast<double>(power + 1));
  }
  const double bytes = parts->first * factor;
  if (bytes > 1e18) return {};
  return static_cast<std::uint64_t>(bytes);
}

// Reads a time: "30d", "12h", "90m", "45s", "2w".
std::optional<std::chrono::seconds> parse_age(std::string_view text) {
  const auto parts = number_and_unit(text);
  if (!parts) return {};
  double factor = 0;
  for (const auto& [unit, seconds] :
       {std::pair{"s", 1.0}, {"m", 60.0}, {"h", 3600.0}, {"d", 86'400.0}, {"w", 604'800.0}})
    if (parts->second == unit) factor = seconds;
  // A number without a unit is ambiguous, except 0.
  if (factor == 0 && !(parts->second.empty() && parts->first == 0)) return {};
  const double seconds = parts->first * factor;
  if (seconds > 1e11) return {};
  return std::chrono::seconds(static_cast<std::int64_t>(seconds));
}

Json to_json(const cache::LockHolder& holder) {
  return Json::object()
      .set("file", path_text(holder.file))
      .set("process", holder.pid != 0 ? Json(holder.pid) : Json())
      .set("program", holder.program);
}

Json builds_of(const std::vector<cache::Collected::Build>& builds) {
  Json list = Json::array();
  for (const cache::Collected::Build& build : builds) {
    Json one = Json::object()
                   .set("build", build.build)
                   .set("size", build.size)
                   .set("last_used", build.last_used)
                   .set("why", build.why);
    if (build.holder) one.set("holder", to_json(*build.holder));
    list.push(std::move(one));
  }
  return list;
}

// " by process 4711 (engine-run)", or nothing if the process is not known.
std::string by_whom(const std::optional<cache::LockHolder>& holder) {
  if (!holder || holder->pid == 0) return {};
  return " by process " + std::to_string(holder->pid) +
         (holder->program.empty() ? "" : " (" + holder->program + ")");
}

Json trees_of(const std::vector<cache::Collected::Tree>& trees) {
  Json list = Json::array();
  for (const cache::Collected::Tree& tree : trees)
    list.push(Json::object().set("tree", tree.tree).set("size", tree.size));
  return list;
}

Json sizes(std::uint64_t logical, std::uint64_t physical) {
  return Json::object().set("logical", logical).set("physical", physical);
}

Diagnosis unusable(const char* flag, const std::string& value, const char* expected) {
  return wrong_usage("engine-cache", std::string(flag) + " " + value + ": that is not " + expected);
}

std::uint64_t freed_by(const cache::Collected& done) {
  return done.physical_before > done.physical_after ? done.physical_before - done.physical_after : 0;
}

void report_orphaned(const cache::Collected& done, const GcFlags& flags) {
  std::uint64_t bytes = 0;
  for (const auto& tree : done.orphaned) bytes += tree.size;
  say("%s %s that no record names since the folder of records (refs) was lost, %s\n",
      !flags.orphaned ? "kept"
      : flags.dry_run ? "would remove"
                      : "removed",
      pluralize(done.orphaned.size(), "tree", "trees").c_str(), format_bytes(bytes).c_str());
  for (const auto& tree : done.orphaned)
    say("  trees/%s  %s\n", tree.tree.c_str(), format_bytes(tree.size).c_str());
  if (!flags.orphaned)
    say("  fetch their builds again, which downloads little or nothing, or free them: %s\n",
        with_given_flags("engine-cache gc --unrecorded").c_str());
}

void report(const cache::Store& store, const cache::Collected& done, const GcFlags& flags) {
  const bool dry_run = flags.dry_run;
  for (const auto& build : done.removed)
    say("%s %s  %s  (%s)\n", dry_run ? "would remove" : "removed", build.build.c_str(),
        format_bytes(build.size).c_str(), build.why.c_str());
  for (const auto& build : done.kept)
    say("%s %s  %s  (%s%s)\n", dry_run ? "would keep" : "kept", build.build.c_str(),
        format_bytes(build.size).c_str(), build.why.c_str(), by_whom(build.holder).c_str());
  const std::uint64_t freed = freed_by(done);
  if (dry_run && done.removed.empty() && freed > 0)
    say("would remove no build, only leftovers of ended installations and downloads\n");
  say("%s: %s %s, %s on disk for %s of builds\n", path_text(store.root()).c_str(),
      format_bytes(freed).c_str(), dry_run ? "would be freed" : "freed",
      format_bytes(done.physical_after).c_str(), format_bytes(done.logical_after).c_str());
  if (!done.orphaned.empty()) report_orphaned(done, flags);
  if (done.bound_missed)
    say("more than the bound is left: builds that are in use, pinned or being installed stay, and no build "
        "is "
        "removed if that cannot reach the bound\n");
  if (done.left_to_maker)
    say("something is being installed%s: what is no longer needed is freed when that ends\n",
        by_whom(done.maker).c_str());
  if (done.waits_for_rest)
    say("this file system does not keep locks: files are removed two weeks after their last use\n");
  if (done.clock_in_doubt)
    say("the clock is more than a year ahead of everything in the cache: no build was removed by age\n");
}

// Notes a collection that changed something in the audit log.
void note(const CacheRun& run, const cache::Collected& done) {
  const std::uint64_t freed = freed_by(done);
  if (done.removed.empty() && freed == 0) return;
  Json builds = Json::array();
  for (const auto& build : done.removed) builds.push(build.build);
  open::OpenContext context(run.settings);
  context.note("gc", Json::object().set("builds", std::move(builds)).set("freed", freed));
  run.warn(context.warnings());
}

Result<CacheAnswer> collect(const CacheRun& run, const GcFlags& flags) {
  const cache::Store store = run.store();
  TRY(store.check_readable());
  cache::CollectOptions options;
  options.dry_run = flags.dry_run;
  options.orphaned = flags.orphaned;
  if (run.settings.cache_max_bytes != 0) options.max_bytes = run.settings.cache_max_bytes;
  if (!flags.max_size.empty()) {
    options.max_bytes = parse_size(flags.max_size);
    if (!options.max_bytes) return fail(unusable("--max-size", flags.max_size, "a size, as 500M or 20G"));
  }
  if (!flags.max_age.empty()) {
    options.max_age = parse_age(flags.max_age);
    if (!options.max_age) return fail(unusable("--max-age", flags.max_age, "a time, as 30d or 12h"));
  }
  TRY_ASSIGN(const cache::Collected done, explain::of_this_cache(store.collect(options)));
  if (!options.dry_run) note(run, done);
  if (run.prints_text()) {
    report(store, done, flags);
    for (const Diagnosis& why : done.stayed)
      std::fprintf(stderr, "stayed: %s%s\n", explain::one_line(why).c_str(),
                   why.value(Key::consequence).empty()
                       ? ""
                       : (" (" + std::string(why.value(Key::consequence)) + ")").c_str());
  }
  Json stayed = Json::array();
  for (const Diagnosis& why : done.stayed) stayed.push(explain::to_json(why));
  Json document = Json::object();
  document.set("format", 1).set("cache", path_text(store.root())).set("dry_run", options.dry_run);
  if (options.max_bytes) document.set("max_bytes", *options.max_bytes);
  if (options.max_age) document.set("max_age_seconds", static_cast<std::int64_t>(options.max_age->count()));
  document.set("removed", builds_of(done.removed))
      .set("kept", builds_of(done.kept))
      .set("before", sizes(done.logical_before, done.physical_before))
      .set("after", sizes(done.logical_after, done.physical_after))
      .set("unrecorded", trees_of(done.orphaned))
      .set("bound_missed", done.bound_missed)
      .set("stayed", std::move(stayed))
      .set("left_to_maker", done.left_to_maker)
      .set("maker", done.maker ? to_json(*done.maker) : Json())
      .set("waits_for_rest", done.waits_for_rest)
      .set("clock_in_doubt", done.clock_in_doubt);
  // The status is that of the first thing that stayed, so that it is noticed before the disk is full.
  return CacheAnswer(std::move(document),
                     done.stayed.empty() ? 0 : static_cast<int>(explain::exit_status(done.stayed.front())));
}

Result<Json> change_pin(const CacheRun& run, const std::string& given, bool pin) {
  const cache::Store store = run.store();
  TRY(store.check_readable());
  open::OpenContext context(run.settings);
  TRY(explain::of_this_cache(open::repair_places(context)));
  TRY_ASSIGN(const std::string build, installed_build(store, given));
  bool changed = true;
  if (pin) {
    changed = !store.is_pinned(build).value_or(false);  // a pin that cannot be read counts as changed
    TRY(explain::of_this_cache(store.pin(build)));
  } else {
    TRY_ASSIGN(changed, explain::of_this_cache(store.unpin(build)));
  }
  if (changed) context.note(pin ? "pin" : "unpin", Json::object().set("build", build));
  run.warn(context.warnings());
  if (run.prints_text())
    say("%s %s\n", build.c_str(), pin ? "is pinned" : changed ? "is no longer pinned" : "was not pinned");
  return Json::object().set("format", 1).set("build", build).set("pinned", pin).set("changed", changed);
}

CacheSubcommand add_pin(CLI::App& app, bool pin) {
  const auto build = std::make_shared<std::string>();
  CLI::App* pinning = pin ? app.add_subcommand("pin", "keep a build from being removed by gc")
                          : app.add_subcommand("unpin", "let gc remove a pinned build again");
  pinning->add_option("ID", *build, build_id_meaning)->required();
  return {pinning, [build, pin](const CacheRun& run) { return change_pin(run, *build, pin); }, true};
}

}  // namespace

std::vector<CacheSubcommand> add_gc(CLI::App& app) {
  const auto flags = std::make_shared<GcFlags>();
  CLI::App* collecting =
      app.add_subcommand("gc", "remove builds by age and size, and leftovers that belong to no build");
  collecting
      ->add_option("--max-size", flags->max_size,
                   "remove the longest unused builds until the cache is below nine tenths of this size (20G)")
      ->type_name("N");
  collecting->add_option("--max-age", flags->max_age, "remove builds unused for this long (30d, 12h)")
      ->type_name("N");
  collecting->add_flag("--unrecorded", flags->orphaned,
                       "also remove trees that lost their records with the folder of records");
  collecting->add_flag("--dry-run", flags->dry_run, "only show what would be removed");
  return {{collecting, [flags](const CacheRun& run) { return collect(run, *flags); }, true},
          add_pin(app, true),
          add_pin(app, false)};
}

}  // namespace enginehost::commands
