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

TEST_F(Licenses, WhatMayNotBePassedOnIsNotExportedUnlessTold) {
  for (const char* license : {"closed", "asking"}) {
    const std::string id = license == std::string("closed") ? "LicenseRef-Closed" : "LicenseRef-Asking";
    ExportRequest request = site.request({std::string("sample-") + license}, license);
    const auto refused = site.export_to(request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "EH-P60");
    EXPECT_EQ(refused.error().value("license"), id);
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

}  // namespace
}  // namespace enginehost::offline
