// Wheels as pip installs them, opened where they lie. "skipped" where the package index cannot be reached.
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/end-to-end/workplace.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;

const std::string repository = std::string(ENGINEHOST_BUILD_DIR) + "/share/enginehost/repository";

TEST(InstalledWheels, OfOnnxRuntimeServeWithoutADownload) {
  const Workplace workplace;
  const std::string environment = (workplace.folder() / "venv").native();
  const std::string made = "python3 -m venv '" + environment + "' && '" + environment +
                           "/bin/python' -m pip install --quiet --no-deps onnxruntime==1.23.2";
  if (std::system(made.c_str()) != 0) GTEST_SKIP() << "the package index cannot be reached";
  const Ended opened = workplace.info({"onnxruntime@1.23.2", "--json", "--self-test", "--offline",
                                       "--repository", repository, "--installation", environment});
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_THAT(opened.outcome()["build"].as_string(), HasSubstr("onnxruntime-1.23.2-cpu-linux-"));
  EXPECT_THAT(opened.outcome()["build"].as_string(), HasSubstr("-at-"));
  bool in_place = false;
  for (const Json& library : opened.outcome()["loaded"].as_array())
    in_place = in_place || library["path"].as_string().starts_with(environment);
  EXPECT_TRUE(in_place) << opened.said();
}

}  // namespace
}  // namespace enginehost::test
