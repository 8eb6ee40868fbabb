// Without Python, which Wine does not have, the report names the commands that were tried.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/transfer/package_index.hpp"
#include "host/transfer/pip.hpp"

namespace enginehost::transfer {
namespace {

TEST(PackageIndexWithoutPip, TheDiagnosisNamesEveryCommandThatWasTried) {
  const auto answer = ask_pip({}, false);
  if (answer) GTEST_SKIP() << "there is a pip here";
  EXPECT_EQ(answer.error().code, "EH-N12");
  EXPECT_THAT(answer.error().values(Key::asked), testing::ElementsAre("py -m pip", "python -m pip", "pip"));
}

TEST(PackageIndexWithoutPip, PipsFilesLieInTheFoldersOfWindows) {
  for (const auto& list : {pip_files().global, pip_files().user})
    for (const std::filesystem::path& file : list) EXPECT_EQ(file.filename(), "pip.ini") << file;
  EXPECT_FALSE(pip_files().global.empty());
}

TEST(PackageIndexWithoutPip, ReadsAFileUrlWithADrive) {
  EXPECT_EQ(path_of_file_url("file:///C:/a%20folder/x"), std::filesystem::path("C:/a folder/x"));
}

}  // namespace
}  // namespace enginehost::transfer
