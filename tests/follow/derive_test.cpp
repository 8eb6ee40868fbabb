// Rows from releases that are as the plan describes them, and refusals of those that are not.
#include "tests/follow/wheels.hpp"

#include "base/files.hpp"
#include "base/paths.hpp"
#include "tools/publish/workspace.hpp"

namespace enginehost::follow {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class CudaRow : public DeriveTest {
 protected:
  CudaRow() {
    row.cuda = "metadata";
    row.build.set("flavor", "cu{cuda_digits}").set("search", Json::array().push("nvidia/cu{cuda_major}/lib"));
    row.parts = {{"runtime", "metadata"}, {"extra", "metadata"}};
    plan.layouts.emplace_back("runtime", layout("nvidia-runtime"));
    plan.layouts.emplace_back("extra", layout("nvidia-extra"));
    publish("nvidia-runtime", "13.2.5",
            wheel_of({"nvidia-runtime", "13.2.5", {{"nvidia_runtime/libtoy.so.1", toy_library()}}, {}}));
    publish("nvidia-runtime", "13.3.0",
            wheel_of({"nvidia-runtime", "13.3.0", {{"nvidia_runtime/libtoy.so.1", toy_library()}}, {}}));
    for (const char* version : {"1.0", "1.5", "2.0"})
      publish("nvidia-extra", version,
              wheel_of({"nvidia-extra", version, {{"nvidia_extra/libextra.so", toy_library()}}, {}}));
    publish("cuda-toolkit", "13.2.1",
            wheel_of({"cuda-toolkit",
                      "13.2.1",
                      {},
                      {"nvidia-runtime==13.2.5.*; (sys_platform == 'linux' or sys_platform == 'win32') and "
                       "extra == 'cudart'",
                       "nvidia-other==1.0.*; extra == 'all'",
                       "nvidia-windows==1; sys_platform == 'win32' and extra == 'cudart'"}}));
  }
  void publish_toy(const std::vector<std::string>& more) {
    WheelText text = toy();
    text.requirements = {"filelock",
                         "numpy>=1; python_version < '3.12'",
                         "cuda-toolkit[cudart]==13.2.1; platform_system == \"Linux\"",
                         "nvidia-extra<2,>=1; platform_system == 'Linux'",
                         "nvidia-extra>9; platform_system == 'Windows'",
                         "nvidia-tools; extra == 'tools'"};
    text.requirements.insert(text.requirements.end(), more.begin(), more.end());
    publish("toy", "1.0", wheel_of(text));
  }
};

TEST_F(CudaRow, TakesVersionsOfPartsFromMetadata) {
  publish_toy({});
  const auto derived = derive();
  ASSERT_TRUE(derived) << derived.error().value(Key::problem);
  EXPECT_EQ(derived->build["flavor"].as_string(), "cu132");
  EXPECT_EQ(derived->build["search"].dump(), R"(["nvidia/cu13/lib"])");
  EXPECT_EQ(derived->build["components"].dump(),
            R"(["toy-1.0-linux","nvidia-runtime-13.2.5-linux","nvidia-extra-1.5-linux"])");
  EXPECT_EQ(derived->build["requires"]["cuda"]["toolkit"].as_string(), "13.2");
  EXPECT_EQ(derived->components["nvidia-extra-1.5-linux"]["version"].as_string(), "1.5");
  PackageIndex index(options, {});
  EXPECT_EQ(*read_toolkit({plan, index, options, folder / "scratch", {}, {}, {}}, row, "1.0"), "13.2");
}

TEST_F(CudaRow, ReportsAComponentThatThePlanDoesNotName) {
  publish_toy({"nvidia-new==3.0"});
  EXPECT_THAT(problem(), HasSubstr("it requires nvidia-new ==3.0"));
  plan.layouts.front().second.ignored = {"nvidia-new*"};
  EXPECT_TRUE(derive());
}

TEST_F(CudaRow, ReportsAConditionThatItCannotDecide) {
  publish_toy({"nvidia-new==3.0; python_version < '3.15'"});
  EXPECT_THAT(problem(), HasSubstr("python_version < '3.15'"));
}

TEST_F(CudaRow, ReportsAPartThatTheIndexDoesNotHave) {
  row.parts.push_back({"extra", ">=3"});
  publish_toy({});
  const auto derived = derive();
  ASSERT_FALSE(derived);
  EXPECT_EQ(derived.error().code, "EH-M19");
  EXPECT_THAT(std::string(derived.error().value(Key::problem)), HasSubstr("no release in the range >=3"));
}

TEST_F(DeriveTest, RemembersWhatItRead) {
  publish("toy", "1.0", wheel_of(toy()));
  const auto derived = derive();
  ASSERT_TRUE(derived) << derived.error().code << derived.error().value(Key::problem);
  EXPECT_EQ(derived->build["id"].as_string(), "toy-1.0-cpu");
  EXPECT_EQ(derived->build["version"].as_string(), "1.0");
  EXPECT_NE(derived->build["plugin"].find("component"), nullptr);
  const Json artifact = derived->components["toy-1.0-linux"]["artifacts"].as_array().front();
  EXPECT_EQ(artifact["files"].as_array().size(), 2u);
  EXPECT_EQ(artifact["files"].as_array().back()["sha256"].as_string(), sha256_hex(toy_library()));
  EXPECT_FALSE(fs::exists(folder / "scratch/files")) << "nothing is left of what was unpacked";
  const int before = server.requests("GET /files/");
  const auto again = derive();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->build.dump(), derived->build.dump());
  EXPECT_EQ(again->components.dump(), derived->components.dump());
  EXPECT_LE(server.requests("GET /files/") - before, 3) << "the directory, RECORD with METADATA, a license";
}

TEST_F(DeriveTest, FetchesOnlyTheSelectedFilesAndSaysSo) {
  WheelText text = toy();
  text.entries.push_back({"toy/large", test::noise(6'000'000, 7)});
  publish("toy", "1.0", wheel_of(text));
  PackageIndex index(options, {});
  const auto reader = wheel_reader(folder / "scratch", options, {});
  const auto derived = derive_row({plan, index, options, folder / "scratch", {}, {}, reader}, {}, row, "1.0");
  ASSERT_TRUE(derived) << derived.error().value(Key::problem);
  ASSERT_EQ(reader->archives().size(), 1u);
  EXPECT_FALSE(reader->archives().front().whole);
  EXPECT_LT(derived->fetched, 2'000'000u);
  EXPECT_EQ(reader->archives().front().fetched, derived->fetched);
  bool said = false;
  for (const Fact& fact : derived->facts) said = said || fact.source.find("the package index states it") == 0;
  EXPECT_TRUE(said);
  EXPECT_NE(test::read_text(plan.facts / (sha256_hex(wheel_of(text)) + ".json")).find("by_ranges"),
            std::string::npos);
}

TEST_F(DeriveTest, ReadsAnArchiveOnceForTwoSelections) {
  WheelText text = toy();
  text.entries.push_back({"toy/libsecond.so", toy_library()});
  publish("toy", "1.0", wheel_of(text));
  Layout part = layout("toy");
  part.component = "toy-part-{version}";
  part.select = {"toy/libtoy.so"};
  part.ignored = {"libsecond.so"};
  plan.layouts.emplace_back("part", part);
  ASSERT_TRUE(derive());
  row.layout = "part";
  progress = [](const transfer::Progress& now) {
    EXPECT_EQ(now.phase, transfer::Progress::Phase::done) << "nothing is fetched again: " << now.source;
  };
  const auto derived = derive();
  ASSERT_TRUE(derived) << derived.error().value(Key::problem);
  EXPECT_EQ(derived->components["toy-part-1.0"]["artifacts"].as_array().front()["files"].as_array().size(),
            1u);
}

TEST_F(DeriveTest, ReportsAnUnknownLayout) {
  WheelText text = toy();
  text.entries.push_back({"toy/libnew.so.2", "x"});
  publish("toy", "1.0", wheel_of(text));
  Layout& main = plan.layouts.front().second;
  main.select = {"toy/libtoy.so"};
  EXPECT_THAT(problem(), HasSubstr("the library toy/libnew.so.2 is new"));
  main.libraries = {"libtoy.so.{version}"};
  EXPECT_THAT(problem(), HasSubstr("libtoy.so.1.0 is not among the selected files"));
  main.select = {"lib/*"};
  EXPECT_THAT(problem(), HasSubstr("no file matches"));
  main.wheel = "toy-{version}-cp311-*.whl";
  EXPECT_THAT(problem(), HasSubstr("no file that matches toy-{version}-cp311-*.whl"));
  EXPECT_THAT(problem("2.0"), HasSubstr("no release in the range ==2.0"));
}

TEST_F(DeriveTest, ReportsAnotherSystem) {
  publish("toy", "1.0", wheel_of(toy()));
  row.arch = "riscv64";
  const auto derived = derive();
  ASSERT_FALSE(derived);
  EXPECT_THAT(std::string(derived.error().value(Key::problem)),
              HasSubstr("and the row is for linux riscv64"));
}

TEST_F(DeriveTest, StopsAtALicenseThatChanged) {
  publish("toy", "1.0", wheel_of(toy()));
  const std::string was = sha256_hex("the old terms"), is = sha256_hex("terms of toy");
  plan.licenses.set("toy", Json::object().set("id", "MIT").set("sha256", was));
  const auto derived = derive();
  ASSERT_FALSE(derived);
  EXPECT_EQ(derived.error().code, "EH-M19");
  EXPECT_EQ(derived.error().value(Key::expected), was);
  EXPECT_EQ(derived.error().value(Key::actual), is);
  EXPECT_EQ(derived.error().value(Key::license), "toy");
  plan.licenses.set("toy", Json::object().set("id", "MIT").set("sha256", is));
  EXPECT_TRUE(derive());
}

TEST_F(DeriveTest, ReportsAnotherDigestThanBefore) {
  publish("toy", "1.0", wheel_of(toy()));
  ASSERT_TRUE(derive());
  WheelText other = toy();
  other.entries.push_back({"toy/more", "x"});
  publish("toy", "1.0", wheel_of(other));
  const auto derived = derive();
  ASSERT_FALSE(derived);
  EXPECT_EQ(derived.error().code, "EH-M19");
  EXPECT_EQ(derived.error().value(Key::expected), sha256_hex(wheel_of(toy())));
  EXPECT_EQ(derived.error().value(Key::actual), sha256_hex(wheel_of(other)));
}

TEST_F(DeriveTest, GoesOnAfterAnInterruption) {
  const test::NginxServer slow("limit_rate 2m;");
  WheelText text = toy();
  text.entries = {{"toy/libtoy.so", toy_library() + test::noise(6'000'000, 3), 0755}};
  const std::string wheel = wheel_of(text);
  publish("toy", "1.0", wheel, Json::object().set("url", slow.url("toy.whl")));
  test::write_text(slow.root() / "toy.whl", wheel);
  cancel.emplace();
  progress = [this](const transfer::Progress& now) {
    if (now.phase == transfer::Progress::Phase::downloading && now.done > 2'000'000) cancel->cancel();
  };
  const auto stopped = derive();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, "EH-P10");
  cancel.reset();
  progress = {};
  const auto derived = derive();
  ASSERT_TRUE(derived) << derived.error().code;
  EXPECT_LT(derived->fetched, 5'000'000u) << "what had arrived was not fetched again";
}

TEST_F(DeriveTest, AMemoryThatCannotBeWrittenLeavesNoScratch) {
  WheelText text = toy();
  publish("toy", "1.0", wheel_of(text));
  const fs::path facts = plan.facts;
  test::write_text(facts, "no folder");
  const auto derived = derive();
  ASSERT_FALSE(derived);
  EXPECT_TRUE(std::string(derived.error().code_text()).starts_with("EH-F1"))
      << std::string(derived.error().code_text());
  EXPECT_FALSE(fs::exists(folder / "scratch/files"));
  fs::remove(facts);
  EXPECT_TRUE(derive());
}

}  // namespace
}  // namespace enginehost::follow
