// Without Python, which Wine does not have, the report names the commands that were tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/transfer/package_index.hpp"

namespace enginehost::transfer {
namespace {

TEST(PackageIndexWithoutPip, TheDiagnosisNamesEveryCommandThatWasTried) {
  const auto found = package_index({});
  if (found) GTEST_SKIP() << "there is a pip here";
  EXPECT_EQ(found.error().code, "EH-N12");
  std::vector<std::string> asked;
  for (const Evidence& fact : found.error().evidence)
    if (fact.what == "asked") asked.push_back(fact.value);
  EXPECT_THAT(asked, testing::ElementsAre("py -m pip", "python -m pip", "pip"));
}

TEST(PackageIndexWithoutPip, TheConfiguredIndexIsTaken) {
  TransferOptions options;
  options.package_index = "https://index.example/simple";
  const auto found = package_index(options);
  ASSERT_TRUE(found);
  if (found->reported_by != "configuration") GTEST_SKIP() << "there is a pip here";
  EXPECT_THAT(found->urls, testing::ElementsAre("https://index.example/simple"));
}

}  // namespace
}  // namespace enginehost::transfer
