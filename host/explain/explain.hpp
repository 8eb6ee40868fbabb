// Turns evidence into sentences: the catalog of failure classes, and the text and JSON of a diagnosis. The
// catalog is the only place for titles, causes and remedies.
//
// Thread safety: any thread.
#pragma once
#include <exception>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "host/history/history.hpp"

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

// How far tests prove a class of a failed load on the development machines (Linux, no GPU). A test compares
// every "produced" with the names of the tests.
enum class Proof {
  none,       // not a class of a failed load (EH-N, EH-M, EH-P, EH-S, EH-E)
  produced,   // a test causes the real failure, and EngineHost reports the class, file and cause
  from_file,  // detected from files made for it; the failure itself needs another system or device
  parsed,     // the class is read from the failure's text or number; its source needs another system
  described   // only the entry exists: nothing can detect the class yet
};
// "produced", "from the file", "parsed", "described"; empty for none.
std::string_view name_of(Proof proof);

// One failure class, from failures/*.toml. Templates contain slots:
//   {key}               the first value of an evidence key
//   {key...}            all values, joined with ", "
//   {key|name}          the file name only; also {key...|name}
//   {key|word}          quoted as one word of a command
//   {key|bytes}         a number of bytes as a readable size
//   {key|build|builds}  a number with its noun
// and conditions that print nothing:
//   {?key}       the key is there
//   {!key}       the key is missing or empty
//   {+key}       the key has several values
//   {key=value}  the first value is `value`
// A template is used only if all its keys are there and its conditions hold. The value of "engine" replaces
// ENGINE in "engine-info ENGINE".
struct Entry {
  Code code = Code::none;
  Proof proof = Proof::produced;
  std::string_view title{};       // a phrase without evidence
  std::string_view unproduced{};  // why no test produces it; empty for "produced"
  std::string_view meaning{};     // what the code means
  std::string_view before{};      // how it is detected before anything is loaded; empty if it cannot be
  std::string_view after{};       // how it is detected afterwards; empty if always before
  std::span<const std::string_view> causes{};    // the first usable template is the cause
  std::span<const std::string_view> remedies{};  // every usable template; the first is the best remedy
  ExitStatus exit_status = ExitStatus::bug;
  history::Category category = history::Category::request;
};

// Returns the class of a code, or nullptr for none and unknown. The data is static.
const Entry* find(Code code);
// Returns the class that a person names: "EH-L01", "L01" and "l01" are the same; nullptr if there is none.
const Entry* find(std::string_view code);

// Returns every class, sorted by code.
std::span<const Entry> all();

// A failure as people see it, with the facts that follow from others: "provided_by" for a missing library
// with known packages, "demangled" for a symbol.
struct Rendered : Diagnosis {
  std::string title;  // never empty; an unknown code has one that says so
  std::string cause;  // never empty
  std::vector<std::string> remedy;
};
// Sentences of a record stay as they are.
Rendered render(const Diagnosis& diagnosis);

// Returns the diagnosis of an exception that nothing caught: EH-P51 if the system gave no memory or thread,
// else EH-P99.
Diagnosis of_exception(const std::exception& thrown);

// Marks the file of a failure as an argument of the caller ("place" = "argument"), not a file of the cache.
// The remedies then fit, and a file that cannot be read or is of another kind is a wrong argument (status 2).
// A diagnosis with a "place" stays unchanged.
Diagnosis mark_as_argument(Diagnosis diagnosis);
template <class Value>
Result<Value> mark_as_argument(Result<Value> result) {
  if (!result) result.error() = mark_as_argument(std::move(result.error()));
  return result;
}
// The same, but only if the failure is about that file or folder, something below it, or its parent folder.
Diagnosis mark_as_argument(Diagnosis diagnosis, const std::filesystem::path& named);
template <class Value>
Result<Value> mark_as_argument(Result<Value> result, const std::filesystem::path& named) {
  if (!result) result.error() = mark_as_argument(std::move(result.error()), named);
  return result;
}

// Marks EH-F16 as a change to the files of this cache ("place" = "cache"): another cache would not help.
Diagnosis of_this_cache(Diagnosis diagnosis);
template <class Value>
Result<Value> of_this_cache(Result<Value> result) {
  if (!result) result.error() = of_this_cache(std::move(result.error()));
  return result;
}

// Returns the exit status of a command that ends with this diagnosis; ExitStatus::bug for an unknown code.
ExitStatus exit_status(const Diagnosis& diagnosis);
// The consequences of one status that an open engine reports (EH-E01).
struct StatusOfPlugin {
  std::string_view said;  // "ENGINE_INVALID", "ENGINE_CORRUPT of a model"
  ExitStatus exit;
  history::Category category;
};
std::span<const StatusOfPlugin> statuses_of_plugins();
history::Category category(const Diagnosis& diagnosis);
// True if a library does not fit into the address space or data that this process may have (EH-L23).
bool exceeds_memory_limit(const Diagnosis& diagnosis);

// Returns {"code","title","cause","evidence":[…],"remedy":[…],"context":[…]}, rendered.
Json to_json(const Diagnosis& diagnosis);
// The inverse, for recorded diagnoses. Missing members stay empty.
Diagnosis diagnosis_from_json(const Json& document);

// How describe() sets its text. The default is for logs and files: one line for each row, no color.
struct Style {
  std::size_t width = 0;  // wraps rows at this column, with a hanging indent; 0: does not wrap
  bool color = false;     // ANSI: the code bold red, the labels dim
  bool beside_plan =
      false;  // the table of all builds is printed too: leaves out the refused builds of EH-S01
};

// Returns at most one screen of text: the code and the cause, then labeled rows of evidence, then the
// remedies. No row repeats the cause. No trailing newline. Evidence is untrusted:
// nothing in it controls a terminal or begins a line of its own (printable_line).
std::string describe(const Diagnosis& diagnosis, const Style& style = {});
std::string describe(const Rendered& diagnosis, const Style& style = {});

// Returns "EH-L01 libbar.so needs libfoo.so.1, …": code and cause on one line, for lists and logs.
std::string one_line(const Diagnosis& diagnosis);

}  // namespace enginehost::explain
