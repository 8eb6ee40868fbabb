// A build for GPUs whose GPUs do not work. The engine is a small plugin over the driver alone, and the driver
// is fake: each step of its work can fail.
#include <gmock/gmock.h>

#include "tests/end-to-end/fault.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

namespace fs = std::filesystem;

constexpr const char *gpu_build = "reference-cu124", *cpu_build = "reference-good";

class GpuWork : public testing::Test {
 protected:
  GpuWork() : repository(workplace.folder() / "repository") {
    write_text(workplace.folder() / "driver" / "libcuda.so.1", read_text(ENGINEHOST_FAKE_CUDA));
    TestBuild build = good_build(gpu_build);
    build.files = {{build.plugin, read_text(ENGINEHOST_DRIVER_PLUGIN)}};
    build.flavor = "cu124";
    build.requirements = Json::object().set("cuda", Json::object()
                                                        .set("toolkit", "12.4")
                                                        .set("sass", Json::strings({"8.0", "8.6"}))
                                                        .set("ptx", Json::array()));
    repository.add(build);
    repository.write();
    // Every hang takes that long.
    workplace.configure(Json::object().set("repositories_default", false).set("probe_deadline_seconds", 2));
  }

  void with_cpu_build() {
    repository.add(good_build(cpu_build));
    repository.write();
  }

  // `work`: FAKE_CU_WORK.
  Ended open(const std::string& work, std::vector<std::string> flags = {},
             const std::vector<std::string>& variables = {}) const {
    RunOptions options;
    options.environment = {"LD_LIBRARY_PATH=" + (workplace.folder() / "driver").native(),
                           "FAKE_CU_VERSION=12040",
                           "FAKE_GPUS=First card;8.6;a0;8192|Second card;8.6;a1;8192", "FAKE_CU_WORK=" + work,
                           "FAKE_CU_COUNT=" + counter().native()};
    options.environment.insert(options.environment.end(), variables.begin(), variables.end());
    std::vector<std::string> all = {"reference", "--repository", repository.root().native(), "--json"};
    all.insert(all.end(), flags.begin(), flags.end());
    return workplace.info(std::move(all), options);
  }
  fs::path counter() const { return workplace.folder() / "contexts"; }
  // Whether a context was made since the last call.
  bool was_probed() const {
    const bool made = fs::exists(counter());
    fs::remove(counter());
    return made;
  }
  std::vector<std::string> records() const {
    std::vector<std::string> ids;
    const Ended list = workplace.run("engine-cache", {"quarantine", "list", "--json"});
    for (const Json& record : list.document["records"].as_array()) ids.push_back(record["build"].as_string());
    return ids;
  }
  std::vector<std::string> installed() const {
    std::vector<std::string> ids;
    const Ended list = workplace.run("engine-cache", {"list", "--json"});
    for (const Json& build : list.document["builds"].as_array()) ids.push_back(build["build"].as_string());
    return ids;
  }
  static std::vector<std::string> devices(const Ended& run) {
    std::vector<std::string> names;
    for (const Json& device : run.outcome()["devices"].as_array())
      names.push_back(device["device"].as_string());
    return names;
  }
  static std::string warnings(const Ended& run) { return run.document["warnings"].dump(); }

  Workplace workplace;
  TestRepository repository;
};

struct Step {
  const char *work, *code, *said;
};
const Step lasting[] = {
    {"*:context=999", "EH-G13", "CUDA reports CUDA_ERROR_UNKNOWN"},
    {"*:context=201", "EH-G23", "CUDA_ERROR_INVALID_CONTEXT"},
    {"*:context=3", "EH-G23", "CUDA_ERROR_NOT_INITIALIZED"},
    {"*:memory=719", "EH-G23", "CUDA_ERROR_LAUNCH_FAILED"},
    {"*:kernel=209", "EH-G05", "no code"},
    {"*:kernel=700", "EH-G23", "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {"*:result=wrong", "EH-G23", "the result is wrong"},
    {"*:kernel=crash", "EH-G23", "SIGABRT"},
    {"*:context=hang", "EH-G23", "did not end within 2 s"},
};

class GpuStep : public GpuWork, public testing::WithParamInterface<Step> {};

TEST_P(GpuStep, G23AFailureLeadsToTheNextBuildAndIsKept) {
  const Step& step = GetParam();
  with_cpu_build();
  const Ended first = open(step.work);
  EXPECT_EQ(first.status, 0) << first.said();
  EXPECT_EQ(first.outcome()["build"].as_string(), cpu_build) << first.said();
  EXPECT_TRUE(first.outcome()["fallback"].as_bool());
  EXPECT_EQ(first.candidate(gpu_build)["verdict"].as_string(), "failed");
  const Json& why = first.candidate(gpu_build)["diagnosis"];
  EXPECT_EQ(why["code"].as_string(), step.code) << why.dump(2);
  EXPECT_THAT(why.dump(), HasSubstr(step.said));
  EXPECT_EQ(evidence(why, "device"), "cuda:0");

  EXPECT_TRUE(was_probed());
  const Ended second = open(step.work);
  EXPECT_FALSE(was_probed()) << "a failure that lasts is paid for once";
  EXPECT_TRUE(second.outcome()["fallback"].as_bool());
  EXPECT_EQ(evidence(second.candidate(gpu_build)["diagnosis"], "first_code"), step.code) << second.said();
  for (const std::vector<std::string>& wish : std::vector<std::vector<std::string>>{
           {"--require", "cu124"}, {"--device", "gpu"}, {"--device", "cuda:0"}}) {
    const Ended refused = open(step.work, wish);
    EXPECT_NE(refused.status, 0) << wish.front() << refused.said();
    EXPECT_EQ(refused.outcome()["state"].as_string(), "failed");
  }
}

TEST_P(GpuStep, G25TheOnlyBuildOpensOnTheProcessorAndSaysSo) {
  const Step& step = GetParam();
  for (int count = 0; count < 2; ++count) {
    const Ended run = open(step.work);
    EXPECT_EQ(run.status, 0) << run.said();
    EXPECT_EQ(run.outcome()["build"].as_string(), gpu_build);
    EXPECT_TRUE(run.outcome()["fallback"].as_bool()) << run.said();
    EXPECT_THAT(devices(run), ElementsAre("cpu:0"));
    EXPECT_THAT(warnings(run), AllOf(HasSubstr("EH-G25"), HasSubstr("cuda:0"), HasSubstr(step.code)));
    EXPECT_EQ(was_probed(), count == 0);
  }
  for (const std::vector<std::string>& wish : std::vector<std::vector<std::string>>{
           {"--require", "cu124"}, {"--device", "gpu"}, {"--device", "cuda:1"}}) {
    const Ended refused = open(step.work, wish);
    EXPECT_NE(refused.status, 0) << wish.front() << refused.said();
  }
  // The processor is what this request asks for.
  const Ended processor = open(step.work, {"--device", "cpu"});
  EXPECT_EQ(processor.status, 0) << processor.said();
  EXPECT_THAT(warnings(processor), Not(HasSubstr("EH-G25"))) << processor.said();
}

TEST_P(GpuStep, AnswersARequirementWithTheDevicesOwnReason) {
  const Ended refused = open(GetParam().work, {"--require", "cu124"});
  EXPECT_EQ(refused.status, 6) << refused.said();
  EXPECT_EQ(refused.code(), GetParam().code) << refused.said();
  EXPECT_THAT(refused.diagnosis().dump(), HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(, GpuStep, testing::ValuesIn(lasting), [](const auto& instance) {
  std::string name = instance.param.work + 2;
  for (char& one : name)
    if (one == '=') one = '_';
  return name;
});

// The device is another process's for now: its memory is used up, or it is in exclusive mode.
TEST_F(GpuWork, G12AFailureOfTheMomentIsNotKeptAndFetchesNothing) {
  with_cpu_build();
  for (const char* work : {"*:memory=2", "*:context=2", "*:context=46"}) {
    const Ended busy = open(work);
    EXPECT_EQ(busy.status, 0) << busy.said();
    EXPECT_EQ(busy.outcome()["build"].as_string(), gpu_build) << "the other build would have to be fetched";
    EXPECT_TRUE(busy.outcome()["fallback"].as_bool()) << busy.said();
    EXPECT_THAT(devices(busy), ElementsAre("cpu:0"));
    EXPECT_THAT(warnings(busy), AllOf(HasSubstr("EH-G25"), HasSubstr("EH-G12"), HasSubstr("CUDA_ERROR_")));
    EXPECT_THAT(installed(), ElementsAre(gpu_build)) << work;
    EXPECT_THAT(records(), IsEmpty()) << work;
    const Ended required = open(work, {"--device", "gpu"});
    EXPECT_EQ(required.status, 6) << required.said();
    EXPECT_EQ(required.code(), "EH-G12");
  }
  EXPECT_TRUE(was_probed());
  const Ended free = open("");
  EXPECT_TRUE(was_probed()) << "no proof was kept";
  EXPECT_FALSE(free.outcome()["fallback"].as_bool()) << free.said();
  EXPECT_THAT(devices(free), ElementsAre("cpu:0", "cuda:0", "cuda:1"));
}

TEST_F(GpuWork, G12AnInstalledBuildOpensWhileTheGpuIsBusy) {
  with_cpu_build();
  ASSERT_EQ(open("", {"--flavor", "cpu"}).status, 0);
  const Ended busy = open("*:context=46");
  EXPECT_EQ(busy.outcome()["build"].as_string(), cpu_build) << busy.said();
  EXPECT_TRUE(busy.outcome()["fallback"].as_bool());
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(GpuWork, AGoodCardServesBesideABadOneThatIsNamed) {
  with_cpu_build();
  for (const char* how : {"kernel=719", "result=wrong", "context=hang", "kernel=crash"}) {
    fs::remove_all(workplace.cache());
    const std::string work = std::string("0:") + how;
    const Ended run = open(work);
    EXPECT_EQ(run.outcome()["build"].as_string(), gpu_build) << run.said();
    EXPECT_FALSE(run.outcome()["fallback"].as_bool());
    EXPECT_THAT(devices(run), ElementsAre("cpu:0", "cuda:1")) << how;
    EXPECT_THAT(warnings(run), AllOf(HasSubstr("EH-G23"), HasSubstr("cuda:0"))) << how;
    const Ended other = open(work, {"--device", "cuda:0"});
    EXPECT_EQ(other.status, 6) << other.said();
    EXPECT_EQ(other.code(), "EH-G23") << other.said();
    const Ended again = open(work, {"--device", "gpu"});
    EXPECT_EQ(again.outcome()["build"].as_string(), gpu_build) << again.said();
    EXPECT_THAT(warnings(again), HasSubstr("EH-G23")) << "every open names it";
    EXPECT_THAT(records(), IsEmpty()) << "the other card is good";
  }
}

TEST_F(GpuWork, ABusyCardBesideAGoodOneIsNotKept) {
  const Ended busy = open("0:context=46");
  EXPECT_THAT(devices(busy), ElementsAre("cpu:0", "cuda:1")) << busy.said();
  EXPECT_THAT(warnings(busy), HasSubstr("EH-G12"));
  EXPECT_THAT(devices(open("")), ElementsAre("cpu:0", "cuda:0", "cuda:1"));
}

// Engines that ask CUDA's runtime list no device if it fails, and say why only when one is used.
TEST_F(GpuWork, G16AnEngineThatListsNoGpuIsAskedWhy) {
  with_cpu_build();
  const Ended silent = open("", {}, {"DRIVER_PLUGIN=processor"});
  EXPECT_EQ(silent.outcome()["build"].as_string(), cpu_build) << silent.said();
  EXPECT_EQ(silent.candidate(gpu_build)["diagnosis"]["code"].as_string(), "EH-G16") << silent.said();
  fs::remove_all(workplace.cache());
  const Ended run = open("*:context=999", {}, {"DRIVER_PLUGIN=works"});
  EXPECT_EQ(run.outcome()["build"].as_string(), cpu_build) << run.said();
  EXPECT_EQ(run.candidate(gpu_build)["diagnosis"]["code"].as_string(), "EH-G13") << run.said();
  EXPECT_NE(open("*:context=999", {"--require", "cu124"}, {"DRIVER_PLUGIN=works"}).status, 0);
}

TEST_F(GpuWork, G24FewerGpusThanTheDriverOffersAreAWarning) {
  for (int count = 0; count < 2; ++count) {
    const Ended run = open("", {}, {"DRIVER_PLUGIN=first"});
    EXPECT_EQ(run.outcome()["build"].as_string(), gpu_build) << run.said();
    EXPECT_FALSE(run.outcome()["fallback"].as_bool());
    EXPECT_THAT(warnings(run), AllOf(HasSubstr("EH-G24"), HasSubstr("2 GPUs")));
  }
}

// A proof is one of the devices that were visible.
TEST_F(GpuWork, OtherVisibleDevicesAreTestedAgain) {
  ASSERT_EQ(open("").status, 0);
  const Ended proven = open("");
  EXPECT_TRUE(proven.outcome()["timings_ms"]["probe"].is_null()) << proven.said();
  const Ended visible = open("", {}, {"CUDA_VISIBLE_DEVICES=1"});
  EXPECT_FALSE(visible.outcome()["timings_ms"]["probe"].is_null()) << visible.said();
  EXPECT_THAT(devices(visible), ElementsAre("cpu:0", "cuda:0"));
  const Ended another = open("1:kernel=719", {}, {"CUDA_VISIBLE_DEVICES=0,1"});
  EXPECT_THAT(devices(another), ElementsAre("cpu:0", "cuda:0")) << another.said();
}

// A proof for the processor says nothing of the GPU.
TEST_F(GpuWork, AProofForTheProcessorDoesNotCoverTheGpu) {
  with_cpu_build();
  const Ended processor = open("*:kernel=719", {"--device", "cpu", "--require", "cu124"});
  EXPECT_EQ(processor.outcome()["build"].as_string(), gpu_build) << processor.said();
  EXPECT_THAT(records(), IsEmpty()) << "nobody asked for the GPU";
  EXPECT_EQ(open("*:kernel=719").outcome()["build"].as_string(), cpu_build);
}

// Without any sign a card falls off the bus after it was proven.
TEST_F(GpuWork, G16AGpuThatIsGoneIsMissedByAProvenBuild) {
  with_cpu_build();
  const fs::path there = workplace.folder() / "card";
  write_text(there, "");
  const std::vector<std::string> environment = {"DRIVER_PLUGIN=gone", "DRIVER_FILE=" + there.native()};
  ASSERT_EQ(open("", {}, environment).outcome()["build"].as_string(), gpu_build);
  fs::remove(there);
  const Ended gone = open("", {}, environment);
  EXPECT_EQ(gone.outcome()["build"].as_string(), cpu_build) << gone.said();
  EXPECT_TRUE(gone.outcome()["fallback"].as_bool());
  EXPECT_EQ(gone.candidate(gpu_build)["diagnosis"]["code"].as_string(), "EH-G16") << gone.said();
}

// As after a fork, or in a program that hides the devices from itself.
TEST_F(GpuWork, G16AGpuThatOnlyThisProcessLacksIsNotKept) {
  with_cpu_build();
  const Ended here = open("", {}, {"DRIVER_PLUGIN=here"});
  EXPECT_EQ(here.outcome()["build"].as_string(), cpu_build) << here.said();
  EXPECT_THAT(here.candidate(gpu_build)["diagnosis"].dump(), HasSubstr("in the probe it had cuda:0, cuda:1"));
  EXPECT_THAT(records(), Not(Contains(gpu_build)));
}

}  // namespace
}  // namespace enginehost::test
