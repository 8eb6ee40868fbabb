#include "host/commands/location_flags.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/printable.hpp"
#include "base/text.hpp"

namespace enginehost::commands {
namespace {

struct GivenFlag {
  std::string flag, value;
};
std::vector<GivenFlag>& given() {
  static auto& all = *new std::vector<GivenFlag>;
  return all;
}

// The commands that remedies print, with the flags they know. The longest match counts.
struct KnownFlag {
  std::string_view command;
  bool cache = false, repository = false, platform = false;
};
constexpr KnownFlag commands[] = {
    {"engine-info", true, true},
    {"engine-info --code"},
    {"engine-info --platform-json"},
    {"engine-info --verbose"},
    {"engine-info --installations"},
    {"engine-info --inspect", false, false, true},
    {"engine-cache fetch", true, true, true},
    {"engine-cache update", true, true},
    {"engine-cache rollback", true, true},
    {"engine-cache sdk", true, true},
    {"engine-cache lock", true, true, true},
    {"engine-cache verify", true, true},
    {"engine-cache list", true},
    {"engine-cache import", true},
    {"engine-cache path", true},
    {"engine-cache remove", true},
    {"engine-cache gc", true},
    {"engine-cache request", true, true},
    {"engine-cache push", true, true},
    {"engine-cache quarantine list", true},
    {"engine-cache quarantine show", true},
    {"engine-cache quarantine clear", true},
    {"engine-cache quarantine enable", true},
    {"engine-cache quarantine disable", true},
    {"engine-cache licenses list", true, true},
    {"engine-cache licenses show", true, true},
    {"engine-cache licenses accept", true, true},
    {"engine-cache trust list", true},
    {"engine-cache trust add", true},
    {"engine-cache trust remove", true},
    {"engine-cache trust forget", true},
    {"engine-manifest add"},
    {"engine-manifest lint"},
    {"engine-manifest sign"},
    {"engine-manifest publish"},
};

bool ends_a_word(std::string_view text, std::size_t at) {
  return at == text.size() || std::string_view(" ,;:.)").find(text[at]) != std::string_view::npos;
}

const KnownFlag* command_at(std::string_view text) {
  const KnownFlag* best = nullptr;
  for (const KnownFlag& one : commands)
    if (text.starts_with(one.command) && ends_a_word(text, one.command.size()) &&
        (best == nullptr || one.command.size() > best->command.size()))
      best = &one;
  return best;
}

// Returns the text up to the next command or the end of this part of the sentence.
std::string_view rest_of_command(std::string_view text) {
  std::size_t end = std::min(text.find("engine-", 1), text.size());
  end = std::min(text.find("; ", 0), end);
  return text.substr(0, end);
}

// `before`: the sentence before the command; `text`: the rest, from the command on.
std::string flags_for(const KnownFlag& known, std::string_view before, std::string_view text) {
  const std::string_view rest = rest_of_command(text);
  const bool decides = known.command == "engine-info" && rest.find(" --plan") != std::string_view::npos;
  // A plan needs --installation, unless the sentence advises leaving it out.
  const bool installation =
      known.command == "engine-info" && before.find("leave --installation out") == std::string_view::npos;
  std::string flags;
  for (const GivenFlag& one : given()) {
    if (one.flag.empty()) {
      if (known.command.starts_with("engine-manifest")) flags += " " + shell_word(one.value);
      continue;
    }
    const bool knows =
        one.flag == "--cache" ? known.cache
        : one.flag == "--repository" || one.flag == "--allow-unsigned" || one.flag == "--package-index"
            ? known.repository
        : one.flag == "--installation" ? installation
        : one.flag == "--lock" ? known.command == "engine-info" || known.command == "engine-cache fetch"
                               : known.platform || decides;
    if (knows && rest.find(one.flag + " ") == std::string_view::npos)
      flags += " " + one.flag + (one.value.empty() ? "" : " " + shell_word(without_passwords(one.value)));
  }
  return flags;
}

// A command for another machine gets no flags of this one, up to the end of the sentence.
bool is_of_another_machine(std::string_view before) {
  return before.ends_with("there ") || before.find("there engine-") != std::string_view::npos ||
         before.find("other machine") != std::string_view::npos;
}

// Policy may forbid one of the flags, and then refuses the suggested command, too.
bool is_refused_by_policy(Code code) { return code == Code::forbidden_by_policy; }

void note(const CLI::App& app) {
  // The folder of engine-manifest.
  if (const CLI::Option* folder = app.get_option_no_throw("DIR"); folder != nullptr && folder->count() > 0)
    given().push_back({"", folder->as<std::string>()});
  if (const CLI::Option* option = app.get_option_no_throw("--allow-unsigned");
      option != nullptr && option->count() > 0)
    given().push_back({"--allow-unsigned", ""});
  for (const char* flag :
       {"--cache", "--repository", "--package-index", "--installation", "--platform", "--lock"})
    if (const CLI::Option* option = app.get_option_no_throw(flag); option != nullptr)
      for (const std::string& value : option->results()) given().push_back({flag, value});
  for (const CLI::App* called : app.get_subcommands()) note(*called);
}

}  // namespace

void note_given_flags(const CLI::App& app) {
  given().clear();
  note(app);
}

void decides_for(const std::string& platform) {
  std::erase_if(given(), [](const GivenFlag& one) { return one.flag == "--platform"; });
  if (!platform.empty()) given().push_back({"--platform", platform});
}

void names_repository(const std::string& location) { given().push_back({"--repository", location}); }

std::string with_given_flags(std::string_view sentence) {
  if (given().empty()) return std::string(sentence);
  std::string text;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::string_view rest = sentence.substr(at);
    const bool begins = at == 0 || sentence[at - 1] == ' ' || sentence[at - 1] == '(';
    const KnownFlag* known = begins ? command_at(rest) : nullptr;
    if (known == nullptr) {
      text += sentence[at++];
      continue;
    }
    text += known->command;
    const std::string_view before = sentence.substr(0, at);
    if (!is_of_another_machine(before)) text += flags_for(*known, before, rest);
    at += known->command.size();
  }
  return text;
}

std::string described(const Diagnosis& diagnosis, const explain::Style& style) {
  explain::Rendered whole = explain::render(diagnosis);
  if (!is_refused_by_policy(diagnosis.code))
    for (std::string& remedy : whole.remedy) remedy = with_given_flags(remedy);
  return explain::describe(whole, style);
}

Json document_with_given_flags(const Json& document) {
  if (given().empty()) return document;
  if (document.is_array()) {
    Json::Array elements;
    for (const Json& element : document.as_array()) elements.push_back(document_with_given_flags(element));
    return elements;
  }
  if (!document.is_object()) return document;
  Json::Object members;
  const bool keeps_remedies = is_refused_by_policy(code_named(document["code"].as_string()));
  for (const auto& [name, value] : document.as_object()) {
    const bool is_remedy = name == "remedy" && value.is_array() && !keeps_remedies;
    Json::Array sentences;
    if (is_remedy)
      for (const Json& sentence : value.as_array())
        sentences.emplace_back(with_given_flags(sentence.as_string()));
    members.emplace_back(name, is_remedy ? Json(std::move(sentences)) : document_with_given_flags(value));
  }
  return members;
}

}  // namespace enginehost::commands
