// Words of a request in the wrong place, and versions that nobody has.
#include <gmock/gmock.h>

#include "tests/resolve/toy.hpp"

namespace enginehost::resolve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string versioned(const std::string& version, const std::string& flavor, const std::string& requires_) {
  std::string text = toy_build(flavor, requires_);
  text.replace(text.find("1.0-"), 3, version);
  text.replace(text.find(R"("version":"1.0")"), 15, R"("version":")" + version + "\"");
  return text;
}

const Platform with_cuda = with_gpus(ubuntu22, "580.65.06", "13.0", {{"RTX 4090", "8.9"}});
const std::string any_cuda = R"({"cuda":{"toolkit":"12.6","sass":["8.0"],"ptx":[]}})";
const std::string builds = versioned("2.0.1", "cpu", "{}") + "," + versioned("2.0.0", "cpu", "{}") + "," +
                           versioned("1.9.3", "cpu", "{}") + "," + versioned("1.8.0", "cpu", "{}") + "," +
                           versioned("2.1.0", "cu126", any_cuda) + "," +
                           versioned("1.8.2", "cu128", any_cuda) + "," + versioned("3.0.0", "webgpu", "{}");

Plan plan_of(const Request& request, const Platform& machine = ubuntu22) {
  return decide(machine, toy_catalog(builds), {}, request, now);
}

Request of_flavor(const std::string& flavor, bool require) {
  Request request;
  request.engine = "toy";
  request.flavor = flavor;
  request.require = require;
  if (require) request.flavor_source = "--require";
  return request;
}

std::string said(const std::optional<Diagnosis>& diagnosis) {
  return diagnosis ? explain::describe(*diagnosis) : "nothing is said";
}

TEST(MisplacedTest, ARequiredFlavorThatIsSomethingElseIsNamedAsThat) {
  const struct {
    std::string flavor, cause, remedy;
  } cases[] = {
      {"1.32.0", "1.32.0 is a version, and no flavor of toy: toy@1.32.0", "engine-info toy@1.32.0"},
      {"2.0.1", "2.0.1 is a version, and no flavor of toy: toy@2.0.1", "engine-info toy@2.0.1"},
      {"13.0", "13.0 is a version, and no flavor of toy", "engine-info toy@13.0"},  // no build has cu130
      {"12.6", "12.6 is a version of CUDA; its flavor of toy is cu126", "--flavor cu126"},
      {"cuda12.8", "cuda12.8 is a version of CUDA; its flavor of toy is cu128", "--flavor cu128"},
      {"CUDA 12", "CUDA 12 is a version of CUDA; its flavor of toy is cu128", "--flavor cu128"},
      {"cu12.6", "cu12.6 is a version of CUDA; its flavor of toy is cu126", "--flavor cu126"},
      {"cuda", "cuda is a device, and no flavor of toy", "--device cuda"},
      {"cuda:1", "cuda:1 is a device, and no flavor of toy", "--device cuda:1"},
      {"gpu", "gpu is a device, and no flavor of toy", "--device gpu"},
      {"cu118", "no build of toy has the flavor cu118; did you mean cu128?",
       "leave the flavor out (--require)"},
      {"avx512",
       "no build of toy has the flavor avx512; flavors for this system are cpu, cu126, cu128, webgpu",
       "leave the flavor out (--require)"},
  };
  for (const auto& one : cases) {
    const Plan plan = plan_of(of_flavor(one.flavor, true), with_cuda);
    EXPECT_EQ(plan.diagnosis ? std::string(plan.diagnosis->code_text()) : "", "EH-S28") << one.flavor;
    EXPECT_THAT(said(plan.diagnosis), testing::AllOf(HasSubstr(one.cause), HasSubstr(one.remedy)));
    EXPECT_FALSE(plan.misplaced_flavor) << one.flavor << ": it is the failure already";
  }
}

TEST(MisplacedTest, APreferredFlavorIsWarnedOfOnlyIfItIsSomethingElse) {
  for (const char* flavor : {"1.32.0", "12.6", "cuda"}) {
    const Plan plan = plan_of(of_flavor(flavor, false));
    EXPECT_FALSE(plan.diagnosis) << flavor;
    ASSERT_TRUE(plan.misplaced_flavor) << flavor;
    EXPECT_EQ(plan.misplaced_flavor->code, "EH-S28");
  }
  // The configuration may name a flavor for all engines, and not every engine has it.
  for (const char* flavor : {"cu118", "avx512", "cpu", "cu126"})
    EXPECT_FALSE(plan_of(of_flavor(flavor, false)).misplaced_flavor) << flavor;
}

TEST(MisplacedTest, AFlavorThatOnlyAnotherSystemHasIsNoMistake) {
  std::string mac = versioned("2.0.0", "mps", "{}");
  mac.replace(mac.find("linux"), 5, "macos");
  const Plan plan = decide(ubuntu22, toy_catalog(builds + "," + mac), {}, of_flavor("mps", true), now);
  ASSERT_TRUE(plan.diagnosis);
  EXPECT_EQ(plan.diagnosis->code, "EH-S01");
}

TEST(MisplacedTest, AFlavorThatIsNamedAsADeviceIsSaid) {
  Request request = of_flavor("", false);
  request.device = "cu126";
  request.device_source = "--device";
  EXPECT_THAT(said(plan_of(request).diagnosis),
              testing::AllOf(HasSubstr("EH-S29  cu126 is a flavor of toy, and no device"),
                             HasSubstr("--flavor cu126"), HasSubstr("leave the device out (--device)")));
  request.device = "cpu";
  EXPECT_FALSE(plan_of(request).diagnosis) << "cpu is both";
  request.device = "cu118";
  ASSERT_TRUE(plan_of(request).diagnosis);
  EXPECT_EQ(plan_of(request).diagnosis->code, "EH-S01");
}

TEST(UnknownVersionTest, OfEachMinorReleaseTheNewestIsNamed) {
  Request request = of_flavor("", false);
  request.version = "2.7";
  EXPECT_THAT(plan_of(request).diagnosis->values(Key::version_here), ElementsAre("2.0.1", "1.9.3", "1.8.0"));
  EXPECT_THAT(plan_of(request, with_cuda).diagnosis->values(Key::version_here),
              ElementsAre("2.1.0", "2.0.1", "1.9.3", "1.8.2"));
}

TEST(UnknownVersionTest, TheNearestIsOneOfTheRequestedFlavor) {
  Request request = of_flavor("cpu", true);
  const auto nearest_to = [&](const std::string& version) {
    request.version = version;
    const auto diagnosis = plan_of(request, with_cuda).diagnosis;
    return std::string(diagnosis ? diagnosis->value(Key::nearest_version) : "");
  };
  EXPECT_EQ(nearest_to("2.1.9"), "2.0.1") << "2.1.0 is of another flavor";
  EXPECT_EQ(nearest_to("2.1.0"), "2.0.1") << "other flavors have the version";
  EXPECT_EQ(nearest_to("3"), "2.0.1");
  EXPECT_EQ(nearest_to("1.8.2"), "1.8.0");
  request.version = "2.1";
  EXPECT_THAT(
      said(plan_of(request, with_cuda).diagnosis),
      HasSubstr("no build of toy for this system with flavor cpu has version 2.1; its versions that fit "
                "here are 2.0.1, 1.9.3, 1.8.0"));
  // On a machine where nothing of the flavor fits, it is still the flavor's own.
  request = of_flavor("cu128", true);
  request.version = "2.1.0";
  EXPECT_EQ(plan_of(request).diagnosis->value(Key::nearest_version), "1.8.2");
  // A build that has to be requested is no suggestion, and its row comes last.
  request = of_flavor("", false);
  request.version = "3.1";
  const Plan plan = plan_of(request);
  EXPECT_EQ(plan.diagnosis->value(Key::nearest_version), "2.0.1");
  EXPECT_EQ(plan.candidates.back().build->flavor, "webgpu");
}

TEST(UnknownVersionTest, TheIndexIsNamedIfSomebodyAskedIt) {
  Request request = of_flavor("", false);
  request.version = "2.7";
  Diagnosis diagnosis = *plan_of(request).diagnosis;
  EXPECT_THAT(said(diagnosis), testing::Not(HasSubstr("package index")));
  diagnosis.with(Key::index_version, "2.7.3", "package index")
      .with(Key::from_index, "engine-info toy@2.7 --flag");
  EXPECT_THAT(said(diagnosis), HasSubstr("2.7.3 is on the package index, and no repository lists it: "
                                         "engine-info toy@2.7 --flag"));
}

}  // namespace
}  // namespace enginehost::resolve
