// The facts in a library file, as text for people and as JSON for programs.
#pragma once
#include <string>
#include <vector>

#include "base/json.hpp"
#include "host/binary/binary.hpp"

namespace enginehost::preflight {

// Everything that --inspect shows of one file except the libraries it is loaded with.
struct BinaryFacts {
  binary::BinaryInfo info;                 // of a universal file: the first slice, with the machines of all
  std::vector<binary::BinaryInfo> slices;  // of a universal file: each slice separately
  binary::PeResources resources;
  std::string gpu_code_note;  // why the list of GPU code may be incomplete
};

// `info` is the result of read_binary() for the file without a choice of slice.
BinaryFacts gather_facts(const std::filesystem::path& file, binary::BinaryInfo info);

// The member "binary" of the contract's inspect document. Members that do not apply to the format are left
// out.
Json to_json(const BinaryFacts& facts);

// Returns the lines of a report; each begins with its own keyword ("machine", "needs", ...). with_needs =
// false for a report that lists the libraries it would be loaded with.
std::vector<std::string> to_lines(const BinaryFacts& facts, bool with_needs = true);

}  // namespace enginehost::preflight
