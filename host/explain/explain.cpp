#include "host/explain/explain.hpp"

#include <algorithm>
#include <new>
#include <system_error>

#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/paths.hpp"
#include "host/explain/providers.hpp"
#include "host/explain/template.hpp"

namespace enginehost::explain {
namespace {

void add_providers(Diagnosis& diagnosis) {
  if (!diagnosis.values(Key::provided_by).empty()) return;
  std::vector<std::string> libraries = diagnosis.values(Key::library);
  for (const std::string& file : diagnosis.values(Key::other_release))
    if (const Provider* provider = provider_of(file))
      diagnosis.with(Key::other_release_of, provider->what, "EngineHost's table of well-known libraries");
  for (std::string& library : diagnosis.values(Key::missing_library)) libraries.push_back(std::move(library));
  for (const std::string& library : libraries)
    if (const std::string text = provider_text(library); !text.empty())
      diagnosis.with(Key::provided_by, text, "EngineHost's table of well-known libraries");
}

// Exit status and category of each status that a plugin reports (EH-E01).
constexpr StatusOfPlugin of_plugins[] = {
    {"ENGINE_INVALID", ExitStatus::usage, history::Category::request},
    {"ENGINE_UNSUPPORTED", ExitStatus::nothing_fits, history::Category::host},
    {"ENGINE_UNAVAILABLE", ExitStatus::not_loaded, history::Category::host},
    {"ENGINE_NO_MEMORY", ExitStatus::not_loaded, history::Category::transient},
    {"ENGINE_CANCELLED", ExitStatus::interrupted, history::Category::request},
    {"ENGINE_CORRUPT", ExitStatus::wrong_bytes, history::Category::content},
    {"ENGINE_INTERNAL", ExitStatus::not_loaded, history::Category::crash},
    {"ENGINE_LOST", ExitStatus::not_loaded, history::Category::transient},
    // A model that the caller named: the files of the build are not at fault.
    {"ENGINE_CORRUPT of a model", ExitStatus::usage, history::Category::request},
};

const StatusOfPlugin* meaning_of(const Diagnosis& diagnosis) {
  if (diagnosis.code != Code::engine_reports_error) return nullptr;
  std::string status(diagnosis.value(Key::status));
  if (status == "ENGINE_CORRUPT" && !diagnosis.value(Key::model).empty()) status += " of a model";
  const auto found = std::ranges::find(of_plugins, status, &StatusOfPlugin::said);
  return found != std::end(of_plugins) ? &*found : nullptr;
}

// Returns true if the process hung in the driver's library or survived SIGKILL. The driver is at fault then,
// not the build.
bool waits_for_a_driver(const Diagnosis& diagnosis) {
  if (!diagnosis.value(Key::survived_kill).empty()) return true;
  const std::string_view library = diagnosis.value(Key::in_library);
  const std::string_view name = library.substr(library.find_last_of('/') + 1);
  return name.starts_with("libcuda.so") || name.starts_with("libnvidia-");
}

// Any error of the plugin while a build is tested means that the build did not start.
bool while_opening(const Diagnosis& diagnosis) { return !diagnosis.value(Key::stage).empty(); }

bool is_of_argument(const Diagnosis& diagnosis) { return diagnosis.value(Key::place) == "argument"; }

// Returns true for classes of a named file that is missing, not readable or of another kind.
bool says_unreadable(const Entry& entry) {
  return entry.category == history::Category::content || entry.exit_status == ExitStatus::wrong_bytes ||
         entry.code == Code::library_not_readable || entry.code == Code::library_input_error ||
         entry.code == Code::path_unusable_for_loader;
}

// A missing or old driver can often be installed. The remedy for it then comes before remedies that change
// the request.
void add_advice_for_the_nearest(Rendered& diagnosis) {
  constexpr Code to_be_had[] = {Code::driver_not_found,
                                Code::driver_is_stub,
                                Code::driver_too_old,
                                Code::no_gpu_visible,
                                Code::driver_and_library_differ,
                                Code::forward_compatibility_not_supported,
                                Code::cuda_unknown_error,
                                Code::driver_library_not_searched,
                                Code::driver_library_empty,
                                Code::linux_driver_in_wsl,
                                Code::driver_module_not_loaded};
  const Code code = code_named(diagnosis.value(Key::first_code));
  // Variables decide what ROCm offers, and a hypervisor what a processor has.
  const bool of_variable = code == Code::rocm_does_not_fit && !(diagnosis.value(Key::variable).empty() &&
                                                                diagnosis.value(Key::close_version).empty() &&
                                                                diagnosis.value(Key::not_offered).empty());
  const bool of_hypervisor =
      code == Code::processor_too_old && !diagnosis.value(Key::virtual_machine).empty();
  if (diagnosis.code != Code::no_build_fits ||
      (!of_variable && !of_hypervisor &&
       std::find(std::begin(to_be_had), std::end(to_be_had), code) == std::end(to_be_had)))
    return;
  Diagnosis same = diagnose(code);
  same.evidence = diagnosis.evidence;
  Rendered lacking = render(same);
  // On a machine without a GPU, no driver helps.
  const bool in_vain = (code == Code::driver_not_found || code == Code::driver_is_stub) &&
                       lacking.value(Key::pci_device) == "none";
  if (!lacking.remedy.empty() && !in_vain)
    diagnosis.remedy.insert(diagnosis.remedy.begin(), std::move(lacking.remedy.front()));
}

}  // namespace

Diagnosis of_exception(const std::exception& thrown) {
  Diagnosis shortage = diagnose(Code::out_of_memory);
  if (dynamic_cast<const std::bad_alloc*>(&thrown) != nullptr) {
    try {
      add_limits(shortage, Scarce::memory);
    } catch (const std::bad_alloc&) {  // the code alone needs no memory
      shortage.evidence.clear();
    }
    return shortage;
  }
  const auto* const refused = dynamic_cast<const std::system_error*>(&thrown);
  if (refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again) {
    shortage.with(Key::os_said, refused->code().message(), "the system");
    add_limits(shortage, Scarce::threads);
    return shortage;
  }
  // Only starting a thread throws this: old container profiles refuse clone3 with EPERM, where ENOSYS would
  // have made the C library use clone. A filesystem_error is about a file.
  if (refused != nullptr && refused->code() == std::errc::operation_not_permitted &&
      dynamic_cast<const std::filesystem::filesystem_error*>(&thrown) == nullptr)
    return std::move(shortage.with(Key::os_said, refused->code().message(), "the system")
                         .with(Key::refused, "a thread", "the system"));
  return std::move(diagnose(Code::bug).with(Key::problem, thrown.what()));
}

Diagnosis mark_as_argument(Diagnosis diagnosis) {
  if (diagnosis.value(Key::place).empty()) diagnosis.with(Key::place, "argument");
  return diagnosis;
}

Diagnosis mark_as_argument(Diagnosis diagnosis, const std::filesystem::path& named) {
  for (const Key key : {Key::file, Key::folder}) {
    const std::filesystem::path about = path_of(diagnosis.value(key));
    if (!about.empty() && (is_below(about, named) || about == named.parent_path()))
      return mark_as_argument(std::move(diagnosis));
  }
  return diagnosis;
}

Diagnosis of_this_cache(Diagnosis diagnosis) {
  if (diagnosis.code == Code::folder_not_writable && diagnosis.value(Key::place).empty())
    diagnosis.with(Key::place, "cache");
  return diagnosis;
}

Rendered render(const Diagnosis& diagnosis) {
  Rendered whole{diagnosis, diagnosis.recorded.title, diagnosis.recorded.cause, diagnosis.recorded.remedy};
  const Entry* entry = find(diagnosis.code);
  if (entry == nullptr) {
    if (whole.title.empty()) whole.title = "unknown failure code";
    if (whole.cause.empty())
      whole.cause = std::string(diagnosis.code_text()) + " is not in the catalog: a bug of EngineHost";
    return whole;
  }
  add_providers(whole);
  add_derived(whole);
  if (whole.title.empty()) whole.title = entry->title;
  if (whole.cause.empty())
    for (const std::string_view cause : entry->causes)
      if (auto sentence = fill(cause, whole)) {
        whole.cause = std::move(*sentence);
        break;
      }
  if (whole.cause.empty()) whole.cause = entry->title;
  if (whole.remedy.empty()) {
    for (const std::string_view remedy : entry->remedies)
      if (auto sentence = fill(remedy, whole)) whole.remedy.push_back(std::move(*sentence));
    add_advice_for_the_nearest(whole);
  }
  return whole;
}

std::span<const StatusOfPlugin> statuses_of_plugins() { return of_plugins; }

ExitStatus exit_status(const Diagnosis& diagnosis) {
  if (const StatusOfPlugin* meaning = meaning_of(diagnosis); meaning != nullptr && !while_opening(diagnosis))
    return meaning->exit;
  const Entry* entry = find(diagnosis.code);
  if (entry == nullptr) return ExitStatus::bug;
  // A server sent a document that cannot be read. A document that is too new (EH-M03, EH-M04) has no wrong
  // bytes.
  if ((diagnosis.code == Code::not_json || diagnosis.code == Code::member_wrong) &&
      !diagnosis.value(Key::sent_by).empty())
    return ExitStatus::wrong_bytes;
  return is_of_argument(diagnosis) && says_unreadable(*entry) ? ExitStatus::usage : entry->exit_status;
}

bool exceeds_memory_limit(const Diagnosis& diagnosis) {
  return diagnosis.code == Code::memory_short_for_library &&
         !(diagnosis.value(Key::limit).empty() && diagnosis.value(Key::data_limit).empty());
}

history::Category category(const Diagnosis& diagnosis) {
  if (const StatusOfPlugin* meaning = meaning_of(diagnosis)) {
    // A plugin that rejects its own options while it is opened will reject them every time.
    if (while_opening(diagnosis) && meaning->said == "ENGINE_INVALID") return history::Category::host;
    return meaning->category;
  }
  // Memory was short for a moment or by a limit of this process, unless the machine or the file is named.
  const auto found = [&](Key what) { return !diagnosis.value(what).empty(); };
  if (diagnosis.code == Code::memory_short_for_library &&
      (exceeds_memory_limit(diagnosis) || (!found(Key::memory) && !found(Key::zero_filled))))
    return history::Category::transient;
  // The list of devices differs in this process alone.
  if (diagnosis.code == Code::no_gpu_offered && found(Key::only_here)) return history::Category::request;
  if (diagnosis.code == Code::engine_does_not_start_in_time && waits_for_a_driver(diagnosis))
    return history::Category::transient;
  // Somebody else may have killed the probe.
  if (diagnosis.code == Code::engine_ended_process_quietly && found(Key::status_lost))
    return history::Category::transient;
  // The request set a shorter limit than allowed.
  if (diagnosis.code == Code::engine_does_not_start_in_time && !diagnosis.value(Key::allowed).empty())
    return history::Category::request;
  const Entry* entry = find(diagnosis.code);
  return entry != nullptr ? entry->category : history::Category::request;
}

Json to_json(const Diagnosis& diagnosis) {
  const Rendered whole = render(diagnosis);
  Json evidence = Json::array();
  for (const Evidence& fact : whole.evidence)
    evidence.push(
        Json::object().set("what", fact.name()).set("value", fact.value).set("source", fact.source));
  return Json::object()
      .set("code", whole.code_text())
      .set("title", whole.title)
      .set("cause", whole.cause)
      .set("evidence", std::move(evidence))
      .set("remedy", Json::strings(whole.remedy))
      .set("context", Json::strings(whole.context));
}

Diagnosis diagnosis_from_json(const Json& document) {
  Diagnosis diagnosis = diagnosis_named(document["code"].as_string());
  diagnosis.recorded.title = document["title"].as_string();
  diagnosis.recorded.cause = document["cause"].as_string();
  for (const Json& fact : document["evidence"].as_array())
    diagnosis.with_named(fact["what"].as_string(), fact["value"].as_string(), fact["source"].as_string());
  for (const Json& line : document["remedy"].as_array())
    diagnosis.recorded.remedy.push_back(line.as_string());
  for (const Json& line : document["context"].as_array()) diagnosis.context.push_back(line.as_string());
  return diagnosis;
}

}  // namespace enginehost::explain
