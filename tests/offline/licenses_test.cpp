#include "host/consent/consent.hpp"
#include "tests/offline/site.hpp"

namespace enginehost::offline {
namespace {

class Licenses : public test::SiteTest {
 protected:
  Licenses() {
    for (const char* license : {"closed", "asking"}) {
      const std::string name = license;
      site.add("sample-" + name,
               {test::plugin_of(name),
                {"extra-" + name, {{"lib/" + name + ".so", test::library(name)}}, name, {}}});
      EXPECT_TRUE(site.install("sample-" + name));
    }
  }
};

TEST_F(Licenses, ANonRedistributableBuildIsExportedOnRequestOnly) {
  for (const char* license : {"closed", "asking"}) {
    const std::string id = license == std::string("closed") ? "LicenseRef-Closed" : "LicenseRef-Asking";
    ExportRequest request = site.request({std::string("sample-") + license}, license);
    const auto refused = site.export_to(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "EH-P60");
    EXPECT_EQ(refused.error().value(Key::license), id);
    EXPECT_FALSE(std::filesystem::exists(request.file));
    request.selection.licenses_by_order = {"LicenseRef-Another"};
    EXPECT_FALSE(site.export_to(request));
    request.selection.licenses_by_order = {id};
    const auto exported = site.export_to(request);
    ASSERT_TRUE(exported) << exported.error().code;
    const auto listed = list_of_bundle(request.file);
    ASSERT_TRUE(listed);
    const auto found = std::find_if(listed->list.licenses.begin(), listed->list.licenses.end(),
                                    [&](const BundledLicense& known) { return known.id == id; });
    ASSERT_NE(found, listed->list.licenses.end());
    EXPECT_TRUE(found->by_order) << "the bundle says that somebody decided so";
  }
}

TEST_F(Licenses, AKeptTextTravelsWithTheBundle) {
  site.add("sample-kept",
           {test::plugin_of("kept"), {"extra-kept", {{"lib/kept.so", test::library("kept")}}, "kept", {}}});
  ASSERT_TRUE(site.install("sample-kept"));
  const auto text_in = [&](const std::string& name) {
    EXPECT_TRUE(site.export_to(site.request({"sample-kept"}, name)));
    const auto listed = list_of_bundle(folder / name);
    for (const BundledLicense& license : listed->list.licenses)
      if (license.id == "LicenseRef-Kept") return license.text;
    ADD_FAILURE() << "the license is not listed";
    return false;
  };
  EXPECT_FALSE(text_in("without.bundle"));
  ASSERT_TRUE(consent::keep_text(site.store(), test::kept_terms));
  EXPECT_TRUE(text_in("with.bundle"));
  EXPECT_TRUE(import(folder / "without.bundle", "none"));
  EXPECT_EQ(consent::kept_text(store("none"), sha256_hex(test::kept_terms)), std::nullopt);
  EXPECT_TRUE(import(folder / "with.bundle"));
  EXPECT_EQ(consent::kept_text(store(), sha256_hex(test::kept_terms)), test::kept_terms);
  cache::CollectOptions everything;
  everything.max_age = std::chrono::seconds(0);
  ASSERT_TRUE(store().collect(everything));
  EXPECT_EQ(consent::kept_text(store(), sha256_hex(test::kept_terms)), test::kept_terms);
}

}  // namespace
}  // namespace enginehost::offline
