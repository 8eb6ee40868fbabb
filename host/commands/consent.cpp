#include <algorithm>
#include <cstdio>
#include <iostream>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/common.hpp"
#include "host/commands/say.hpp"
#include "host/explain/explain.hpp"
#include "host/open/consent.hpp"
#include "host/open/license_text.hpp"

namespace enginehost::commands {
namespace {

constexpr std::uint64_t size_to_ask_for = 100'000'000;  // bytes

// Yes only for an answer that begins with y; end of input is a no.
bool ask(const std::string& question) {
  say_aside("%s [y/N] ", question.c_str());
  std::fflush(stderr);
  std::string answer;
  return static_cast<bool>(std::getline(std::cin, answer)) && !answer.empty() &&
         (answer.front() == 'y' || answer.front() == 'Y');
}

// The text that would be agreed to; why it cannot be shown, when it cannot. Declined: EH-P03 is the caller's.
bool ask_for_license(open::OpenContext& context, const std::string& build, const manifest::License& license) {
  const auto& builds = context.catalog().builds;
  const auto covered =
      std::find_if(builds.begin(), builds.end(), [&](const auto& one) { return one->id == build; });
  if (const auto text =
          open::license_text(context.store(), license, covered == builds.end() ? nullptr : covered->get(),
                             context.transfer_options(), context.cancel()))
    say_aside("%s\n\n", text->c_str());
  else
    say_aside("the text of %s cannot be shown: %s\n", printable_line(license.id).c_str(),
              explain::one_line(text.error()).c_str());
  return ask(printable_line(build + " is covered by " + license.id + " (" + license.url + ").") +
             " Do you accept it?");
}

// With the text that is kept here, as that of a bundle is: it is read without a network.
Diagnosis consent_missing(const open::OpenContext& context, const std::string& build,
                          const acquire::LicenseQuestion& license) {
  Diagnosis diagnosis = open::consent_missing(build, license);
  if (open::kept_text(context.store(), license.license.sha256))
    diagnosis.with("license_text", path_text(open::text_file(context.store(), license.license.sha256)));
  return diagnosis;
}

}  // namespace

std::function<Result<void>(const acquire::Question&)> consent_for(open::OpenContext& context,
                                                                  transfer::ProgressBar* bar) {
  return [&context, bar](const acquire::Question& question) -> Result<void> {
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
    if (terminal && question.download > size_to_ask_for &&
        !ask(question.build + " has to be downloaded: " + (question.download_known ? "" : "at least ") +
             format_bytes(question.download) + " from " + join(question.sources, ", ") + ". Go on?"))
      return fail(
          diagnose("EH-P03").with("build", question.build).with("bytes", format_bytes(question.download)));
    return {};
  };
}

}  // namespace enginehost::commands
