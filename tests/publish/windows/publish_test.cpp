// Windows cannot exchange the names of two folders, and an open file is neither renamed nor, under Wine,
// linked.
#include "tests/publish/fixture.hpp"

namespace enginehost::publish {
namespace {

TEST_F(Publish, AFolderInUseStaysAsItWas) {
  ASSERT_TRUE(to_out());
  const std::string before = bytes_of(out() / "index.json");
  add_toy("1.0.1");
  {
    const fs::path file = fs::directory_iterator(out() / "files")->path();
    const std::ifstream reader(file, std::ios::binary);
    ASSERT_TRUE(reader);
    const auto refused = to_out();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "EH-F16");
  }
  EXPECT_EQ(bytes_of(out() / "index.json"), before);
  const auto published = to_out();
  ASSERT_TRUE(published) << published.error().code;
  EXPECT_NE(bytes_of(out() / "index.json"), before);
  EXPECT_THAT(beside(), testing::UnorderedElementsAre("engines", ".engines.lock"));
}

}  // namespace
}  // namespace enginehost::publish
