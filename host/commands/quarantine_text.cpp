#include "host/commands/quarantine_text.hpp"

#include <cstdio>

#include "base/printable.hpp"
#include "base/text.hpp"
#include "host/commands/location_flags.hpp"
#include "host/explain/explain.hpp"
#include "host/settings/records.hpp"

namespace enginehost::commands {
namespace {

// Returns the time to the minute.
std::string time_text(std::int64_t seconds) {
  std::string text = settings::utc_text(seconds);
  return text.erase(text.rfind(':'), 3);
}

std::string line(std::string_view label, const std::string& text) {
  std::string out = "  " + std::string(label);
  out.append(out.size() < 16 ? 16 - out.size() : 1, ' ');
  return out + printable_line(text) + "\n";
}

// Splits the last lines of the probe's standard error, which are kept as one text.
std::string lines_of(std::string_view label, std::string_view joined) {
  constexpr std::string_view between = " | ";
  std::string text;
  while (!joined.empty()) {
    const std::size_t end = joined.find(between);
    text += line(text.empty() ? label : "", std::string(joined.substr(0, end)));
    joined = end == std::string_view::npos ? std::string_view() : joined.substr(end + between.size());
  }
  return text;
}

std::string how_it_ended(const Diagnosis& diagnosis) {
  std::string text;
  const auto add = [&](std::string_view label, std::string_view key) {
    if (const auto value = diagnosis.value(key); !value.empty()) text += line(label, std::string(value));
  };
  add("stage", "stage");
  add("signal", "signal");
  add("exit status", "exit_code");
  add("in library", "in_library");
  add("no answer in", "deadline");
  add("program", "program");
  add("process", "process");
  return text + lines_of("last output", diagnosis.value("last_words"));
}

std::string what_ends_it(const history::Record& record) {
  if (record.state == history::State::disabled)
    return line("ends", "never by itself: it was disabled by hand (" +
                            with_given_flags("engine-cache quarantine enable " + record.build) +
                            " takes that back)");
  std::string text = line("ends", record.state == history::State::suspect
                                      ? "with its next success; until then it is tried with a warning"
                                  : record.retry_after != 0 ? "on " + time_text(record.retry_after) +
                                                                  ", or when one of these changes"
                                                            : "when one of these changes");
  for (const history::DependencyStamp& stamp : record.dependency_stamps)
    text += line("", stamp.path + (stamp.present ? "" : " (is not there)"));
  std::vector<std::string> parts;
  for (const auto& [name, value] : record.host) parts.push_back(name);
  if (!parts.empty()) text += line("", "of the machine: " + join(parts, ", "));
  return text + line("", "or when the build has other files");
}

}  // namespace

std::string line_of(const history::Record& record) {
  return record.build + "  " + history::name_of(record.state) +
         (record.diagnosis.is_null()
              ? ""
              : ": " + explain::one_line(explain::diagnosis_from_json(record.diagnosis)));
}

std::string full_text(const history::Record& record, const std::string& why_ended) {
  std::string text = line_of(record) + "\n";
  if (!why_ended.empty()) text += line("no longer", why_ended + "; it is tried again by the next open");
  text += line("first seen", time_text(record.first_seen));
  text += line("last seen", time_text(record.last_seen));
  text += line("how often", std::to_string(record.count));
  if (record.strikes > 0) {
    char strikes[32];
    std::snprintf(strikes, sizeof strikes, "%g of 2", record.strikes);
    text += line("strikes", strikes);
  }
  if (!record.diagnosis.is_null()) text += how_it_ended(explain::diagnosis_from_json(record.diagnosis));
  text += what_ends_it(record);
  if (!record.diagnosis.is_null())
    text += "\n" + described(explain::diagnosis_from_json(record.diagnosis)) + "\n";
  const bool disabled = record.state == history::State::disabled;
  const std::string command = with_given_flags("engine-cache quarantine " +
                                               std::string(disabled ? "enable " : "clear ") + record.build);
  // The record only notes the cause; clearing it does not remove the cause.
  if (record.state == history::State::unfit && why_ended.empty())
    return text +
           "\nit is tried again by itself when that changes; to try it earlier, which repairs nothing: " +
           command + "\n";
  return text + "\nto try it again now: " + command + "\n";
}

}  // namespace enginehost::commands
