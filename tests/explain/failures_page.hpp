// docs/failures.md, written from the catalog and from the names of the tests.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace enginehost::explain {

// "L23" -> "ConfinedFaults.ReportsL23WithTheAddress… (tests/end-to-end/confined_faults_test.cpp)", sorted.
using TestsOfClasses = std::map<std::string, std::vector<std::string>>;

// The GoogleTest cases below `tests` whose names hold the id of a class as a word of its own ("L23The…",
// "…IsL23And…"). The tests of this module are left out because they read texts and cause no failure.
TestsOfClasses tests_of_classes(const std::filesystem::path& tests);

std::string failures_page(const TestsOfClasses& tests);

}  // namespace enginehost::explain
