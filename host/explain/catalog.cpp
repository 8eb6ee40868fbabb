#include <algorithm>

#include "host/explain/describe_code.hpp"
#include "host/explain/explain.hpp"

namespace enginehost::explain {

// The names are in the order of Proof.
std::string_view name_of(Proof proof) {
  constexpr std::string_view names[] = {"", "produced", "from the file", "parsed", "described"};
  return names[static_cast<std::size_t>(proof)];
}

// all() has the classes in the order of Code, without none and unknown.
const Entry* find(Code code) {
  return code == Code::none || code == Code::unknown ? nullptr : &all()[static_cast<std::size_t>(code) - 1];
}

const Entry* find(std::string_view code) { return find(code_named(normalised_code(code))); }

}  // namespace enginehost::explain
