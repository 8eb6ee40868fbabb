// How far tests prove each class of a failed load on the development machines (Linux, no GPU): data for
// docs/failures.md. A test compares every "produced" with the names of the tests.
#pragma once
#include <string_view>

namespace enginehost::explain {

enum class Proof {
  none,       // not a class of a failed load (EH-N, EH-M, EH-P, EH-S, EH-E)
  produced,   // a test causes the real failure, and EngineHost reports the class, file and cause
  from_file,  // detected from files made for it; the failure itself needs another system or device
  parsed,     // the class is read from the failure's text or number; its source needs another system
  described   // only the entry exists: nothing can detect the class yet
};

struct Proven {
  Proof how = Proof::none;
  std::string_view reason{};  // why no test produces it; empty for "produced"
};

// Takes "EH-L01" or "L01". Static data; any thread.
Proven proven(std::string_view code);

// "produced", "from the file", "parsed", "described"; empty for none.
std::string_view name_of(Proof proof);

}  // namespace enginehost::explain
