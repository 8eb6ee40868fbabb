// The table of golden screens: one row a command.
#pragma once
#include <string>
#include <vector>

#include "tests/end-to-end/golden_place.hpp"

namespace enginehost::test {

enum class Form { text, json };

struct Screen {
  const char* name;          // of its file
  void (*prepare)(Place&);   // golden_preparations.hpp; null: an empty folder
  const char* command;       // typed in the folder
  bool has_document = true;  // a second file holds the same command with --json
};

const std::vector<Screen>& golden_screens();

}  // namespace enginehost::test
