#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <set>

#include "base/paths.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/common.hpp"
#include "host/commands/location_flags.hpp"
#include "host/commands/say.hpp"
#include "host/commands/system.hpp"
#include "host/consent/consent.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::commands {
namespace {

constexpr std::ptrdiff_t lines_shown_unasked = 40;

// Prints a text for people on standard error, wrapped to its width.
void say_paragraph(const std::string& text) {
  say_aside_text(wrapped_lines(printable_line(text), screen_of(stderr).width) + "\n");
}

// Returns 'y', 'n' or, with `reads`, 'r'. Any other answer is asked for again, an empty one too: neither a
// "no" nor an acceptance may happen by mistake. The end of the input is a no.
char ask(const std::string& question, bool reads = false) {
  const std::string choices = reads ? "y/n, r to read it" : "y/n";
  for (std::string answer;;) {
    say_aside_text(wrapped_lines(printable_line(question) + " [" + choices + "]", screen_of(stderr).width) +
                   " ");
    std::fflush(stderr);
    if (!std::getline(std::cin, answer)) {
      say_aside("\n");
      return 'n';
    }
    const std::string word = to_lower(std::string(trim(answer)));
    if (word == "y" || word == "yes") return 'y';
    if (word == "n" || word == "no") return 'n';
    if (reads && (word == "r" || word == "read")) return 'r';
    say_aside(reads ? "please answer y, n or r\n" : "please answer y or n\n");
  }
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

// Shows a short text unasked, once in this process, and offers a long one. `download`: what an acceptance of
// this license, the last one, begins; empty for the others.
bool ask_for_license(open::OpenContext& context, const acquire::Question& question,
                     const acquire::LicenseQuestion& license, const std::string& download) {
  static auto& shown = *new std::set<std::string>;
  const auto text =
      consent::license_text(context.store(), license.license, build_of(context, question.build).get(),
                            context.transfer_options(), context.cancel());
  const auto lines = text ? std::count(text->begin(), text->end(), '\n') : 0;
  const bool is_long = lines > lines_shown_unasked;
  if (!text)
    say_paragraph("the text of " + license.license.id +
                  " cannot be shown: " + explain::one_line(text.error()));
  else if (!is_long && shown.insert(*text).second)
    show(*text);
  say_paragraph(reason_of(context, question, license));
  if (is_long)
    say_paragraph("The text of the license has " + std::to_string(lines) + " lines. Elsewhere, " +
                  with_given_flags("engine-cache licenses show " + shell_word(license.license.id)) +
                  " prints it.");
  const std::string accepts = download.empty() ? "Do you accept the license?"
                                               : "Do you accept the license and download " + download + "?";
  for (;;) {
    const char answer = ask(accepts, is_long);
    if (answer != 'r') return answer == 'y';
    show(*text);
  }
}

// Names the kept text, which can be read without a network, as that of a bundle, whose builds no catalog has.
Diagnosis consent_missing(open::OpenContext& context, const acquire::Question& question,
                          const acquire::LicenseQuestion& license) {
  Diagnosis diagnosis = consent::consent_missing(question, license);
  if (!consent::kept_text(context.store(), license.license.sha256)) return diagnosis;
  diagnosis.with(Key::license_text, path_text(consent::text_file(context.store(), license.license.sha256)));
  if (build_of(context, question.build) != nullptr)
    diagnosis.with(Key::shown_by, "engine-cache licenses show " + shell_word(license.license.id));
  return diagnosis;
}

}  // namespace

bool can_ask() { return is_terminal(standard_input) && is_terminal(standard_error); }

namespace {

// Asks for the licenses and the size of one download: one question if there is one license.
class Questioner {
 public:
  Questioner(open::OpenContext& context, transfer::ProgressBar* bar, bool yes)
      : context_(context), bar_(bar), yes_(yes) {}

  Result<void> ask_about(const acquire::Question& question) {
    TRY_ASSIGN(const std::vector<acquire::LicenseQuestion> licenses,
               consent::licenses_to_ask(context_.settings(), question));
    const bool terminal = can_ask();
    for (const acquire::LicenseQuestion& license : licenses) {
      const bool is_last = &license == &licenses.back();
      if (!terminal || refused_.contains(license.license.id) ||
          !ask_for_license(context_, question, license, is_last ? size_of(question) : "")) {
        refused_.insert(license.license.id);
        return fail(consent_missing(context_, question, license));
      }
      TRY(consent::accept_license(context_.settings(), consent::terms_of(license.license),
                                  settings::ConsentWay::terminal));
    }
    if (!licenses.empty()) return {};  // the size was in the question
    if (terminal && !yes_ && question.download > size_to_ask_for) {
      if (ask(size_question(context_, question)) != 'y')
        return fail(diagnose(Code::consent_missing)
                        .with(Key::build, question.build)
                        .with(Key::bytes, format_bytes(question.download)));
    } else if (bar_ != nullptr && question.download > 0) {
      bar_->line(announcement(context_, question));
    }
    return {};
  }

 private:
  open::OpenContext& context_;
  transfer::ProgressBar* bar_;
  bool yes_;
  // Another release comes under the same license, perhaps in other words. A refusal counts for it, too.
  std::set<std::string> refused_;
};

}  // namespace

std::function<Result<void>(const acquire::Question&)> consent_for(open::OpenContext& context,
                                                                  transfer::ProgressBar* bar, bool yes) {
  const auto questioner = std::make_shared<Questioner>(context, bar, yes);
  return [bar, questioner](const acquire::Question& question) -> Result<void> {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point asked = Clock::now();
    if (bar != nullptr) bar->clear();
    auto answered = questioner->ask_about(question);
    if (bar != nullptr) bar->leave_out(Clock::now() - asked);
    return answered;
  };
}

}  // namespace enginehost::commands
