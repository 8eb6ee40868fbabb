// Published builds for GPUs over a fake driver whose devices are listed and fail at work: 1.7 to 3.4 GiB
// each, kept in downloads/gpu-builds of the build folder. "skipped" where the package index cannot be
// reached.
#include <gmock/gmock.h>

#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Published {
  const char *engine, *version, *flavor, *cuda;
  const char* step;  // of the fake driver: where the engine meets the error first
};

class PublishedGpuBuild : public testing::TestWithParam<Published> {
 protected:
  PublishedGpuBuild() {
    write_text(workplace.folder() / "driver" / "libcuda.so.1", read_text(ENGINEHOST_FAKE_CUDA));
  }

  // `error`: the result of every call that needs a device.
  RunOptions with_driver(const std::string& error) const {
    RunOptions options;
    options.deadline = std::chrono::minutes(15);
    options.environment = {"LD_LIBRARY_PATH=" + (workplace.folder() / "driver").native(),
                           std::string("FAKE_CU_VERSION=") + GetParam().cuda, "FAKE_GPUS=A card;8.6;a0;24000",
                           "FAKE_CU_WORK=*:" + std::string(GetParam().step) + "=" + error};
    return options;
  }
  Ended open(const std::string& error, std::vector<std::string> flags) const {
    std::vector<std::string> all = {std::string(GetParam().engine) + "@" + GetParam().version,
                                    "--repository",
                                    repository,
                                    "--cache",
                                    build_path("/downloads/gpu-builds"),
                                    "--json"};
    for (const char* license : {"CUDA-EULA", "cuDNN-SLA", "cuSPARSELt-SLA"})
      all.insert(all.end(), {"--accept-license", std::string("LicenseRef-NVIDIA-") + license});
    all.insert(all.end(), flags.begin(), flags.end());
    return workplace.info(std::move(all), with_driver(error));
  }
  // Under the same driver: elsewhere the records do not apply and are none to clear.
  void forget() const {
    const Ended cleared = workplace.run(
        "engine-cache", {"quarantine", "clear", "--all", "--cache", build_path("/downloads/gpu-builds")},
        with_driver("0"));
    EXPECT_EQ(cleared.status, 0) << cleared.said();
  }

  Workplace workplace;
};

// Each engine passes CUDA's error on in its own words.
TEST_P(PublishedGpuBuild, WithoutAGpuThatWorksIsNotWhatWasAsked) {
  const std::string flavor = GetParam().flavor;
  struct Error {
    const char *number, *code, *name;
  };
  for (const Error& error :
       {Error{"999", "EH-G13", "CUDA_ERROR_UNKNOWN"}, Error{"46", "EH-G12", "CUDA_ERROR_DEVICE_UNAVAILABLE"},
        Error{"2", "EH-G12", "CUDA_ERROR_OUT_OF_MEMORY"}}) {
    forget();
    const Ended required = open(error.number, {"--require", flavor});
    if (required.status == 4) GTEST_SKIP() << "skipped: " << required.code();
    EXPECT_EQ(required.status, 6) << required.said();
    EXPECT_EQ(required.code(), error.code) << required.said();
    EXPECT_THAT(required.diagnosis().dump(), AllOf(HasSubstr("cuda:0"), HasSubstr(error.name)));
    EXPECT_NE(open(error.number, {"--flavor", flavor, "--device", "gpu"}).status, 0);

    // Offline nothing else can be fetched: the processor is the last resort.
    const Ended alone = open(error.number, {"--flavor", flavor, "--offline"});
    EXPECT_EQ(alone.status, 0) << alone.said();
    EXPECT_TRUE(alone.outcome()["fallback"].as_bool()) << alone.said();
    for (const Json& device : alone.outcome()["devices"].as_array())
      EXPECT_EQ(device["device"].as_string(), "cpu:0") << alone.said();
  }
  forget();
}
INSTANTIATE_TEST_SUITE_P(, PublishedGpuBuild,
                         testing::Values(Published{"onnxruntime", "1.24.4", "cu128", "12080", "runtime"},
                                         Published{"pytorch", "2.9.1", "cu128", "12080", "runtime"},
                                         Published{"tensorflow", "2.21.0", "cu125", "12080", "context"}),
                         [](const auto& instance) { return std::string(instance.param.engine); });

}  // namespace
}  // namespace enginehost::test
