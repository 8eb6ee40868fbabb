#include "host/oci/authorization.hpp"

#include <gtest/gtest.h>

#include "base/paths.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::oci {
namespace {

constexpr const char* file = R"({"auths": {
  "registry.example": {"auth": "dXNlcjpwYTpzcw=="},
  "registry.example:5000": {"auth": "b3RoZXI6MQ=="},
  "https://docker.example/v1/": {"auth": "YTpi"},
  "team.example/only/here": {"auth": "YTpi"},
  "odd.example": {"auth": "not base64!"}, "empty.example": {}}})";

TEST(Credentials, AreThoseOfExactlyThisHostAndPort) {
  const auto who = credentials_in(file, "registry.example");
  ASSERT_TRUE(who);
  EXPECT_EQ(who->user, "user");
  EXPECT_EQ(who->password, "pa:ss");
  EXPECT_EQ(credentials_in(file, "registry.example:5000")->user, "other");
  EXPECT_EQ(credentials_in(file, "docker.example")->user, "a");
  for (const char* host : {"registry.example:5001", "example", "evil-registry.example", "team.example",
                           "odd.example", "empty.example", ""})
    EXPECT_FALSE(credentials_in(file, host)) << host;
}

TEST(Credentials, AFileThatIsNoJsonHoldsNone) {
  EXPECT_FALSE(credentials_in("", "registry.example"));
  EXPECT_FALSE(credentials_in("{\"auths\": []}", "registry.example"));
}

TEST(Credentials, OnlyTheNamedFileIsRead) {
  const test::TemporaryFolder folder;
  test::write_text(folder / "auth.json", file);
  test::set_variable("REGISTRY_AUTH_FILE", path_text(folder / "auth.json"));
  EXPECT_EQ(credential_files().size(), 1u);
  EXPECT_EQ(credentials_for("registry.example")->user, "user");
  test::remove_variable("REGISTRY_AUTH_FILE");
  EXPECT_FALSE(credentials_for("registry.example"));
}

}  // namespace
}  // namespace enginehost::oci
