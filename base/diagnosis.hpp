// The only error type of EngineHost.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/failures.hpp"

namespace enginehost {

// One fact that supports a diagnosis. `source` is where the value was read ("/etc/ld.so.cache", "DT_NEEDED").
// A key may occur several times: it is then a list, in the order of adding.
struct Evidence {
  Key what{};
  std::string value;
  std::string source;
  std::string other_name{};  // of Key::unlisted

  std::string_view name() const {
    return what == Key::unlisted ? std::string_view(other_name) : text_of(what);
  }
};

// The text of a failure for people.
struct Sentences {
  std::string title, cause;
  std::vector<std::string> remedy;
};

// A failure: its class and the facts. host/explain renders it as title, cause and remedies. Callers on the
// way up only add context.
//
// Thread safety: a plain value without thread affinity.
struct Diagnosis {
  Code code = Code::none;
  std::string unknown_code;  // the text of Code::unknown
  std::vector<Evidence> evidence;
  std::vector<std::string> context;  // innermost first: "while opening onnxruntime 1.22.0"
  Sentences recorded;                // of a record; empty: they are made of the facts

  // Adds a fact and returns the diagnosis, so that evidence can be chained. Passwords in URLs are removed
  // here and in the context.
  [[gnu::cold]] Diagnosis& with(Key what, std::string_view value, std::string_view source = {});
  // The same for the code of another failure.
  [[gnu::cold]] Diagnosis& with(Key what, Code value, std::string_view source = {});
  // The same for a fact that is named by a text: by a plugin, or in a record.
  [[gnu::cold]] Diagnosis& with_named(std::string_view name, std::string_view value,
                                      std::string_view source = {});
  // Adds a line of context.
  [[gnu::cold]] Diagnosis& within(std::string_view what_was_being_done);
  // Returns "EH-L01".
  std::string_view code_text() const {
    return code == Code::unknown ? std::string_view(unknown_code) : text_of(code);
  }
  // Returns the first value under `what`, or an empty view.
  std::string_view value(Key what) const;
  // Returns all values under `what`, in order.
  std::vector<std::string> values(Key what) const;
};

// Starts a diagnosis: diagnose(Code::file_not_readable).with(Key::file, path). Cold, like everything that
// builds one: the compiler then places failure code apart, and a successful open touches fewer pages.
[[gnu::cold]] Diagnosis diagnose(Code code);
// Starts a diagnosis that was written as text, possibly by a newer EngineHost.
[[gnu::cold]] Diagnosis diagnosis_named(std::string_view code);

// Starts a diagnosis from errno: adds "errno" ("ENOSPC") and "os_said" (the C library's text). If no file
// descriptor was free, the code is EH-F24 whatever `code` is, because the file, program or repository is not
// at fault then. Libraries have a class of their own for that (EH-L26).
[[gnu::cold]] Diagnosis diagnose_errno(Code code, int error_number);

}  // namespace enginehost
