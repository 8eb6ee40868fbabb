// docs/failures.md matches the catalog and the tests, and the catalog's marks are true.
#include "tests/explain/failures_page.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "host/explain/explain.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::explain {
namespace {

const TestsOfClasses& tests() {
  static const TestsOfClasses found = tests_of_classes(test::source_path("/tests"));
  return found;
}

TEST(FailuresPage, MatchesTheCatalog) {
  std::ifstream file(test::source_path("/docs/failures.md"));
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  // Not EXPECT_EQ: two whole pages would be printed.
  EXPECT_TRUE(page == failures_page(tests())) << "write it again: ninja docs_failures";
}

TEST(FailuresPage, EveryClassOfAFailedLoadSaysHowFarItIsProven) {
  const std::pair<char, int> classes[] = {{'F', 18}, {'L', 34}, {'R', 16}, {'G', 16}, {'W', 12}, {'X', 8}};
  int count = 0;
  for (const auto& [letter, last] : classes)
    for (int number = 1; number <= last; ++number, ++count) {
      const std::string id = std::string(1, letter) + (number < 10 ? "0" : "") + std::to_string(number);
      const Entry* entry = find(id);
      ASSERT_NE(entry, nullptr) << id;
      EXPECT_NE(entry->proof, Proof::none) << id;
      EXPECT_EQ(entry->unproduced.empty(), entry->proof == Proof::produced)
          << id << ": a reason, or tests that produce it";
    }
  EXPECT_EQ(count, 104);
  for (const Entry& entry : all()) {
    if (std::string_view("NMPSE").find(text_of(entry.code)[3]) == std::string_view::npos) continue;
    EXPECT_EQ(entry.proof, Proof::none) << text_of(entry.code);
  }
}

TEST(FailuresPage, EveryProducedClassHasATestOfItsName) {
  for (const Entry& entry : all()) {
    if (entry.proof != Proof::produced) continue;
    EXPECT_NE(tests().count(std::string(text_of(entry.code).substr(3))), 0u)
        << text_of(entry.code) << " is marked as produced in the catalog, but no test has "
        << text_of(entry.code).substr(3) << " in its name";
  }
}

TEST(FailuresPage, EveryClassWithATestIsMarkedAsProduced) {
  for (const auto& [id, names] : tests()) {
    if (find(id) == nullptr) continue;
    const Proof how = find(id)->proof;
    EXPECT_TRUE(how == Proof::produced || how == Proof::from_file || how == Proof::none)
        << id << " is marked as " << name_of(how) << " in the catalog, but " << names.front()
        << " bears its name";
  }
}

TEST(FailuresPage, NamesOfTestsAreReadAsWords) {
  EXPECT_FALSE(tests().at("L18").empty());
  EXPECT_EQ(tests().count("F64"), 0u) << "a part of another word";
}

}  // namespace
}  // namespace enginehost::explain
