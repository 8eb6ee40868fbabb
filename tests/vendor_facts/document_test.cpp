// The document that was compiled in, a newer one, and what each decides.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "host/explain/providers.hpp"
#include "host/platform/platform.hpp"
#include "host/resolve/cuda.hpp"
#include "tests/vendor_facts/facts_document.hpp"

namespace enginehost::vendor {
namespace {

// CUDA 13.9, a Tegra chip, a library and an engine that nobody has made.
Json invented() {
  Json document = own_document().set("serial", 2).set("date", "2031-04-05T06:07:08Z");
  document = with_row(document, "cuda_toolkits", 0, toolkit("13.9", "660.10", "661.20"));
  const std::size_t cards = document["compute_capabilities"].as_array().size();
  document = with_row(document, "compute_capabilities", cards,
                      Json::object().set("capability", "13.4").set("first", "13.9").set("tegra", true));
  document = with_row(document, "libraries", 0,
                      Json::object()
                          .set("file", "libcunew.so.1")
                          .set("what", "CUDA news")
                          .set("package_index", "nvidia-cunew"));
  return with_row(document, "engines", 0,
                  Json::object()
                      .set("engine", "novum")
                      .set("python_names", Json::strings({"novum"}))
                      .set("package_folders", Json::strings({"novum/lib"}))
                      .set("main_libraries", Json::strings({"libnovum.so"})));
}

Facts invented_facts() {
  Facts facts = read_facts(invented(), "facts.json", &built_in()).value();
  facts.from = "/repository";
  facts.sha256 = "invented";
  return facts;
}

class VendorFacts : public testing::Test {
 protected:
  ~VendorFacts() override { use(built_in()); }
};

TEST_F(VendorFacts, TheDocumentOfTheTreeIsRightAndStatesItsSources) {
  const Json document = own_document();
  const auto facts = read_facts(document, "vendor-facts.json", nullptr);
  ASSERT_TRUE(facts) << facts.error().value(Key::member) << " " << facts.error().value(Key::value);
  EXPECT_EQ(built_in().serial, facts->serial);
  EXPECT_EQ(built_in().sha256.size(), 64u);
  EXPECT_EQ(built_in().from, "");
  std::set<std::string> of;
  for (const Json& source : document["sources"].as_array()) {
    of.insert(source["of"].as_string());
    EXPECT_NE(source["url"].as_string(), "");
    EXPECT_EQ(source["date"].as_string().size(), 10u);
  }
  for (const auto& [name, value] : document.as_object())
    if (value.is_array() && name != "sources") EXPECT_TRUE(of.contains(name)) << name << " has no source";
}

TEST_F(VendorFacts, ANewerDocumentDecidesAtOnceAndUntilItIsReplaced) {
  using platform::parse_capability;
  const auto runs = [](const char* code, const char* device) {
    return platform::sass_runs_on(*parse_capability(code), *parse_capability(device));
  };
  EXPECT_EQ(resolve::cuda_of_driver("660.10", false), "13.2");
  EXPECT_TRUE(runs("13.0", "13.4"));
  EXPECT_EQ(explain::provider_of("libcunew.so.1"), nullptr);
  const std::size_t engines = in_use().engines.size();

  use(invented_facts());
  EXPECT_EQ(resolve::cuda_of_driver("660.10", false), "13.9");
  EXPECT_EQ(resolve::cuda_of_driver("660.09", false), "13.2");
  EXPECT_EQ(resolve::cuda_of_driver("661.20", true), "13.9");
  EXPECT_EQ(resolve::native_driver("13.9", true), "661.20");
  EXPECT_EQ(resolve::cuda_of_driver("535.104.05", false), "12.2");
  EXPECT_FALSE(runs("13.0", "13.4")) << "code of a desktop GPU does not run on a Tegra chip";
  EXPECT_TRUE(runs("13.4", "13.4"));
  EXPECT_EQ(explain::provider_text("libcunew.so.1"), "CUDA news: package index nvidia-cunew");
  EXPECT_EQ(in_use().engines.size(), engines + 1);
  EXPECT_EQ(in_use().from, "/repository");

  const Toolkit& kept = in_use().toolkits.front();
  use(built_in());
  EXPECT_EQ(resolve::cuda_of_driver("660.10", false), "13.2");
  EXPECT_EQ(kept.version, "13.9") << "a replaced table stays in memory";
  use(invented_facts());
  EXPECT_EQ(&in_use().toolkits.front(), &kept) << "the same table is kept once";
}

TEST_F(VendorFacts, AToolkitThatNobodyVerifiedMayGetItsBranchLater) {
  Json document = with_member(own_document(), "cuda_toolkits", 0, "linux_driver", "597.12");
  EXPECT_TRUE(read_facts(document, "facts.json", &built_in()));
  document = with_member(own_document(), "cuda_toolkits", 1, "linux_driver", "590.48.01");
  EXPECT_TRUE(read_facts(document, "facts.json", &built_in()))
      << "the number within a branch may be corrected";
}

TEST_F(VendorFacts, AMemberOfALaterVersionIsPassedOver) {
  Json document =
      with_member(own_document(), "engines", 0, "windows_libraries", Json::strings({"torch.dll"}));
  EXPECT_TRUE(read_facts(document.set("rocm", Json::array()), "facts.json", &built_in()));
}

}  // namespace
}  // namespace enginehost::vendor
