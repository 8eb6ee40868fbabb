#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <set>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "host/commands/common.hpp"
#include "host/commands/say.hpp"
#include "host/commands/system.hpp"
#include "host/consent/consent.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

constexpr std::ptrdiff_t lines_shown_unasked = 40;

// Returns the first letter of the answer, a small one. The end of the input and an empty line are a no.
char ask(const std::string& question, const char* choices = "[y/N]") {
  say_aside("%s %s ", question.c_str(), choices);
  std::fflush(stderr);
  std::string answer;
  if (!std::getline(std::cin, answer) || answer.empty()) return 'n';
  return answer.front() == 'Y' ? 'y' : answer.front() == 'R' ? 'r' : answer.front();
}

std::shared_ptr<const manifest::Build> build_of(open::OpenContext& context, const std::string& id) {
  const auto& builds = context.catalog().builds;
  const auto found =
      std::find_if(builds.begin(), builds.end(), [&](const auto& one) { return one->id == id; });
  return found == builds.end() ? nullptr : *found;
}

// "tensorflow 2.21.0 cpu"; the id of a build that no repository names.
std::string title_of(open::OpenContext& context, const std::string& id) {
  const auto build = build_of(context, id);
  return build == nullptr ? id : build->engine + " " + build->version + " " + build->flavor;
}

std::string size_of(const acquire::Question& question) {
  return (question.download_known ? "" : "at least ") + format_bytes(question.download);
}

// ", license Apache-2.0", of everything that would be downloaded.
std::string licenses_of(const acquire::Question& question) {
  std::set<std::string> ids;
  for (const acquire::LicenseQuestion& license : question.licenses)
    ids.insert(license.license.id.empty() ? license.name : license.license.id);
  if (ids.empty()) return "";
  return (ids.size() == 1 ? "license " : "licenses ") + join({ids.begin(), ids.end()}, ", ");
}

std::string size_question(open::OpenContext& context, const acquire::Question& question) {
  const std::set<std::string> origins(question.origins.begin(), question.origins.end());
  const std::string licenses = licenses_of(question);
  return printable_line(title_of(context, question.build) + ": " + size_of(question) + " from " +
                        join({origins.begin(), origins.end()}, " and ") +
                        (licenses.empty() ? "" : ", " + licenses) + ". Download?");
}

// "tensorflow 2.21.0 cpu  261 MiB in 1 file  license Apache-2.0"
std::string announcement(open::OpenContext& context, const acquire::Question& question) {
  const std::string licenses = licenses_of(question);
  return printable_line(title_of(context, question.build) + "  " + size_of(question) + " in " +
                        pluralize(question.sources.size(), "file", "files") +
                        (licenses.empty() ? "" : "  " + licenses));
}

void show(const std::string& text) {
  if (!show_in_pager(text)) say_aside_text(text + "\n\n");
}

// Returns the sentence before the question. For a license of a part of the build it has the part's size and
// the reason why the build needs it.
std::string reason_of(open::OpenContext& context, const acquire::Question& question,
                      const acquire::LicenseQuestion& license) {
  const std::string title = title_of(context, question.build);
  const std::string covered = "covered by the license " + license.license.id +
                              (license.license.url.empty() ? "" : " (" + license.license.url + ")") + ".";
  const auto part = consent::part_of_download(question, license);
  if (!part) return printable_line(title + " is " + covered);
  const auto build = build_of(context, question.build);
  const bool is_for_processor = build != nullptr && build->flavor == "cpu";
  return printable_line(title + " needs " + join(license.components, ", ") + " (" + *part + "), " + covered +
                        " The build does not work without " +
                        (license.components.size() == 1 ? "this part" : "these parts") +
                        (is_for_processor ? ", on a machine without a GPU, too." : "."));
}

// Shows a short text unasked, once in this process, and prints the path of a long one.
bool ask_for_license(open::OpenContext& context, const acquire::Question& question,
                     const acquire::LicenseQuestion& license) {
  static auto& shown = *new std::set<std::string>;
  const auto text =
      consent::license_text(context.store(), license.license, build_of(context, question.build).get(),
                            context.transfer_options(), context.cancel());
  const auto lines = text ? std::count(text->begin(), text->end(), '\n') : 0;
  const bool is_long = lines > lines_shown_unasked;
  if (!text)
    say_aside("the text of %s cannot be shown: %s\n", printable_line(license.license.id).c_str(),
              explain::one_line(text.error()).c_str());
  else if (!is_long && shown.insert(*text).second)
    show(*text);
  say_aside("%s\n", reason_of(context, question, license).c_str());
  if (is_long) {
    const std::string sha256 = sha256_hex(*text);
    const bool is_kept = consent::kept_text(context.store(), sha256).has_value();
    say_aside("It has %td lines%s\n", lines,
              is_kept ? printable_line(": " + path_text(consent::text_file(context.store(), sha256))).c_str()
                      : ".");
  }
  for (;;) {
    const char answer = ask("Do you accept it?", is_long ? "[y/N, r to read it]" : "[y/N]");
    if (answer != 'r' || !is_long) return answer == 'y';
    show(*text);
  }
}

// Names the kept text, which can be read without a network, as that of a bundle.
Diagnosis consent_missing(const open::OpenContext& context, const acquire::Question& question,
                          const acquire::LicenseQuestion& license) {
  Diagnosis diagnosis = consent::consent_missing(question, license);
  if (consent::kept_text(context.store(), license.license.sha256))
    diagnosis.with("license_text", path_text(consent::text_file(context.store(), license.license.sha256)));
  return diagnosis;
}

}  // namespace

std::function<Result<void>(const acquire::Question&)> consent_for(open::OpenContext& context,
                                                                  transfer::ProgressBar* bar, bool yes) {
  // Another release comes under the same license, perhaps in other words. A refusal counts for it, too.
  const auto refused = std::make_shared<std::set<std::string>>();
  return [&context, bar, yes, refused](const acquire::Question& question) -> Result<void> {
    if (bar != nullptr) bar->clear();
    const bool terminal = is_terminal(standard_input) && is_terminal(standard_error);
    TRY_ASSIGN(const std::vector<acquire::LicenseQuestion> licenses,
               consent::licenses_to_ask(context.settings(), question));
    for (const acquire::LicenseQuestion& license : licenses) {
      if (!terminal || refused->contains(license.license.id) ||
          !ask_for_license(context, question, license)) {
        refused->insert(license.license.id);
        return fail(consent_missing(context, question, license));
      }
      TRY(consent::accept_license(context.settings(), consent::terms_of(license.license),
                                  settings::ConsentWay::terminal));
    }
    if (terminal && !yes && question.download > size_to_ask_for) {
      if (ask(size_question(context, question)) != 'y')
        return fail(
            diagnose("EH-P03").with("build", question.build).with("bytes", format_bytes(question.download)));
    } else if (bar != nullptr && question.download > 0) {
      bar->line(announcement(context, question));
    }
    return {};
  };
}

}  // namespace enginehost::commands
