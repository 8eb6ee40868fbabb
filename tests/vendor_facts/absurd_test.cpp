// Documents that no reader may believe: each is refused with the member, the value and the limit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/vendor_facts/facts_document.hpp"

namespace enginehost::vendor {
namespace {

using testing::HasSubstr;

struct Absurd {
  const char *what, *member, *value, *limit;
  Json document;
};

void expect_refused(const Absurd& one) {
  const auto facts = read_facts(one.document, "facts.json", &built_in());
  ASSERT_FALSE(facts) << one.what;
  EXPECT_EQ(facts.error().code, "EH-M26") << one.what;
  EXPECT_EQ(facts.error().value(Key::document), "facts.json") << one.what;
  EXPECT_EQ(facts.error().value(Key::member), one.member) << one.what;
  EXPECT_THAT(std::string(facts.error().value(Key::value)), HasSubstr(one.value)) << one.what;
  EXPECT_THAT(std::string(facts.error().value(Key::limit)), HasSubstr(one.limit)) << one.what;
}

const Json good = own_document();

TEST(AbsurdFacts, AreRefusedInTheTableOfToolkits) {
  const auto newest = [](const Json& row) { return with_row(good, "cuda_toolkits", 0, row); };
  for (const Absurd& one : std::initializer_list<Absurd>{
           {"no released driver reaches it", "cuda_toolkits[0].linux_driver", "9999",
            "at most 100 branches above 595", newest(toolkit("13.9", "9999", "620"))},
           {"the same on Windows", "cuda_toolkits[0].windows_driver", "696", "at most 100 branches above 595",
            newest(toolkit("13.9", "620", "696"))},
           {"lower than an older toolkit's", "cuda_toolkits[0].linux_driver", "580.1", "newer than 595",
            newest(toolkit("13.9", "580.1", "620"))},
           {"equal to an older toolkit's", "cuda_toolkits[0].windows_driver", "595", "newer than 595",
            newest(toolkit("13.9", "620", "595"))},
           {"out of order", "cuda_toolkits[0].version", "12.8", "newer than the row below it, 13.2",
            newest(toolkit("12.8", "620", "620"))},
           {"listed twice", "cuda_toolkits[0].version", "13.2", "newer than the row below it",
            newest(toolkit("13.2", "620", "620"))},
           {"a version of one number", "cuda_toolkits[0].version", "14", "two numbers",
            newest(toolkit("14", "620", "620"))},
           {"a version in words", "cuda_toolkits[0].linux_driver", "newest", "such as 590.44.01",
            newest(toolkit("13.9", "newest", "620"))},
           {"a huge major version", "cuda_toolkits[0].version", "130.1", "at most 99",
            newest(toolkit("130.1", "620", "620"))},
           {"a known toolkit with another branch", "cuda_toolkits[1].linux_driver", "588",
            "branch 590, as this version knows for CUDA 13.1",
            with_member(good, "cuda_toolkits", 1, "linux_driver", "588")},
           {"the oldest with another branch", "cuda_toolkits[24].linux_driver", "409.1", "branch 410",
            with_member(good, "cuda_toolkits", 24, "linux_driver", "409.1")},
           {"a known toolkit is missing", "cuda_toolkits", "12.6", "complete",
            without_row(good, "cuda_toolkits", 6)},
           {"no toolkit", "cuda_toolkits", "a list", "at least one row",
            Json(good).set("cuda_toolkits", Json::array())}})
    expect_refused(one);
}

TEST(AbsurdFacts, AreRefusedInTheTableOfMinorVersions) {
  const auto changed = [](std::size_t at, const char* name, const Json& value) {
    return with_member(good, "cuda_minor_versions", at, name, value);
  };
  for (const Absurd& one : std::initializer_list<Absurd>{
           {"no driver reaches it", "cuda_minor_versions[0].linux_driver", "9999", "at most 590.44.01",
            changed(0, "linux_driver", "9999")},
           {"below the first toolkit", "cuda_minor_versions[1].linux_driver", "515", "at least 525.60.13",
            changed(1, "linux_driver", "515")},
           {"above the second", "cuda_minor_versions[1].windows_driver", "540", "at most 531.14",
            changed(1, "windows_driver", "540")},
           {"a major version without toolkit", "cuda_minor_versions[0].major", "14", "first toolkit",
            changed(0, "major", 14)},
           {"a major version twice", "cuda_minor_versions[2].major", "12", "once",
            changed(2, "major", 12).set("cuda_toolkits", good["cuda_toolkits"])},
           {"a number as text", "cuda_minor_versions[0].major", "13", "a number", changed(0, "major", "13")},
           {"a known major is missing", "cuda_minor_versions", "11", "complete",
            without_row(good, "cuda_minor_versions", 2)}}) {
    // The row of CUDA 12 that takes the place of 11 would also be wrong by its drivers.
    if (std::string(one.what) == "a major version twice") {
      Json same = with_member(one.document, "cuda_minor_versions", 2, "linux_driver", "525.60.13");
      expect_refused({one.what, one.member, one.value, one.limit,
                      with_member(same, "cuda_minor_versions", 2, "windows_driver", "528.33")});
    } else {
      expect_refused(one);
    }
  }
}

TEST(AbsurdFacts, AreRefusedInTheTableOfCapabilities) {
  const std::size_t end = good["compute_capabilities"].as_array().size();
  const std::string last = "compute_capabilities[" + std::to_string(end) + "].";
  const auto card = [&](const char* capability, const char* first, const char* until = nullptr) {
    Json row = Json::object().set("capability", capability).set("first", first);
    if (until != nullptr) row.set("last", until);
    return with_row(good, "compute_capabilities", end, row);
  };
  const std::string capability = last + "capability", first = last + "first", until = last + "last";
  for (const Absurd& one : std::initializer_list<Absurd>{
           {"out of range", capability.c_str(), "100.0", "from 1.0 to 99.9", card("100.0", "13.2")},
           {"two digits behind the dot", capability.c_str(), "13.10", "from 1.0 to 99.9",
            card("13.10", "13.2")},
           {"no capability", capability.c_str(), "sm_130", "two numbers", card("sm_130", "13.2")},
           {"below the row before", capability.c_str(), "8.4", "above the row before it, 12.1",
            card("8.4", "13.2")},
           {"listed twice", capability.c_str(), "12.1", "above the row before it", card("12.1", "13.2")},
           {"a toolkit of the far future", first.c_str(), "77.0", "at most 13.2", card("13.0", "77.0")},
           {"ended before it began", until.c_str(), "12.0", "not before the first toolkit, 13.2",
            card("13.0", "13.2", "12.0")},
           {"a known card is missing", "compute_capabilities", "8.6", "complete",
            without_row(good, "compute_capabilities", 13)},
           {"a chip that is neither", "compute_capabilities[0].tegra", "perhaps", "true or false",
            with_member(good, "compute_capabilities", 0, "tegra", "perhaps")}})
    expect_refused(one);
}

TEST(AbsurdFacts, AreRefusedInTheTableOfLibraries) {
  const auto changed = [](const char* name, const Json& value) {
    return with_member(good, "libraries", 3, name, value);
  };
  Json many = Json::array();
  for (int i = 0; i < 1001; ++i)
    many.push(Json::object().set("file", "lib" + std::to_string(i) + ".so.1").set("what", "x"));
  for (const Absurd& one : std::initializer_list<Absurd>{
           {"too many", "libraries", "1001 rows", "at most 1000", Json(good).set("libraries", many)},
           {"a path out of the folder", "libraries[3].file", "../libc.so.6", "below a folder",
            changed("file", "../libc.so.6")},
           {"an absolute path", "libraries[3].file", "/lib/libc.so.6", "below a folder",
            changed("file", "/lib/libc.so.6")},
           {"twice", "libraries[3].file", "libcuda.so.1", "once", changed("file", "libcuda.so.1")},
           {"without a name", "libraries[3].file", "missing", "500 bytes", changed("file", Json())},
           {"a text of two lines", "libraries[3].what", "a\nb", "one line", changed("what", "a\nb")},
           {"an escape for terminals", "libraries[3].debian", "\x1b[2J", "one line",
            changed("debian", "\x1b[2J")},
           {"a long text", "libraries[3].other", "...", "500 bytes", changed("other", std::string(501, 'x'))},
           {"a number", "libraries[3].what", "5", "a text", changed("what", 5)}})
    expect_refused(one);
}

TEST(AbsurdFacts, AreRefusedInTheTableOfEngines) {
  const auto changed = [](const char* name, const Json& value) {
    return with_member(good, "engines", 1, name, value);
  };
  for (const Absurd& one : std::initializer_list<Absurd>{
           {"a known engine is missing", "engines", "mxnet", "complete", without_row(good, "engines", 3)},
           {"without libraries", "engines[1].main_libraries", "missing", "1 to 100",
            changed("main_libraries", Json())},
           {"no library", "engines[1].main_libraries", "a list", "1 to 100",
            changed("main_libraries", Json::array())},
           {"a folder elsewhere", "engines[1].package_folders[0]", "onnxruntime/../../etc", "below a folder",
            changed("package_folders", Json::strings({"onnxruntime/../../etc"}))},
           {"a file elsewhere", "engines[1].version_file", "/etc/shadow", "below a folder",
            changed("version_file", "/etc/shadow")},
           {"half an ABI", "engines[1].abi_symbol", "missing", "abi_library",
            changed("abi_library", "libonnxruntime.so")},
           {"twice", "engines[1].engine", "pytorch", "once", changed("engine", "pytorch")}})
    expect_refused(one);
}

TEST(AbsurdFacts, AreRefusedInTheDocumentItself) {
  for (const Absurd& one : std::initializer_list<Absurd>{
           {"a later format", "format", "2", "from 1 to 1", Json(good).set("format", 2)},
           {"no serial", "serial", "\"7\"", "a number", Json(good).set("serial", "7")},
           {"a serial that nobody can follow", "serial", "9223372036854775807", "1000001",
            Json(good).set("serial", INT64_MAX)},
           {"no date", "date", "yesterday", "a time", Json(good).set("date", "yesterday")},
           {"a table of another type", "engines", "an object", "a list",
            Json(good).set("engines", Json::object())},
           {"no document", "", "a list", "an object", Json::array()}})
    if (one.member[0] != '\0') expect_refused(one);
  EXPECT_FALSE(read_facts(Json::array(), "facts.json", &built_in()));
  const auto broken = read_facts(std::string("{\"format\": 1,"), "facts.json", &built_in());
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, "EH-M26");
  EXPECT_EQ(broken.error().value(Key::member), "document");
  const auto large = read_facts(std::string(largest_document + 1, ' '), "facts.json", &built_in());
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().value(Key::limit), "at most 1.0 MiB");
}

}  // namespace
}  // namespace enginehost::vendor
