// docs/failures.md, written from the catalog and from the names of the tests.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace enginehost::explain {

// "L23" -> "ConfinedFaults.ReportsL23WithTheAddress… (tests/end-to-end/confined_faults_test.cpp)", sorted.
using TestsOfClasses = std::map<std::string, std::vector<std::string>>;

// Every GoogleTest case below `tests` whose name holds the id of a class as a word of its own ("L23…",
// "…ReportsL23For…"), but for this room's tests, which read texts and produce nothing.
TestsOfClasses tests_of_classes(const std::filesystem::path& tests);

std::string failures_page(const TestsOfClasses& tests);

}  // namespace enginehost::explain
