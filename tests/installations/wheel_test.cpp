// Published wheels as pip installs them.
#include <gmock/gmock.h>

#include "tests/installations/environments.hpp"

namespace enginehost::installations {
namespace {

using testing::HasSubstr;

class Wheels : public test::Environments {
 protected:
  // False where the package index cannot be reached.
  bool install(const std::string& package) const {
    ChildRequest request;
    request.argv = {"python3",       "-m",    "pip",      "install",  "--quiet", "--no-deps",
                    "--only-binary", ":all:", "--target", at("site"), package};
    request.deadline = std::chrono::minutes(5);
    const auto outcome = run_child(request);
    return outcome && outcome->exit_code == 0;
  }
};

TEST_F(Wheels, OfOnnxRuntimeAreRecognized) {
  if (!install("onnxruntime==1.23.2")) GTEST_SKIP() << "the package index cannot be reached";
  const auto installation = identify(folder() / "site");
  ASSERT_TRUE(installation);
  const Runtime* runtime = find(*installation, "onnxruntime");
  ASSERT_NE(runtime, nullptr);
  EXPECT_EQ(runtime->version, "1.23.2");
  EXPECT_EQ(runtime->flavor, "cpu");
  EXPECT_EQ(runtime->requirements.libc, "glibc");
  EXPECT_THAT(runtime->requirements.glibc, HasSubstr(">=2.2"));
  EXPECT_FALSE(runtime->problem);
}

}  // namespace
}  // namespace enginehost::installations
