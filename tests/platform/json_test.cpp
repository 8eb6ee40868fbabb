// A platform as JSON and back.
#include <gmock/gmock.h>

#include "host/platform/platform.hpp"
#include "tests/platform/full_platform.hpp"

namespace enginehost::platform {
namespace {

using ::testing::HasSubstr;

Result<Platform> read(const std::string& text) {
  auto document = parse_json(text, "test.json");
  if (!document) return fail(document.error());
  return platform_from_json(*document, "test.json");
}

TEST(PlatformJson, EveryFactOfEveryStateComesBackTheSame) {
  const Platform platform = full_platform();
  const auto back = read(to_json(platform).dump(2));
  ASSERT_TRUE(back.has_value()) << back.error().value(Key::problem);
  EXPECT_EQ(*back, platform);
  EXPECT_EQ(to_json(*back).dump(), to_json(platform).dump());
}

TEST(PlatformJson, AnEmptyPlatformIsAllUnknownAndComesBack) {
  const auto back = read(to_json(Platform{}).dump());
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, Platform{});
  EXPECT_EQ(back->cuda.devices.why(), "not asked");
}

TEST(PlatformJson, FactsHaveExactlyThreeForms) {
  const Json json = to_json(full_platform());
  const auto check = [](const Json& fact, const std::string& name) {
    const bool known =
        fact.find("value") != nullptr && fact.find("source") != nullptr && fact.as_object().size() == 2;
    const bool absent =
        fact["absent"].as_bool() && fact.find("source") != nullptr && fact.as_object().size() == 2;
    const bool unknown =
        fact["unknown"].as_bool() && fact.find("why") != nullptr && fact.as_object().size() == 2;
    EXPECT_EQ(known + absent + unknown, 1) << name;
  };
  for (const auto& [name, fact] : json.as_object())
    if (name != "cuda") check(fact, name);
  for (const auto& [name, fact] : json["cuda"].as_object()) check(fact, "cuda." + name);
}

TEST(PlatformJson, HasTheMembersOfTheContract) {
  const Json json = to_json(Platform{});
  for (const char* name :
       {"os",        "distribution", "arch",  "kernel",    "libc",          "libstdcxx", "cpu",
        "page_size", "memory",       "disk",  "cuda",      "nvidia_module", "rocm",      "other_gpus",
        "metal",     "vcruntime",    "conda", "container", "wsl",           "job",       "loader_environment",
        "libraries"})
    EXPECT_NE(json.find(name), nullptr) << name;
  for (const char* name : {"driver", "driver_cuda", "devices", "visible_devices", "toolkits", "cudnn"})
    EXPECT_NE(json["cuda"].find(name), nullptr) << name;
}

TEST(PlatformJson, AWholeDocumentAndItsInnerPartReadTheSame) {
  const std::string inner = R"({"os":{"value":"linux","source":"s"}})";
  EXPECT_EQ(*read(inner), *read(R"({"format":1,"platform":)" + inner + "}"));
}

TEST(PlatformJson, MissingFactsAreUnknownAndForeignMembersAreIgnored) {
  const auto platform = read(R"({"os":{"value":"linux","source":"s","later":1},"quantum":{"value":3}})");
  ASSERT_TRUE(platform.has_value());
  EXPECT_EQ(platform->os.value(), "linux");
  EXPECT_TRUE(platform->cuda.devices.is_unknown());
  EXPECT_EQ(platform->cuda.devices.why(), "not in the file");
}

TEST(PlatformJson, MissingMembersOfADeviceKeepTheirDefaults) {
  const auto platform =
      read(R"({"cuda":{"devices":{"value":[{"name":"X","compute_capability":"8.6"}],"source":"s"}}})");
  ASSERT_TRUE(platform.has_value());
  EXPECT_EQ(platform->cuda.devices.value().at(0), (CudaDevice{0, "X", "8.6", "", 0, true}));
}

TEST(PlatformJson, WrongTypesAreNamedWithTheirPlace) {
  struct Case {
    const char* text;
    const char* member;
    const char* problem;
  };
  for (const Case& wrong : {
           Case{R"({"os":"linux"})", "platform.os", "expected a fact, found string"},
           Case{R"({"os":{"source":"s"}})", "platform.os", "\"unknown\": true"},
           Case{R"({"os":{"value":7}})", "platform.os.value", "expected a text"},
           Case{R"({"os":{"unknown":true},"cuda":[]})", "platform.cuda", "expected an object"},
           Case{R"({"cuda":{"devices":{"value":[{"index":"0"}]}}})", "platform.cuda.devices.value[0].index",
                "whole number"},
           Case{R"({"cuda":{"devices":{"value":[{"index":-1}]}}})", "platform.cuda.devices.value[0].index",
                "out of range"},
           Case{R"({"os":{"unknown":true},"cpu":{"value":{"features":[1]}}})",
                "platform.cpu.value.features[0]", "expected a text"},
           Case{R"({"format":2,"platform":{"os":{"unknown":true}}})", "format", "format 1"},
           Case{R"({"engine":"pytorch"})", "platform", "no report of a machine"},
           Case{R"([1])", "platform", "expected an object"},
       }) {
    const auto platform = read(wrong.text);
    ASSERT_FALSE(platform.has_value()) << wrong.text;
    EXPECT_EQ(platform.error().code, "EH-M02");
    EXPECT_EQ(platform.error().value(Key::document), "test.json");
    EXPECT_EQ(platform.error().value(Key::member), wrong.member);
    EXPECT_THAT(std::string(platform.error().value(Key::problem)), HasSubstr(wrong.problem));
  }
}

}  // namespace
}  // namespace enginehost::platform
