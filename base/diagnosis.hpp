// The only error type of EngineHost.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace enginehost {

// One fact that supports a diagnosis. `what` is a snake_case key ("library", "needed_by", "searched"), which the
// templates of host/explain refer to. `source` is where the value was read ("/etc/ld.so.cache", "DT_NEEDED"). A key may
// occur several times: it is then a list, in the order of adding.
struct Evidence {
  std::string what;
  std::string value;
  std::string source;
};

// A failure with its cause. The place that fails fills in the code and the evidence. host/explain adds title, cause
// sentence and remedies, which are empty before. Callers on the way up only add context.
//
// Thread safety: a plain value without thread affinity.
struct Diagnosis {
  std::string code;  // "EH-L01"; a released code never changes its meaning
  std::string title;
  std::string cause;
  std::vector<Evidence> evidence;
  std::vector<std::string> remedy;
  std::vector<std::string> context;  // innermost first: "while opening onnxruntime 1.22.0"

  // Adds a fact and returns the diagnosis, so that evidence can be chained. Passwords in URLs are removed here and in
  // the context.
  [[gnu::cold]] Diagnosis& with(std::string_view what, std::string_view value, std::string_view source = {});
  // Adds a line of context.
  [[gnu::cold]] Diagnosis& within(std::string_view what_was_being_done);
  // Returns the first value under `what`, or an empty view.
  std::string_view value(std::string_view what) const;
  // Returns all values under `what`, in order.
  std::vector<std::string> values(std::string_view what) const;
};

// Starts a diagnosis: diagnose("EH-F01").with("file", path). Cold, like everything that builds one: the compiler then
// places failure code apart, and a successful open touches fewer pages.
[[gnu::cold]] Diagnosis diagnose(std::string_view code);

// Starts a diagnosis from errno: adds "errno" ("ENOSPC") and "os_said" (the C library's text). If no file descriptor
// was free, the code is EH-F24 whatever `code` is, because the file, program or repository is not at fault then.
// Libraries have a class of their own for that (EH-L26).
[[gnu::cold]] Diagnosis diagnose_errno(std::string_view code, int error_number);

}  // namespace enginehost
