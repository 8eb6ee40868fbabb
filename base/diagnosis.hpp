// The only error type of EngineHost.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace enginehost {

// One fact that supports a diagnosis. `what` is a snake_case key ("library", "needed_by", "searched") that the
// templates of host/explain refer to; `source` says where the value was read ("/etc/ld.so.cache", "DT_NEEDED").
// A key may occur several times: it is then a list, in the order it was added.
struct Evidence {
  std::string what;
  std::string value;
  std::string source;
};

// A failure with its cause. Built where the evidence is: code and evidence. Title, cause sentence and remedies are
// host/explain's and stay empty until it completes the diagnosis; a layer on the way up only adds context.
// A plain value: copy it, move it, no thread affinity.
struct Diagnosis {
  std::string code;  // "EH-L01"; a released code never changes its meaning
  std::string title;
  std::string cause;
  std::vector<Evidence> evidence;
  std::vector<std::string> remedy;
  std::vector<std::string> context;  // innermost first: "while opening onnxruntime 1.22.0"

  // Adds a fact and returns the diagnosis, so that evidence reads as one chain where the failure is found. Passwords in
  // URLs are left out, here and in the context.
  [[gnu::cold]] Diagnosis& with(std::string_view what, std::string_view value, std::string_view source = {});
  // Adds a line of context on the way up.
  [[gnu::cold]] Diagnosis& within(std::string_view what_was_being_done);
  // The first value under `what`, or an empty view.
  std::string_view value(std::string_view what) const;
  // All values under `what`, in order.
  std::vector<std::string> values(std::string_view what) const;
};

// Starts a diagnosis: diagnose("EH-F01").with("file", path).
// Cold, as all that makes one: the compiler then puts what leads there away from the code of what goes well, of which an
// open that finds everything in order then touches fewer pages.
[[gnu::cold]] Diagnosis diagnose(std::string_view code);

// Starts a diagnosis from errno: adds "errno" ("ENOSPC") and "os_said" (the C library's text). For want of a file
// descriptor it is EH-F24, whatever `code` says: nothing is wrong with the file, the program or the repository then. Libraries
// have a class of their own for that (EH-L26).
[[gnu::cold]] Diagnosis diagnose_errno(std::string_view code, int error_number);

}  // namespace enginehost
