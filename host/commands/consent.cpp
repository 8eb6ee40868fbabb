#include <algorithm>
#include <cstdio>
#include <iostream>
#include <set>

#include "base/paths.hpp"
#include "base/pluralize.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/common.hpp"
#include "host/commands/pager.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "host/open/consent.hpp"
#include "host/open/license_text.hpp"

namespace enginehost::commands {
namespace {

// Returns true for an answer that begins with y. The end of the input is a no.
bool ask(const std::string& question) {
  say_aside("%s [y/N] ", question.c_str());
  std::fflush(stderr);
  std::string answer;
  return static_cast<bool>(std::getline(std::cin, answer)) && !answer.empty() &&
         (answer.front() == 'y' || answer.front() == 'Y');
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

// Shows the text once in this process, or says why it cannot be shown.
void show_license(open::OpenContext& context, const std::string& build, const manifest::License& license) {
  static auto& shown = *new std::set<std::string>;
  const auto text = open::license_text(context.store(), license, build_of(context, build).get(),
                                       context.transfer_options(), context.cancel());
  if (!text)
    say_aside("the text of %s cannot be shown: %s\n", printable_line(license.id).c_str(),
              explain::one_line(text.error()).c_str());
  else if (shown.insert(*text).second && !show_in_pager(*text))
    say_aside_text(*text + "\n\n");
}

bool ask_for_license(open::OpenContext& context, const std::string& build, const manifest::License& license) {
  show_license(context, build, license);
  return ask(printable_line(title_of(context, build) + " is covered by the license " + license.id +
                            (license.url.empty() ? "" : " (" + license.url + ")") + ".") +
             " Do you accept it?");
}

// Names the kept text, which can be read without a network, as that of a bundle.
Diagnosis consent_missing(const open::OpenContext& context, const std::string& build,
                          const acquire::LicenseQuestion& license) {
  Diagnosis diagnosis = open::consent_missing(build, license);
  if (open::kept_text(context.store(), license.license.sha256))
    diagnosis.with("license_text", path_text(open::text_file(context.store(), license.license.sha256)));
  return diagnosis;
}

}  // namespace

std::function<Result<void>(const acquire::Question&)> consent_for(open::OpenContext& context,
                                                                  transfer::ProgressBar* bar, bool yes) {
  return [&context, bar, yes](const acquire::Question& question) -> Result<void> {
    if (bar != nullptr) bar->clear();
    const bool terminal = is_terminal(standard_input) && is_terminal(standard_error);
    TRY_ASSIGN(const std::vector<acquire::LicenseQuestion> licenses,
               open::licenses_to_ask(context.settings(), question));
    for (const acquire::LicenseQuestion& license : licenses) {
      if (!terminal || !ask_for_license(context, question.build, license.license))
        return fail(consent_missing(context, question.build, license));
      TRY(open::accept_license(context.settings(), open::terms_of(license.license),
                               settings::ConsentWay::terminal));
    }
    if (terminal && !yes && question.download > size_to_ask_for) {
      if (!ask(size_question(context, question)))
        return fail(
            diagnose("EH-P03").with("build", question.build).with("bytes", format_bytes(question.download)));
    } else if (bar != nullptr && question.download > 0) {
      bar->line(announcement(context, question));
    }
    return {};
  };
}

}  // namespace enginehost::commands
