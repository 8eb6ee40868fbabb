#include "host/open/open.hpp"

#include <enginehost/enginehost.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/location.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "base/version_specifier.hpp"
#include "host/consent/consent.hpp"
#include "host/explain/explain.hpp"
#include "host/sdk/handles.hpp"
#include "host/settings/settings.hpp"

namespace {

using namespace enginehost;  // NOLINT: the functions below are the C API's and stand outside the namespace

constexpr std::uint32_t longest_probe = 3600;  // same limit as in a configuration file

std::string text_or_empty(const char* text) { return text != nullptr ? text : ""; }

// Checks each text of a list. A count without a list, or a NULL in the list, is an error.
Result<void> check_list(const char* argument, const char* const* list, std::size_t count) {
  if (count > 0 && list == nullptr)
    return fail(sdk::wrong_argument(argument, "it is NULL, and the count is not 0"));
  for (std::size_t i = 0; i < count; ++i)
    if (list[i] == nullptr)
      return fail(sdk::wrong_argument((argument + ("[" + std::to_string(i) + "]")).c_str(), "it is NULL"));
  return {};
}

// Returns the name of the level in settings; empty for none.
std::string name_of_level(std::int32_t level) {
  return level == ENGINEHOST_LOG_DEBUG     ? "debug"
         : level == ENGINEHOST_LOG_INFO    ? "info"
         : level == ENGINEHOST_LOG_WARNING ? "warning"
         : level == ENGINEHOST_LOG_ERROR   ? "error"
                                           : "";
}

Result<void> check_request(const enginehost_request& request) {
  if (request.engine == nullptr || *request.engine == '\0')
    return fail(sdk::wrong_argument("request.engine", "no engine is named"));
  TRY(check_list("request.repositories", request.repositories, request.repository_count));
  TRY(check_list("request.accepted_licenses", request.accepted_licenses, request.accepted_license_count));
  TRY(check_list("request.installations", request.installations, request.installation_count));
  // Checked here, because an engine that is open already is shared without reading settings.
  const std::string device = text_or_empty(request.device), version = text_or_empty(request.version);
  if (const std::string wrong = settings::not_a_device(device); !wrong.empty())
    return fail(sdk::wrong_argument("request.device", "\"" + device + "\": " + wrong));
  if (request.package_index != nullptr)
    if (const std::string wrong = not_an_index(request.package_index); !wrong.empty())
      return fail(sdk::wrong_argument("request.package_index", wrong));
  if (const std::string wrong = VersionSpecifier(version).problem(); !wrong.empty())
    return fail(sdk::wrong_argument(
        "request.version", "\"" + version + "\": " + wrong + "; accepted are " + std::string(version_forms)));
  if (request.require != 0 && text_or_empty(request.flavor).empty())
    return fail(sdk::wrong_argument("request.require", "it needs request.flavor"));
  if (request.probe_seconds > longest_probe)
    return fail(sdk::wrong_argument("request.probe_seconds",
                                    "it is " + std::to_string(request.probe_seconds) + "; at most " +
                                        std::to_string(longest_probe) + " are allowed"));
  if (request.log_level != 0 && name_of_level(request.log_level).empty())
    return fail(sdk::wrong_argument("request.log_level", "it is " + std::to_string(request.log_level) +
                                                             "; 0 and ENGINEHOST_LOG_... are accepted"));
  return {};
}

// Returns a checked copy of the caller's struct. Fields that the caller's header does not have are zero.
Result<enginehost_request> request_of(const enginehost_request* given) {
  TRY(sdk::not_null("request", given));
  enginehost_request request{};
  // The struct of any header ends at a multiple of its alignment; a part of a field is not copied.
  const std::size_t size = given->size - given->size % alignof(enginehost_request);
  if (size < offsetof(enginehost_request, engine) + sizeof request.engine)
    return fail(sdk::wrong_argument("request.size", "it is not set (ENGINEHOST_REQUEST_INIT sets it)"));
  std::memcpy(&request, given, std::min(size, sizeof request));
  TRY(check_request(request));
  return request;
}

settings::FlagValues flags_of(const enginehost_request& request) {
  settings::FlagValues flags;
  flags.by_application = true;
  if (request.offline != 0) flags.offline = true;
  flags.allow_unsigned = request.allow_unsigned != 0;
  if (request.cache != nullptr) flags.cache = request.cache;
  if (request.helper != nullptr) flags.helper = request.helper;
  if (request.package_index != nullptr) flags.package_index = request.package_index;
  if (request.update != nullptr) flags.update = request.update;
  if (request.lock != nullptr) flags.lock = request.lock;
  if (request.log_level != 0) flags.log = name_of_level(request.log_level);
  flags.repositories.assign(request.repositories, request.repositories + request.repository_count);
  flags.installations.assign(request.installations, request.installations + request.installation_count);
  flags.accept_licenses.assign(request.accepted_licenses,
                               request.accepted_licenses + request.accepted_license_count);
  return flags;
}

// Returns all parts of the request that decide what is opened; callbacks and user data do not.
std::string key_of(const enginehost_request& request) {
  std::string key;
  const auto add = [&](const char* text) {
    key += text != nullptr ? '+' : '-';  // "" is not the same as NULL
    if (text != nullptr) key += text;
    key += '\0';
  };
  for (const char* const text : {request.engine, request.version, request.flavor, request.device,
                                 request.package_index, request.update, request.force})
    add(text);
  key += request.require != 0 ? 'r' : '-';
  key += request.offline != 0 ? 'o' : '-';
  key += request.no_probe != 0 ? 'n' : '-';
  key += request.allow_unsigned != 0 ? 'u' : '-';
  // An engine logs from one level on.
  if (request.on_log != nullptr) key += "l" + std::to_string(request.log_level);
  key += '\0';
  std::vector<const char*> folders{request.cache, request.helper, request.lock};
  folders.insert(folders.end(), request.repositories, request.repositories + request.repository_count);
  folders.push_back(nullptr);
  folders.insert(folders.end(), request.installations, request.installations + request.installation_count);
  for (const char* const folder : folders) add(folder);
  // A relative folder depends on the current folder.
  std::error_code ignored;
  if (std::ranges::any_of(folders, [](const char* folder) { return folder != nullptr && *folder != '/'; }))
    add(path_text(std::filesystem::current_path(ignored)).c_str());
  return key;
}

// The licenses that the application declined in one call, by question. The next candidates often come under
// the same ones, perhaps in other words.
using Declined = std::vector<std::set<std::string>>;

// Returns the caller's answer. Without a callback, any license that nobody accepted is refused. A question
// that includes all licenses of a declined one is not asked.
Result<void> consent(const enginehost_request& request, const settings::Settings& settings,
                     const acquire::Question& asked, Declined& declined) {
  TRY_ASSIGN(const std::vector<acquire::LicenseQuestion> licenses, consent::licenses_to_ask(settings, asked));
  std::vector<const char*> ids, urls, digests;
  std::set<std::string> named;
  for (const acquire::LicenseQuestion& license : licenses) {
    named.insert(license.license.id);
    ids.push_back(license.license.id.c_str());
    urls.push_back(license.license.url.c_str());
    digests.push_back(license.license.sha256.c_str());
  }
  const bool callback = request.on_consent != nullptr;
  const bool is_declined =
      std::ranges::any_of(declined, [&](const auto& before) { return std::ranges::includes(named, before); });
  if (callback && !is_declined) {
    enginehost_question question{};
    question.size = sizeof question;
    question.build = asked.build.c_str();
    question.download_bytes = asked.download;
    question.download_known = asked.download_known;
    question.license_count = ids.size();
    question.license_ids = ids.data();
    question.license_urls = urls.data();
    question.license_sha256s = digests.data();
    const bool agreed = sdk::ask_application(
        "request.on_consent", [&] { return request.on_consent(&question, request.user_data) != 0; });
    if (agreed) {
      for (const acquire::LicenseQuestion& license : licenses)
        TRY(consent::accept_license(settings, consent::terms_of(license.license), settings::ConsentWay::api));
      return {};
    }
    if (ids.empty())
      return fail(diagnose(Code::consent_missing)
                      .with(Key::build, asked.build)
                      .with(Key::bytes, format_bytes(asked.download))
                      .with(Key::asked, "request.on_consent", "the request"));
    declined.push_back(std::move(named));
  }
  if (licenses.empty()) return {};
  return fail(std::move(
      consent::consent_missing(asked, licenses.front())
          .with(Key::asked, callback ? "request.on_consent" : "request.accepted_licenses", "the request")));
}

open::OpenRequest open_request(const enginehost_request& request, open::AskedSettings settings) {
  open::OpenRequest open;
  open.request.engine = request.engine;
  open.request.version = text_or_empty(request.version);
  open.request.flavor = text_or_empty(request.flavor);
  if (!open.request.flavor.empty()) open.request.flavor_source = "request.flavor";
  open.request.device = text_or_empty(request.device);
  if (!open.request.device.empty()) open.request.device_source = "request.device";
  open.request.require = request.require != 0;
  open.request.force = text_or_empty(request.force);
  open.attempt.probe = request.no_probe == 0;
  if (request.probe_seconds != 0) open.attempt.probe_deadline = std::chrono::seconds(request.probe_seconds);
  if (request.on_progress != nullptr)
    open.attempt.progress = [&request](const transfer::Progress& now) {
      enginehost_progress progress{};
      progress.size = sizeof progress;
      progress.phase = transfer::name_of(now.phase);
      progress.source = now.source.c_str();
      progress.done = now.done;
      progress.total = now.total.value_or(0);
      progress.bytes_per_second = now.bytes_per_second;
      sdk::ask_application("request.on_progress", [&] {
        request.on_progress(&progress, request.user_data);
        return true;
      });
    };
  open.asks = request.on_consent != nullptr;
  open.attempt.consent = [&request, settings = std::move(settings),
                          declined = std::make_shared<Declined>()](const acquire::Question& asked) {
    return consent(request, settings(), asked, *declined);
  };
  return open;
}

void listen(enginehost_engine& engine, const enginehost_request& request) {
  if (request.on_device == nullptr) return;
  engine.health = engine.shared->health();
  engine.listener = engine.health->add_listener(
      [callback = request.on_device, user_data = request.user_data](const load::DeviceEvent& happened) {
        sdk::report(callback, user_data, happened);
      });
}

// Adds the application's function as a listener and returns its number.
std::size_t add_to(load::EngineLog& log, const enginehost_request& request) {
  return log.add([callback = request.on_log, user_data = request.user_data](const load::LogMessage& said) {
    const std::string topic(said.topic), message(said.message);
    enginehost_log reported{};
    reported.size = sizeof reported;
    reported.level = said.level;
    reported.in_probe = said.in_probe ? 1 : 0;
    reported.topic = topic.c_str();
    reported.message = message.c_str();
    callback(&reported, user_data);
  });
}

}  // namespace

enginehost_status enginehost_open(const enginehost_request* given, enginehost_engine** out,
                                  enginehost_error** error) noexcept {
  if (out != nullptr) *out = nullptr;
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY_ASSIGN(const enginehost_request request, request_of(given));
    TRY(sdk::not_null("out", out));
    open::SharedRequest wanted;
    wanted.key = key_of(request);
    wanted.flags = [&request] { return flags_of(request); };
    auto engine = std::make_unique<enginehost_engine>();
    if (request.on_log != nullptr) {
      engine->log = std::make_shared<load::EngineLog>();
      engine->log_listener = add_to(*engine->log, request);
    }
    wanted.request = [&request, &engine](open::AskedSettings settings) {
      open::OpenRequest open = open_request(request, std::move(settings));
      open.attempt.log = engine->log;
      open.attempt.log_level = request.log_level;
      return open;
    };
    wanted.cancel = sdk::call_with(request.cancel).cancel;
    engine->requested_device = text_or_empty(request.device);
    TRY_ASSIGN(engine->shared, open::open_shared(wanted));
    listen(*engine, request);
    // The engine was open already: listen to its log.
    if (const auto& log = engine->shared->opened().log; engine->log && log && engine->log != log) {
      engine->log = log;
      engine->log_listener = add_to(*log, request);
    }
    *out = engine.release();
    return {};
  });
}

enginehost_status enginehost_plan(const enginehost_request* given, char** json,
                                  enginehost_error** error) noexcept {
  if (json != nullptr) *json = nullptr;
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY_ASSIGN(const enginehost_request request, request_of(given));
    TRY(sdk::not_null("json", json));
    TRY_ASSIGN(settings::Settings settings,
               settings::load_settings(flags_of(request), settings::Environment::of_this_process()));
    open::OpenContext context(std::move(settings), std::nullopt, sdk::call_with(request.cancel).cancel);
    open::OpenRequest open =
        open_request(request, [&]() -> const settings::Settings& { return context.settings(); });
    open.plan_only = true;
    open::Outcome outcome = open::open_engine(context, open);
    *json = sdk::copy_text(enginehost::without_passwords(open::document(context, outcome).dump(2)));
    if (outcome.state == open::State::failed)
      return fail(outcome.diagnosis.value_or(diagnose(Code::no_build_fits)));
    return {};
  });
}

enginehost_status enginehost_platform(char** json, enginehost_error** error) noexcept {
  if (json != nullptr) *json = nullptr;
  return sdk::guarded(error, [&]() -> Result<void> {
    TRY(sdk::not_null("json", json));
    TRY_ASSIGN(settings::Settings settings,
               settings::load_settings({}, settings::Environment::of_this_process()));
    settings.offline = true;  // builds only say which libraries to look for; nothing is fetched
    open::OpenContext context(std::move(settings));
    context.refresh();
    context.look_for_libraries({});
    *json = sdk::copy_text(
        Json::object().set("format", 1).set("platform", platform::to_json(context.platform(), true)).dump(2));
    return {};
  });
}
