// How far each class of a failed load is proven where EngineHost is developed (Linux, no GPU): data for
// docs/failures.md. A test holds every "produced" to the tests that do it.
#pragma once
#include <string_view>

namespace enginehost::explain {

enum class Proof {
  none,       // not a class of a failed load (EH-N, EH-M, EH-P, EH-S, EH-E): nothing is to be produced
  produced,   // a test makes the failure for real and the class, file and cause are told
  from_file,  // told from files made for it; the failure itself needs another system or device
  parsed,     // the text or number that it gives is read to the class; what gives it needs another system
  described   // the entry only: nothing here can detect it yet
};

struct Proven {
  Proof how = Proof::none;
  std::string_view reason{};  // why it is not produced; empty when it is
};

// For "EH-L01" or "L01". Static data, any thread.
Proven proven(std::string_view code);

// "produced", "from the file", "parsed", "described"; empty for none.
std::string_view name_of(Proof proof);

}  // namespace enginehost::explain
