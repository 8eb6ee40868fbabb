// --from-index of the build tree's own plans, over the real package index.
#include <gmock/gmock.h>

#include <filesystem>
#include <iostream>

#include "base/text.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class FromTheRealIndex : public testing::Test {
 protected:
  FromTheRealIndex() { user_.configure(Json::object()); }

  // The bytes that were read to derive builds, from the audit log.
  std::int64_t bytes_derived() const {
    std::int64_t bytes = 0;
    for (const fs::directory_entry& machine : fs::directory_iterator(user_.cache() / "state")) {
      const fs::path log = machine.path() / "audit/audit.jsonl";
      if (!fs::exists(log)) continue;
      for (const std::string& line : split(read_text(log), '\n')) {
        const auto entry = parse_json(line, "audit log");
        if (entry && (*entry)["event"].as_string() == "derive") bytes += (*entry)["bytes"].as_integer();
      }
    }
    return bytes;
  }
  void expect_within(const std::string& request, std::chrono::seconds most_time, std::int64_t most_bytes) {
    const Ended derived = user_.info({request, "--from-index", "--require", "cpu", "--self-test", "--json"});
    ASSERT_EQ(derived.status, 0) << derived.said();
    EXPECT_THAT(derived.outcome()["origin"]["derived"].as_string(), HasSubstr("derived here"));
    const std::int64_t bytes = bytes_derived() + derived.outcome()["download"]["bytes"].as_integer();
    std::cout << request << ": " << derived.duration.count() << " ms, " << bytes << " bytes\n";
    EXPECT_GT(bytes_derived(), 0);
    EXPECT_LE(bytes, most_bytes);
    EXPECT_LE(derived.duration, most_time);
    EXPECT_EQ(user_.info({request, "--json"}).code(), "EH-S01") << "no other request uses it";
  }

  const Workplace user_;
};

// The manifests have the newest release of each minor one, so these stay unlisted.
TEST_F(FromTheRealIndex, OnnxRuntimeOpensWithin10SecondsAnd30Megabytes) {
  expect_within("onnxruntime@1.31.0", std::chrono::seconds(10), 30'000'000);
}

TEST_F(FromTheRealIndex, PyTorchOpensWithin90SecondsAnd170Megabytes) {
  const Ended plan = user_.info({"pytorch@2.14", "--plan", "--explain"});
  if (plan.output.find("was not compiled") != std::string::npos)
    GTEST_SKIP() << "the adapter of PyTorch 2.14 was not compiled";
  expect_within("pytorch@2.14.0", std::chrono::seconds(90), 170'000'000);
}

}  // namespace
}  // namespace enginehost::test
