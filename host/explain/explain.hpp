// Turns evidence into sentences: the catalog of failure classes as data, and how a diagnosis is told to
// people and programs. The only place where titles, causes and remedies are written.
#pragma once
#include <exception>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/history/category.hpp"

namespace enginehost::explain {

// The exit statuses of the commands.
enum class ExitStatus {
  done = 0,
  bug = 1,
  usage = 2,
  nothing_fits = 3,
  not_fetched = 4,
  wrong_bytes = 5,
  not_loaded = 6,
  cache = 7,
  forbidden = 8,
  interrupted = 130
};

// Some templates; the first empty one ends the list.
struct Lines {
  std::string_view line[14]{};
  const std::string_view* begin() const { return line; }
  const std::string_view* end() const {
    const std::string_view* last = line;
    while (last != std::end(line) && !last->empty()) ++last;
    return last;
  }
};

// One failure class. Templates hold "{key}" for the first value of an evidence key, "{key...}" for all of
// them joined with ", ", "{key|name}" and "{key...|name}" for file names only, "{key|word}" for a word of a
// command, "{key|bytes}" for a number of bytes as people read it, "{key|build|builds}" for a number with its
// noun; and conditions that print nothing: "{?key}" (it is there), "{!key}" (it is not, or is empty),
// "{+key}" (there are several) and
// "{key=value}" (its first value is that one). A template is used only when all its keys are there and its
// conditions hold. In "engine-info ENGINE" stands the value of "engine", where it is there.
struct Entry {
  std::string_view code{};     // "EH-L01"
  std::string_view title{};    // a few words, no evidence
  std::string_view meaning{};  // what the code means, for people who look it up
  std::string_view before{};   // how it is detected before anything is loaded; empty: it cannot be
  std::string_view after{};    // how it is detected afterwards; empty: it always is before
  Lines causes{};              // the first whose keys are all there is used
  Lines remedies{};            // each whose keys are all there; the first is what to do
  ExitStatus exit_status = ExitStatus::not_loaded;
  history::Category category = history::Category::host;
};

// The class of that code ("EH-L01", "L01" and "l01" are the same), or nullptr. The data is static.
const Entry* find(std::string_view code);

// Every class, sorted by code.
std::span<const Entry> all();

// Fills title, cause and remedy from the evidence. Text that is there already stays; an unknown code gets a
// title that says so. Idempotent. For a missing library it also adds "provided_by" evidence where that is
// known.
void complete(Diagnosis& diagnosis);

// What reached the outermost function: EH-P51 where the system gave no memory or no thread, EH-P99 otherwise.
Diagnosis of_exception(const std::exception& thrown);

// Says that what this failure is about was named by a person ("place" = "argument") and is not of the cache:
// the remedies then speak of it, and a file that cannot be read or is none of its kind is a wrong argument
// (status 2). A failure that says its place already stays as it is.
Diagnosis mark_as_argument(Diagnosis diagnosis);
template <class Value>
Result<Value> mark_as_argument(Result<Value> result) {
  if (!result) result.error() = mark_as_argument(std::move(result.error()));
  return result;
}
// The same where the failure is about that file or folder, something below it, or the folder that it stands
// in; any other stays as it is.
Diagnosis mark_as_argument(Diagnosis diagnosis, const std::filesystem::path& named);
template <class Value>
Result<Value> mark_as_argument(Result<Value> result, const std::filesystem::path& named) {
  if (!result) result.error() = mark_as_argument(std::move(result.error()), named);
  return result;
}

// Says of a folder that cannot be written (EH-F16) that what lies in this very cache was to be changed: no
// other cache would do ("place" = "cache").
Diagnosis of_this_cache(Diagnosis diagnosis);

// The exit status of a command that ends with this diagnosis; ExitStatus::bug for an unknown code.
ExitStatus exit_status(const Diagnosis& diagnosis);
// What the open engine itself reports (EH-E01) ends with a status for each of its own.
struct StatusOfPlugin {
  std::string said;  // "ENGINE_INVALID", "ENGINE_CORRUPT of a model"
  ExitStatus exit = ExitStatus::not_loaded;
};
std::vector<StatusOfPlugin> statuses_of_plugins();
history::Category category(const Diagnosis& diagnosis);

// The contract's {"code","title","cause","evidence":[…],"remedy":[…],"context":[…]}; completes a copy first.
Json to_json(const Diagnosis& diagnosis);
// The inverse, for recorded diagnoses; members that are missing stay empty.
Diagnosis diagnosis_from_json(const Json& document);

// One screen of text: code and title, the cause, who needs what and where it was looked for, what to do, what
// the operating system said. Completes a copy first. No trailing newline. Whatever the evidence holds,
// nothing in it acts upon a terminal or begins a line of its own (printable_line).
std::string describe(const Diagnosis& diagnosis);

// "EH-L01 library missing: libfoo.so.1 is needed by …": one line, for lists and logs.
std::string one_line(const Diagnosis& diagnosis);

}  // namespace enginehost::explain
