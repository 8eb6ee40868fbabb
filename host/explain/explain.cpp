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
  if (!diagnosis.values("provided_by").empty()) return;
  std::vector<std::string> libraries = diagnosis.values("library");
  for (const std::string& file : diagnosis.values("other_release"))
    if (const Provider* provider = provider_of(file))
      diagnosis.with("other_release_of", provider->what, "EngineHost's table of well-known libraries");
  for (std::string& library : diagnosis.values("missing_library")) libraries.push_back(std::move(library));
  for (const std::string& library : libraries)
    if (const std::string text = provider_text(library); !text.empty())
      diagnosis.with("provided_by", text, "EngineHost's table of well-known libraries");
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
  if (diagnosis.code != "EH-E01") return nullptr;
  std::string status(diagnosis.value("status"));
  if (status == "ENGINE_CORRUPT" && !diagnosis.value("model").empty()) status += " of a model";
  const auto found = std::ranges::find(of_plugins, status, &StatusOfPlugin::said);
  return found != std::end(of_plugins) ? &*found : nullptr;
}

// Returns true if the process hung in the driver's library or survived SIGKILL. The driver is at fault then,
// not the build.
bool waits_for_a_driver(const Diagnosis& diagnosis) {
  if (!diagnosis.value("survived_kill").empty()) return true;
  const std::string_view library = diagnosis.value("in_library");
  const std::string_view name = library.substr(library.find_last_of('/') + 1);
  return name.starts_with("libcuda.so") || name.starts_with("libnvidia-");
}

// Any error of the plugin while a build is tested means that the build did not start.
bool while_opening(const Diagnosis& diagnosis) { return !diagnosis.value("stage").empty(); }

bool is_of_argument(const Diagnosis& diagnosis) { return diagnosis.value("place") == "argument"; }

// Returns true for classes of a named file that is missing, not readable or of another kind.
bool says_unreadable(const Entry& entry) {
  return entry.category == history::Category::content || entry.exit_status == ExitStatus::wrong_bytes ||
         entry.name.code == "EH-L25" || entry.name.code == "EH-L26" || entry.name.code == "EH-L33";
}

// A missing or old driver can often be installed. The remedy for it then comes before remedies that change
// the request.
void add_advice_for_the_nearest(Diagnosis& diagnosis) {
  constexpr std::string_view to_be_had[] = {"EH-G01", "EH-G02", "EH-G03", "EH-G07", "EH-G09", "EH-G10",
                                            "EH-G13", "EH-G15", "EH-G19", "EH-G20", "EH-G21"};
  const std::string_view code = diagnosis.value("first_code");
  // Variables decide what ROCm offers, and a hypervisor what a processor has.
  const bool of_variable =
      code == "EH-S16" && !(diagnosis.value("variable").empty() && diagnosis.value("close_version").empty() &&
                            diagnosis.value("not_offered").empty());
  const bool of_hypervisor = code == "EH-L27" && !diagnosis.value("virtual_machine").empty();
  if (diagnosis.code != "EH-S01" ||
      (!of_variable && !of_hypervisor &&
       std::find(std::begin(to_be_had), std::end(to_be_had), code) == std::end(to_be_had)))
    return;
  Diagnosis lacking = diagnose(std::string(code));
  lacking.evidence = diagnosis.evidence;
  complete(lacking);
  // On a machine without a GPU, no driver helps.
  const bool in_vain = (code == "EH-G01" || code == "EH-G02") && lacking.value("pci_device") == "none";
  if (!lacking.remedy.empty() && !in_vain)
    diagnosis.remedy.insert(diagnosis.remedy.begin(), std::move(lacking.remedy.front()));
}

}  // namespace

Diagnosis of_exception(const std::exception& thrown) {
  Diagnosis shortage = diagnose("EH-P51");
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
    shortage.with("os_said", refused->code().message(), "the system");
    add_limits(shortage, Scarce::threads);
    return shortage;
  }
  // Only starting a thread throws this: old container profiles refuse clone3 with EPERM, where ENOSYS would
  // have made the C library use clone. A filesystem_error is about a file.
  if (refused != nullptr && refused->code() == std::errc::operation_not_permitted &&
      dynamic_cast<const std::filesystem::filesystem_error*>(&thrown) == nullptr)
    return std::move(shortage.with("os_said", refused->code().message(), "the system")
                         .with("refused", "a thread", "the system"));
  return std::move(diagnose("EH-P99").with("problem", thrown.what()));
}

Diagnosis mark_as_argument(Diagnosis diagnosis) {
  if (diagnosis.value("place").empty()) diagnosis.with("place", "argument");
  return diagnosis;
}

Diagnosis mark_as_argument(Diagnosis diagnosis, const std::filesystem::path& named) {
  for (const std::string_view key : {"file", "folder"}) {
    const std::filesystem::path about = path_of(diagnosis.value(key));
    if (!about.empty() && (is_below(about, named) || about == named.parent_path()))
      return mark_as_argument(std::move(diagnosis));
  }
  return diagnosis;
}

Diagnosis of_this_cache(Diagnosis diagnosis) {
  if (diagnosis.code == "EH-F16" && diagnosis.value("place").empty()) diagnosis.with("place", "cache");
  return diagnosis;
}

void complete(Diagnosis& diagnosis) {
  const Entry* entry = find(diagnosis.code);
  if (entry == nullptr) {
    if (diagnosis.title.empty()) diagnosis.title = "unknown failure code";
    if (diagnosis.cause.empty())
      diagnosis.cause = diagnosis.code + " is not in the catalog: a bug of EngineHost";
    return;
  }
  add_providers(diagnosis);
  add_derived(diagnosis);
  if (diagnosis.title.empty()) diagnosis.title = entry->name.title;
  if (diagnosis.cause.empty())
    for (const std::string_view cause : entry->causes)
      if (auto sentence = fill(cause, diagnosis)) {
        diagnosis.cause = std::move(*sentence);
        break;
      }
  if (diagnosis.cause.empty()) diagnosis.cause = entry->name.title;
  if (diagnosis.remedy.empty()) {
    for (const std::string_view remedy : entry->remedies)
      if (auto sentence = fill(remedy, diagnosis)) diagnosis.remedy.push_back(std::move(*sentence));
    add_advice_for_the_nearest(diagnosis);
  }
}

std::span<const StatusOfPlugin> statuses_of_plugins() { return of_plugins; }

ExitStatus exit_status(const Diagnosis& diagnosis) {
  if (const StatusOfPlugin* meaning = meaning_of(diagnosis); meaning != nullptr && !while_opening(diagnosis))
    return meaning->exit;
  const Entry* entry = find(diagnosis.code);
  if (entry == nullptr) return ExitStatus::bug;
  // A server sent a document that cannot be read. A document that is too new (EH-M03, EH-M04) has no wrong
  // bytes.
  if ((diagnosis.code == "EH-M01" || diagnosis.code == "EH-M02") && !diagnosis.value("sent_by").empty())
    return ExitStatus::wrong_bytes;
  return is_of_argument(diagnosis) && says_unreadable(*entry) ? ExitStatus::usage : *entry->exit_status;
}

bool exceeds_memory_limit(const Diagnosis& diagnosis) {
  return diagnosis.code == "EH-L23" &&
         !(diagnosis.value("limit").empty() && diagnosis.value("data_limit").empty());
}

history::Category category(const Diagnosis& diagnosis) {
  if (const StatusOfPlugin* meaning = meaning_of(diagnosis)) {
    // A plugin that rejects its own options while it is opened will reject them every time.
    if (while_opening(diagnosis) && meaning->said == "ENGINE_INVALID") return history::Category::host;
    return meaning->category;
  }
  // Memory was short for a moment or by a limit of this process, unless the machine or the file is named.
  const auto found = [&](std::string_view what) { return !diagnosis.value(what).empty(); };
  if (diagnosis.code == "EH-L23" &&
      (exceeds_memory_limit(diagnosis) || (!found("memory") && !found("zero_filled"))))
    return history::Category::transient;
  // The list of devices differs in this process alone.
  if (diagnosis.code == "EH-G16" && found("only_here")) return history::Category::request;
  if (diagnosis.code == "EH-R05" && waits_for_a_driver(diagnosis)) return history::Category::transient;
  // Somebody else may have killed the probe.
  if (diagnosis.code == "EH-R04" && found("status_lost")) return history::Category::transient;
  // The request set a shorter limit than allowed.
  if (diagnosis.code == "EH-R05" && !diagnosis.value("allowed").empty()) return history::Category::request;
  const Entry* entry = find(diagnosis.code);
  return entry != nullptr ? *entry->category : history::Category::request;
}

Json to_json(const Diagnosis& diagnosis) {
  Diagnosis whole = diagnosis;
  complete(whole);
  Json evidence = Json::array();
  for (const Evidence& fact : whole.evidence)
    evidence.push(Json::object().set("what", fact.what).set("value", fact.value).set("source", fact.source));
  return Json::object()
      .set("code", whole.code)
      .set("title", whole.title)
      .set("cause", whole.cause)
      .set("evidence", std::move(evidence))
      .set("remedy", Json::strings(whole.remedy))
      .set("context", Json::strings(whole.context));
}

Diagnosis diagnosis_from_json(const Json& document) {
  Diagnosis diagnosis = diagnose(document["code"].as_string());
  diagnosis.title = document["title"].as_string();
  diagnosis.cause = document["cause"].as_string();
  for (const Json& fact : document["evidence"].as_array())
    diagnosis.with(fact["what"].as_string(), fact["value"].as_string(), fact["source"].as_string());
  for (const Json& line : document["remedy"].as_array()) diagnosis.remedy.push_back(line.as_string());
  for (const Json& line : document["context"].as_array()) diagnosis.context.push_back(line.as_string());
  return diagnosis;
}

}  // namespace enginehost::explain
