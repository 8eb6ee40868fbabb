#include "tools/follow/plan.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "host/explain/explain.hpp"
#include "tests/support/temporary_folder.hpp"

namespace enginehost::follow {
namespace {

constexpr const char* toy_plan = R"({
 "format": 1, "engine": "toy", "manifest": "../engines/toy.json", "facts": "memory", "hold_back_days": 5,
 "licenses": {"toy": {"id": "MIT", "accept": "implicit", "redistribute": "yes"}},
 "components": {"toy-plugin-linux-x86_64": {"plugin_of": "toy", "os": "linux", "arch": "x86_64"}},
 "builds": [{"id": "toy-0.1-by-hand"}],
 "models": [["{folder}/toy.onnx", "--format", "onnx"]],
 "layouts": {
  "linux": {"project": "toy", "wheel": "toy-{version}-py3-none-manylinux_*_x86_64.whl",
            "component": "toy-{version}-linux-x86_64", "license": "toy", "select": ["toy/*.so"],
            "libraries": ["libtoy.so"]},
  "maths": {"project": "toy-maths", "wheel": "toy_maths-{version}-*.whl", "component": "toy-maths-{version}",
            "license": "toy", "select": ["toy_maths/*.so"]}
 },
 "tracks": [
  {"name": "cpu", "project": "toy", "versions": ">=1.0,<3", "newest": 2, "keep": ["1.0"], "rows": [
   {"os": "linux", "arch": "x86_64", "layout": "linux",
    "parts": [{"layout": "maths", "version": "~=13.0"}, {"layout": "toy-plugin-linux-x86_64", "version": "none"}],
    "build": {"id": "toy-{version}-linux-x86_64", "flavor": "cpu"}}
  ]}
 ]
}
)";

class PlanFile : public testing::Test {
 protected:
  Result<Plan> read(const std::string& text) {
    const auto file = folder_.path() / "plans/toy.json";
    EXPECT_TRUE(make_folders(file.parent_path()) && write_file(file, text, false));
    return read_plan(file);
  }
  // The plan with one text replaced; the text must be there.
  Result<Plan> changed(const std::string& before, const std::string& after) {
    std::string text = toy_plan;
    const std::size_t at = text.find(before);
    EXPECT_NE(at, std::string::npos) << before;
    return read(text.replace(at, before.size(), after));
  }
  test::TemporaryFolder folder_;
};

TEST_F(PlanFile, ReadsEveryMember) {
  const auto plan = read(toy_plan);
  ASSERT_TRUE(plan) << explain::one_line(plan.error());
  EXPECT_EQ(plan->manifest, folder_.path() / "engines/toy.json");
  EXPECT_EQ(plan->facts, folder_.path() / "plans/memory");
  EXPECT_EQ(plan->hold_back_days, 5);
  ASSERT_EQ(plan->layouts.size(), 2u);
  EXPECT_EQ(plan->layouts[0].second.libraries, std::vector<std::string>{"libtoy.so"});
  ASSERT_EQ(plan->tracks.size(), 1u);
  EXPECT_EQ(plan->tracks[0].newest, 2);
  ASSERT_EQ(plan->tracks[0].rows.size(), 1u);
  EXPECT_EQ(plan->tracks[0].rows[0].parts[0].version, "~=13.0");
  EXPECT_EQ(plan->models[0][2], "onnx");
}

TEST_F(PlanFile, HoldsBackThreeDaysUnlessSaid) {
  EXPECT_EQ(changed("\"hold_back_days\": 5,", "")->hold_back_days, 3);
}

struct Mistake {
  const char *before, *after, *member, *line, *nearest;
};

TEST_F(PlanFile, NamesLineAndNearestNameOfAMistake) {
  for (const Mistake& mistake : {
           Mistake{"\"hold_back_days\"", "\"hold_back_day\"", "hold_back_day", "2", "hold_back_days"},
           Mistake{"\"libraries\": [", "\"librarys\": [", "layouts.linux.librarys", "10", "libraries"},
           Mistake{"\"newest\": 2", "\"newest\": \"two\"", "tracks[0].newest", "15", ""},
           Mistake{"\"newest\": 2", "\"newest\": 101", "tracks[0].newest", "15", ""},
           Mistake{"\"layout\": \"maths\"", "\"layout\": \"math\"", "tracks[0].rows[0].parts[0].layout", "17",
                   "maths"},
           Mistake{"\"layout\": \"toy-plugin-linux-x86_64\"", "\"layout\": \"toy-plugin-linux-x86-64\"",
                   "tracks[0].rows[0].parts[1].layout", "17", "toy-plugin-linux-x86_64"},
           Mistake{"~=13.0", "metdata", "tracks[0].rows[0].parts[0].version", "17", "metadata"},
           Mistake{"toy-{version}-linux-x86_64\", \"flavor", "toy-{verion}-linux-x86_64\", \"flavor",
                   "tracks[0].rows[0].build.id", "18", "version"},
           Mistake{"\"id\": \"toy-{version}-linux-x86_64\"", "\"id\": \"toy\"", "tracks[0].rows[0].build.id",
                   "18", ""},
           Mistake{"\"newest\": 2", "\"newest_of\": \"minro\"", "tracks[0].newest_of", "15", "minor"},
           Mistake{">=1.0,<3", "1.0 and later", "tracks[0].versions", "15", ""},
           Mistake{"\"keep\": [\"1.0\"]", "\"keep\": [\"1.0\", \"newest\"]", "tracks[0].keep[1]", "15", ""},
           Mistake{"\"license\": \"toy\", \"select\": [\"toy/", "\"license\": \"toi\", \"select\": [\"toy/",
                   "layouts.linux.license", "9", "toy"},
           Mistake{"\"engine\": \"toy\", ", "", "engine", "1", ""},
       }) {
    const auto plan = changed(mistake.before, mistake.after);
    ASSERT_FALSE(plan) << mistake.after;
    EXPECT_EQ(plan.error().code, "EH-M18");
    EXPECT_EQ(plan.error().value(Key::member), mistake.member);
    EXPECT_EQ(plan.error().value(Key::line), mistake.line) << mistake.after;
    EXPECT_EQ(plan.error().value(Key::nearest), mistake.nearest) << mistake.after;
  }
}

TEST_F(PlanFile, NamesLineAndColumnOfBrokenJson) {
  const auto plan = changed("\"facts\": \"memory\",", "\"facts\" \"memory\",");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, "EH-M18");
  EXPECT_EQ(plan.error().value(Key::line), "2");
  EXPECT_FALSE(plan.error().value(Key::column).empty());
}

TEST_F(PlanFile, RefusesALayoutThatNobodyUses) {
  const auto plan = changed("{\"layout\": \"maths\", \"version\": \"~=13.0\"}, ", "");
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().value(Key::member), "layouts.maths");
}

TEST(VersionRange, FollowsPep440) {
  EXPECT_TRUE(in_range("13.2.1", "~=13.0"));
  EXPECT_FALSE(in_range("14.0", "~=13.0"));
  EXPECT_FALSE(in_range("13.0", "~=13.1"));
  EXPECT_TRUE(in_range("1.4.9", "==1.4.*"));
  EXPECT_FALSE(in_range("1.4.9", "!=1.4.*"));
  EXPECT_FALSE(in_range("1.5", "==1.4.*"));
  EXPECT_TRUE(in_range("2.0.0", "==2"));
  EXPECT_TRUE(in_range("1.18", " >=1.18 , <2"));
  EXPECT_FALSE(in_range("2.0", ">=1.18,<2"));
  EXPECT_FALSE(in_range("2.1", ">=1,!=2.1"));
  EXPECT_TRUE(is_range(">=1.18,<2"));
  EXPECT_FALSE(is_range("~=13"));
  EXPECT_FALSE(is_range("1.18"));
  EXPECT_FALSE(is_range(""));
}

}  // namespace
}  // namespace enginehost::follow
