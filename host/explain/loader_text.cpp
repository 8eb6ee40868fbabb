#include "host/explain/loader_text.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "host/explain/texts/reading.hpp"

namespace enginehost::explain {

using texts::after;
using texts::contains;
using texts::until;

std::optional<LoaderHint> read_loader_text(std::string_view text) {
  text = trim(text);
  if (auto hint = texts::read_dyld(text)) return hint;
  if (auto hint = texts::read_musl(text)) return hint;
  return texts::read_glibc(text);
}

std::optional<LoaderHint> read_engine_text(std::string_view text) {
  text = trim(text);
  // cuDNN's sentence contains a loader text, and is more precise than that text.
  if (auto hint = texts::read_cudnn(text)) {
    if (auto windows = texts::read_windows(text); windows && area_of(windows->code) == Area::windows) {
      windows->code = hint->code;
      return windows;
    }
    return hint;
  }
  if (auto hint = texts::read_engine(text)) return hint;
  if (auto hint = read_loader_text(text)) {
    // ONNX Runtime: Failed to load library libonnxruntime_providers_cuda.so with error: …
    if (hint->required_by.empty() && contains(text, "Failed to load library "))
      hint->required_by = texts::between(text, "Failed to load library ", " with error");
    return hint;
  }
  if (auto hint = texts::read_windows(text)) return hint;
  return texts::read_cuda(text);
}

std::optional<LoaderHint> read_error_output(std::string_view text) {
  std::optional<LoaderHint> found;
  const std::vector<std::string> lines = split(text, '\n');
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    // The cause of what the next lines report.
    if (auto words = texts::read_last_words(line, i == 0 ? std::string_view() : lines[i - 1])) return words;
    constexpr std::string_view thrown = "terminate called after throwing an instance";
    std::optional<LoaderHint> hint;
    for (const std::string_view lookup : {": symbol lookup error: ", ": relocation error: "})
      if (const std::size_t at = line.find(lookup); at != std::string::npos) {
        hint = read_loader_text(std::string_view(line).substr(at + lookup.size()));
        if (hint) hint->code = Code::symbol_missing_at_first_call;
      }
    if (!hint && contains(line, "Inconsistency detected by ld.so")) {
      hint = LoaderHint{.code = Code::file_damaged};
    } else if (!hint && contains(line, thrown)) {
      hint = LoaderHint{.code = Code::engine_ended_process, .exception = texts::between(line, " of '", "'")};
      if (i + 1 < lines.size() && contains(lines[i + 1], "what():  "))
        hint->what = after(lines[i + 1], "what():  ");
    } else if (!hint && contains(line, "from LD_PRELOAD cannot be preloaded")) {
      // Printed at every start, whatever comes after it.
      if (!found) hint = read_loader_text(line);
    } else if (!hint) {
      hint = texts::read_cudnn(line);
      // cuDNN first names the file and then reports the invalid handle.
      if (hint && hint->subject.empty() && found && found->code == hint->code) hint.reset();
    }
    if (hint) found = std::move(hint);
  }
  return found;
}

void add_evidence(Diagnosis& diagnosis, const LoaderHint& hint) {
  const auto add = [&](Key key, const std::string& value) {
    if (!value.empty() && diagnosis.value(key).empty()) diagnosis.with(key, value, "the text");
  };
  // A name is a needed library. A path is the file to be opened or, with a version, the library that was
  // found.
  const bool missing = hint.code == Code::library_missing || hint.code == Code::run_time_library_missing ||
                       hint.code == Code::macos_library_missing;
  const bool is_name =
      hint.subject.find_first_of("/\\") == std::string::npos || hint.subject.starts_with('@');
  add(missing || hint.code == Code::two_openmp_runtimes || (is_name && !hint.version.empty()) ? Key::library
      : hint.version.empty()                                                                  ? Key::file
                                                                                              : Key::path,
      hint.subject);
  add(Key::symbol, hint.symbol);
  add(Key::version, hint.version);
  add(Key::required_by, hint.required_by);
  if (missing) add(Key::needed_by, hint.required_by);
  add(Key::exception, hint.exception);
  add(Key::what, hint.what);
  add(Key::error_number, hint.number);
  add(Key::resource, hint.resource);
  const bool processors = hint.code == Code::macos_library_for_other_processor;
  add(processors ? Key::built_for : Key::found, hint.found);
  add(processors ? Key::machine : Key::required, hint.required);
  if (diagnosis.values(Key::searched).empty())
    for (const LoaderHint::TriedPath& tried : hint.tried)
      diagnosis.with(Key::searched, tried.path + " (" + tried.reason + ")", "the text");
}

Diagnosis to_diagnosis(const LoaderHint& hint, std::string_view text) {
  Diagnosis diagnosis = diagnose(hint.code);
  add_evidence(diagnosis, hint);
  return std::move(diagnosis.with(Key::os_said, trim(text)));
}

}  // namespace enginehost::explain
