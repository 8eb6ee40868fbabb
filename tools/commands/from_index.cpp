#include "tools/commands/from_index.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "host/commands/location_flags.hpp"
#include "host/context/request.hpp"
#include "host/explain/explain.hpp"
#include "host/settings/policy.hpp"
#include "host/transfer/progress_bar.hpp"
#include "tools/follow/from_index.hpp"

namespace enginehost::commands {
namespace {

namespace fs = std::filesystem;

// Limit of each wait for a server in a request that has failed already.
constexpr std::chrono::milliseconds patience_of_a_hint{2'000};

std::string exactly(const std::string& version) { return (is_version(version) ? "==" : "===") + version; }

bool serves(const follow::Row& row, const std::string& device) {
  const std::string kind = device.substr(0, device.find(':'));
  const Json& capabilities = row.build["capabilities"];
  return std::ranges::any_of(capabilities.as_array(), [&](const Json& one) {
    const std::string& capability = one.as_string();
    return kind == "gpu" ? capability.starts_with("device.") && capability != "device.cpu"
                         : capability == "device." + kind;
  });
}

// The plan writes "cu{cuda_digits}".
bool has_flavor(const follow::Row& row, const std::string& flavor) {
  const std::string& pattern = row.build["flavor"].as_string();
  const std::size_t variable = pattern.find('{');
  return variable == std::string::npos ? pattern == flavor : flavor.starts_with(pattern.substr(0, variable));
}

// Rows that could be opened here, because each costs downloads of many megabytes.
bool is_wanted(const follow::Row& row, const resolve::Request& request, const platform::Platform& platform) {
  const std::vector<std::string> devices = resolve::devices_of(request.device);
  if (!devices.empty() &&
      std::ranges::none_of(devices, [&](const std::string& device) { return serves(row, device); }))
    return false;
  const bool is_for_cpu = has_flavor(row, "cpu");
  if (!request.flavor.empty()) return has_flavor(row, request.flavor) || (is_for_cpu && !request.require);
  return is_for_cpu || !serves(row, "cuda") || platform.cuda.driver.is_known();
}

// Returns EH-S37 without a plan of the engine.
Result<fs::path> plan_of(const std::string& engine, const fs::path& repository) {
  const fs::path folder = repository.parent_path() / "plans";
  const fs::path plan = folder / path_of(engine + ".json");
  std::error_code error;
  if (fs::exists(plan, error)) return plan;
  std::vector<std::string> known;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".json") known.push_back(path_text(at->path().stem()));
  std::ranges::sort(known);
  Diagnosis none =
      diagnose(Code::build_not_derived).with(Key::engine, engine).with(Key::plans, path_text(folder));
  for (const std::string& one : known) none.with(Key::planned, one, path_text(folder));
  return fail(std::move(none));
}

// A request for a build of the index, with what it needs.
class IndexedRequest {
 public:
  IndexedRequest(const settings::Settings& settings, const resolve::Request& request,
                 open::OpenContext& context)
      : settings_(settings), request_(request), context_(context), options_(context.transfer_options()) {}

  Result<void> check() const;
  // `patience`: of one request to a server; not set: the settings'.
  Result<void> open(std::optional<std::chrono::milliseconds> patience,
                    std::function<Result<void>(const acquire::Question&)> consent = {});
  follow::DerivedRepository& derived() { return *derived_; }
  // Returns the repository that lists a build of that version for this system, or nothing.
  std::optional<std::string> lister_of(const std::string& version) const;
  // Returns EH-S34 if the policy does not allow the version.
  std::optional<Diagnosis> pinned(const std::string& version) const;

 private:
  const settings::Settings& settings_;
  const resolve::Request& request_;
  open::OpenContext& context_;
  transfer::TransferOptions options_;
  std::optional<follow::PackageIndex> index_;
  std::unique_ptr<follow::DerivedRepository> derived_;
};

Result<void> IndexedRequest::check() const {
  if (auto forbidden = settings::forbidden_from_index(settings_)) return fail(std::move(*forbidden));
  TRY(context_.check_state_place());
  if (settings::own_repository(settings_).empty())
    return fail(diagnose(Code::build_not_derived)
                    .with(Key::engine, request_.engine)
                    .with(Key::own_repository, "none"));
  return {};
}

Result<void> IndexedRequest::open(std::optional<std::chrono::milliseconds> patience,
                                  std::function<Result<void>(const acquire::Question&)> consent) {
  follow::FromIndexRequest request;
  request.own = path_of(settings::own_repository(settings_));
  TRY_ASSIGN(request.plan, plan_of(request_.engine, request.own));
  request.folder = path_of(settings::derived_repository(settings_));
  const platform::Platform& platform = context_.platform();
  request.os = platform.os.value();
  request.arch = platform.arch.value();
  request.wanted = [this, &platform](const follow::Row& row) { return is_wanted(row, request_, platform); };
  request.now = open::OpenContext::now();
  request.store = &context_.store();
  request.consent = std::move(consent);
  if (patience) {
    options_.connect_limit = options_.stall_limit = options_.document_limit = *patience;
    options_.retries = 0;
  }
  index_.emplace(options_, context_.cancel());
  TRY_ASSIGN(derived_,
             follow::DerivedRepository::open(std::move(request), *index_, options_, context_.cancel()));
  for (const std::string& license : derived_->licenses())
    if (auto forbidden = settings::forbidden_license(settings_.policy, license))
      return fail(std::move(*forbidden));
  return {};
}

std::optional<std::string> IndexedRequest::lister_of(const std::string& version) const {
  context_.need_engine(request_.engine);
  const platform::Platform& platform = context_.platform();
  for (const auto& build : context_.catalog().builds) {
    if (build->engine != request_.engine || build->in_place ||
        compare_versions(build->version, version) != 0 || build->os != platform.os.value() ||
        build->arch != platform.arch.value() ||
        (!request_.flavor.empty() && build->flavor != request_.flavor))
      continue;
    const auto manifest = build->manifest.lock();
    const bool is_listed = manifest && !manifest->repository.empty();
    return is_listed ? without_passwords(manifest->repository) : "the record of the installed build";
  }
  return std::nullopt;
}

std::optional<Diagnosis> IndexedRequest::pinned(const std::string& version) const {
  const std::string* const range = settings::excluding_range(settings_.policy, request_.engine, version);
  if (range == nullptr) return std::nullopt;
  return std::move(diagnose(Code::version_not_allowed)
                       .with(Key::build, request_.engine + " " + version)
                       .with(Key::found, version)
                       .with(Key::range, *range, "policy")
                       .with(Key::file, settings_.policy.file));
}

// Uses what was derived before, and says so.
Result<std::string> version_without_the_index(IndexedRequest& asked, const resolve::Request& request,
                                              const std::optional<Diagnosis>& why,
                                              std::vector<std::string>& warnings) {
  const std::vector<std::string> before = asked.derived().derived_before(request.version);
  if (!before.empty()) {
    warnings.push_back("the package index was not asked" + (why ? ": " + explain::one_line(*why) : "") +
                       "; " + request.engine + " " + before.front() + " is as it was derived here before");
    return before.front();
  }
  if (why) return fail(*why);
  Diagnosis offline = diagnose(Code::build_not_derived)
                          .with(Key::engine, request.engine)
                          .with(Key::offline, "yes", "request");
  for (const std::string& version : asked.derived().derived_before(""))
    offline.with(Key::before, version, "this machine");
  return fail(std::move(offline));
}

void use_repository(settings::Settings& settings) {
  const std::string location = settings::derived_repository(settings);
  settings.repositories.push_back({location, true, "--from-index", true});
  settings.effective.push_back({"repository", location, "--from-index"});
  names_repository(location);
}

// A failure that only means that the index cannot be asked now. A project that it lists no more (EH-N13) may
// have been withdrawn.
bool is_of_the_network(const Diagnosis& failure) {
  return area_of(failure.code) == Area::network && failure.code != Code::not_in_package_index;
}

Result<void> derive(IndexedRequest& asked, const std::string& version, open::OpenContext& context,
                    transfer::ProgressBar& bar, std::vector<std::string>& warnings) {
  TRY(context.check_cache());
  TRY(context.store().check_writable());
  bar.step("deriving", version + " from the package index");
  auto made = asked.derived().derive(version, bar.callback());
  bar.clear();
  TRY_ASSIGN(const follow::FromIndex derived, std::move(made));
  for (const std::string& build : derived.builds)
    bar.line("derived   " + build +
             (derived.fetched != 0 ? "  (" + format_bytes(derived.fetched) + " read)" : ""));
  for (const Diagnosis& left_out : derived.left_out) warnings.push_back(explain::one_line(left_out));
  if (derived.changed)
    context.note("derive",
                 Json::object().set("builds", Json::strings(derived.builds)).set("bytes", derived.fetched));
  return {};
}

Result<void> add(const CommonFlags& common, settings::Settings& settings, resolve::Request& given) {
  if (auto refused = open::refused_by_policy(given, settings)) return fail(std::move(*refused));
  const resolve::Request request = open::completed(given, open::defaults_of(settings));
  open::OpenContext context(settings, {}, cancel_on_signal());
  context.need_engine(request.engine);
  IndexedRequest asked(settings, request, context);
  TRY(asked.check());
  transfer::ProgressBar bar(stderr, common.quiet, !common.json);
  TRY(asked.open({}, consent_for(context, &bar, common.yes)));
  std::vector<std::string> warnings;
  const auto found = settings.offline ? Result<follow::ReleaseOfIndex>(fail(diagnose(Code::offline)))
                                      : asked.derived().release(request.version);
  if (!found && !is_of_the_network(found.error())) return fail(found.error());
  std::string version = found ? found->version : "";
  if (!found) {
    const auto why = settings.offline ? std::nullopt : std::optional(found.error());
    TRY_ASSIGN(version, version_without_the_index(asked, request, why, warnings));
  } else if (found->skipped) {
    warnings.push_back(request.engine + " " + found->skipped->version +
                       " is not used yet: " + found->skipped->reason);
  }
  if (auto pinned = asked.pinned(version)) return fail(std::move(*pinned));
  const auto lister = asked.lister_of(version);
  if (lister)
    warnings.push_back(request.engine + " " + version + " is listed by " + *lister +
                       ", and is opened as that lists it: --from-index derives nothing");
  else if (found)
    TRY(derive(asked, version, context, bar, warnings));
  given.version = exactly(version);
  if (!lister) use_repository(settings);
  settings.warnings.insert(settings.warnings.end(), warnings.begin(), warnings.end());
  return {};
}

void suggest(open::OpenContext& context, const resolve::Request& request, Diagnosis& failure) {
  const settings::Settings& settings = context.settings();
  if (failure.code != Code::no_build_fits || failure.value(Key::unknown_version).empty() || settings.offline)
    return;
  IndexedRequest asked(settings, request, context);
  if (!asked.check() || !asked.open(patience_of_a_hint)) return;
  const auto found = asked.derived().release(request.version);
  if (!found || asked.pinned(found->version)) return;
  std::string command = "engine-info " + shell_word(request.engine + "@" + found->version);
  if (!request.flavor.empty())
    command += (request.require ? " --require " : " --flavor ") + shell_word(request.flavor);
  failure.with(Key::index_version, request.engine + " " + found->version, "package index")
      .with(Key::from_index, command + " --from-index");
}

}  // namespace

DerivedBuilds add_from_index(CLI::App& app, const char* group) {
  const auto asked = std::make_shared<bool>(false);
  app.add_flag("--from-index", *asked,
               "open the newest release of the package index that fits the request, also one that no "
               "repository lists: this machine then derives and proves its build, and nobody verified it")
      ->group(group);
  return {[asked] { return *asked; }, add,
          [asked](open::OpenContext& context, const resolve::Request& request, Diagnosis& failure) {
            if (!*asked) suggest(context, request, failure);
          }};
}

}  // namespace enginehost::commands
