#include "host/oci/reference.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace enginehost::oci {
namespace {

const std::string digest(64, 'a');

std::string problem_of(const std::string& text) {
  const auto reference = read_reference(text);
  if (reference) return "";
  EXPECT_EQ(reference.error().code, "EH-N35") << text;
  return std::string(reference.error().value(Key::problem));
}

TEST(Reference, IsReadInAllItsParts) {
  const auto reference =
      read_reference("Registry.example:5000/engines/torch__2/cu118:v2.0.1@sha256:" + digest);
  ASSERT_TRUE(reference);
  EXPECT_EQ(reference->host, "registry.example:5000");
  EXPECT_EQ(reference->repository, "engines/torch__2/cu118");
  EXPECT_EQ(reference->tag, "v2.0.1");
  EXPECT_EQ(reference->digest, digest);
  EXPECT_EQ(reference->text(), "registry.example:5000/engines/torch__2/cu118:v2.0.1@sha256:" + digest);
}

TEST(Reference, TagAndDigestMayBeLeftOut) {
  EXPECT_EQ(read_reference("registry.example/torch")->text(), "registry.example/torch");
  EXPECT_EQ(read_reference("localhost/torch")->host, "localhost");
  EXPECT_EQ(read_reference("[::1]:5000/torch")->host, "[::1]:5000");
  EXPECT_EQ(read_reference("10.0.0.1/a-b.c_d")->repository, "a-b.c_d");
}

TEST(Reference, WithoutAHostItIsRefusedInsteadOfMeaningADefaultRegistry) {
  EXPECT_THAT(problem_of("engines/torch"), testing::HasSubstr("registry's host"));
  EXPECT_THAT(problem_of("torch"), testing::HasSubstr("HOST/NAME"));
}

TEST(Reference, AnInvalidOneIsRefusedByName) {
  EXPECT_THAT(problem_of("https://registry.example/torch"), testing::HasSubstr("URL"));
  EXPECT_THAT(problem_of("registry.example/torch@md5:abc"), testing::HasSubstr("sha256"));
  EXPECT_THAT(problem_of("registry.example/torch@sha256:ABC"), testing::HasSubstr("64 hexadecimal"));
  EXPECT_THAT(problem_of("registry.example:0/torch"), testing::HasSubstr("port"));
  EXPECT_THAT(problem_of("registry.example:70000/torch"), testing::HasSubstr("port"));
  EXPECT_THAT(problem_of("user:pass@registry.example/torch"), testing::HasSubstr("sha256"));
  for (const char* name :
       {"", "/", "Torch", "a//b", "../b", "a/../b", "a..b", "a___b", "-a", "a-", "a b", "a%2fb"})
    EXPECT_NE(problem_of("registry.example/" + std::string(name)), "") << name;
  for (const char* tag : {"", ".a", "a b", "a/b", "-a"})
    EXPECT_NE(problem_of("registry.example/a:" + std::string(tag)), "") << tag;
  EXPECT_NE(problem_of("registry.example/a:" + std::string(129, 'a')), "");
  EXPECT_NE(problem_of("registry.example/" + std::string(256, 'a')), "");
  EXPECT_NE(problem_of("exa\nmple.org/a"), "");
}

TEST(Reference, LoopbackIsThisMachineAndNoSimilarName) {
  for (const char* host : {"localhost", "localhost:5000", "127.0.0.1", "127.9.9.9:1", "[::1]", "[::1]:80"})
    EXPECT_TRUE(is_loopback(host)) << host;
  for (const char* host :
       {"127.example.org", "localhost.example.org", "128.0.0.1", "[::2]", "10.0.0.1", "127.1"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

}  // namespace
}  // namespace enginehost::oci
