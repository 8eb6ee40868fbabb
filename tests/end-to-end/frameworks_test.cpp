// TensorFlow and MXNet from the package index to an answer: fetched, opened, a model's answer compared, and
// the published builds decided for every recorded machine.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <functional>

#include "tests/end-to-end/arrays.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/engines/mxnet_models.hpp"
#include "tests/engines/saved_models.hpp"

namespace enginehost::test {
namespace {

using testing::HasSubstr;
namespace models = enginehost::engines::tests;

std::vector<std::string> from_here(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--repository", repository});
  return arguments;
}

// Opens the engine with its self-test and runs the model on the rows [1,2,3] and [-1,0,0]. Their answers were
// computed by hand where the model is written.
void open_and_run(const std::string& engine, const std::string& version,
                  const std::function<std::string(const std::string&)>& write_model, const std::string& input,
                  const std::string& output) {
  const Workplace workplace;
  RunOptions patient;
  patient.deadline = std::chrono::minutes(14);
  const Ended opened = workplace.info(from_here({engine, "--json", "--self-test"}), patient);
  if (opened.status == 4) GTEST_SKIP() << "skipped: the package index cannot be reached: " << opened.code();
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["state"].as_string(), "opened");
  EXPECT_EQ(opened.outcome()["facts"]["version"].as_string(), version) << opened.said();
  EXPECT_THAT(opened.said(),
              testing::Not(HasSubstr("EH-R08")));  // the host's signals and modes are as before
  const std::string folder = workplace.folder().string() + "/work", array = folder + "/rows.npy";
  const std::string model = write_model(folder);
  write_array(array, "(2, 3)", {1, 2, 3, -1, 0, 0});
  const Ended ran = workplace.run(
      "engine-run", from_here({engine, model, "--input", input + "=" + array, "--output", folder}), patient);
  ASSERT_EQ(ran.status, 0) << ran.said();
  EXPECT_THAT(ran.output, HasSubstr("float32[2, 2]"));
  EXPECT_THAT(read_array(folder + "/" + output + ".npy"), testing::ElementsAre(12, 28.5f, 0, 0));
}

TEST(MxnetEngine, OpensThePublishedWheelAndRunsANetwork) {
  open_and_run(
      "mxnet", "1.9.1", [](const std::string& folder) { return models::mxnet::write_layer(folder); }, "data",
      "relu_output");
}

TEST(OnnxRuntimeUpdates, OfPublishedWheelsAreFetchedOnRequest) {
  const Workplace workplace;
  const std::string shipped = build_path("/share/enginehost/repository");
  const auto open = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--device", "cpu", "--repository", shipped, "--json"});
    return workplace.info(std::move(arguments));
  };
  const Ended older = open({"onnxruntime@1.24.4"});
  if (older.status == 4) GTEST_SKIP() << "skipped: " << older.said();
  ASSERT_EQ(older.status, 0) << older.said();
  const std::string installed = older.outcome()["build"].as_string();
  EXPECT_THAT(installed, testing::StartsWith("onnxruntime-1.24.4-cpu"));
  const Ended stays = open({"onnxruntime"});
  EXPECT_EQ(stays.outcome()["build"].as_string(), installed) << stays.said();
  EXPECT_EQ(stays.outcome()["download"]["bytes"].as_integer(), 0);
  const std::string newer = stays.outcome()["update"]["build"].as_string();
  EXPECT_THAT(newer, testing::StartsWith("onnxruntime-1.32")) << stays.said();
  const Ended updated = open({"onnxruntime", "--update", "open"});
  EXPECT_EQ(updated.outcome()["build"].as_string(), newer) << updated.said();
  EXPECT_EQ(open({"onnxruntime"}).outcome()["build"].as_string(), newer);
  EXPECT_EQ(open({"onnxruntime@1.24"}).outcome()["build"].as_string(), installed);
}

void open_tensorflow(const std::string& version) {
  open_and_run(
      "tensorflow@" + version, version,
      [](const std::string& folder) {
        models::tensorflow::layer().write(folder + "/model");
        return folder + "/model";
      },
      "x", "y");
}

TEST(TensorFlowEngine, OpensThePublishedWheelAndRunsASavedModel) { open_tensorflow("2.21.0"); }

TEST(TensorFlowEngine, OpensTheWheelForOlderMachines) { open_tensorflow("2.12.1"); }

TEST(TensorFlowEngine, OpensTheLastWheelWithTheInterfaceInPythonsModule) {
  void* python = dlopen("libpython3.11.so.1.0", RTLD_LAZY | RTLD_LOCAL);
  if (python == nullptr) GTEST_SKIP() << "skipped: " << dlerror();
  dlclose(python);
  open_tensorflow("2.10.1");
}

// The code of the first check that refuses the build; "" where it fits, "other" where it is for another
// system.
struct Decision {
  const char* machine;
  const char *tensorflow_cu125, *tensorflow_cu112, *mxnet_cu112, *mxnet_cu102, *cpu;
  const char* mxnet_cpu = cpu;
};

class FrameworkDecisions : public testing::TestWithParam<Decision> {};

TEST_P(FrameworkDecisions, MatchTheTableOfPublishedBuilds) {
  const Workplace workplace;
  const std::string machine = profiles + GetParam().machine + ".json";
  auto code = [&](const std::string& engine, const std::string& build) {
    const Ended planned = workplace.info(from_here({engine, "--json", "--plan", "--platform", machine}));
    const Json& candidate = planned.candidate(build);
    EXPECT_FALSE(candidate.is_null()) << build << "\n" << planned.said();
    const std::string found = candidate["diagnosis"]["code"].as_string();
    return found.empty() && candidate["verdict"].as_string() == "rejected" ? "other" : found;
  };
  EXPECT_EQ(code("tensorflow", "tensorflow-2.21.0-cu125-linux-x86_64"), GetParam().tensorflow_cu125);
  EXPECT_EQ(code("tensorflow", "tensorflow-2.10.1-cu112-linux-x86_64"), GetParam().tensorflow_cu112);
  EXPECT_EQ(code("mxnet", "mxnet-1.9.1-cu112-linux-x86_64"), GetParam().mxnet_cu112);
  EXPECT_EQ(code("mxnet", "mxnet-1.9.1-cu102-linux-x86_64"), GetParam().mxnet_cu102);
  EXPECT_EQ(code("tensorflow", "tensorflow-2.21.0-cpu-linux-x86_64"), GetParam().cpu);
  EXPECT_EQ(code("mxnet", "mxnet-1.9.1-cpu-linux-x86_64"), GetParam().mxnet_cpu);
}

// The GPU first, then the driver: CUDA 12.5 needs one of 525.60.13, 11.2 one of 450.80.02, 10.2 one of
// 440.33. Then the code for the card: TensorFlow's wheels have PTX that a newer driver compiles, MXNet's have
// none, so cu102 ends with compute capability 7.x and cu112 with 8.x. The plugins need GLIBCXX 3.4.22, which
// CentOS 7 does not have.
INSTANTIATE_TEST_SUITE_P(
    RecordedMachines, FrameworkDecisions,
    testing::Values(
        Decision{"linux-alpine-musl", "EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-L29"},
        Decision{"linux-centos7-no-gpu", "EH-G01", "EH-G01", "EH-G01", "EH-G01", "EH-L08", "EH-L09"},
        Decision{"linux-container-without-gpus", "EH-G01", "EH-G01", "EH-G01", "EH-G01", ""},
        Decision{"linux-driver-timed-out", "", "", "", "", ""},
        Decision{"linux-fedora41-nouveau-rtx3060", "EH-G01", "EH-G01", "EH-G01", "EH-G01", ""},
        Decision{"linux-laptop-toolkit129-driver535-rtx4060", "", "", "", "EH-G05", ""},
        Decision{"linux-rhel9-driver580-v100", "", "", "", "", ""},
        Decision{"linux-rocm62-rx7900xtx", "EH-G01", "EH-G01", "EH-G01", "EH-G01", ""},
        Decision{"linux-toolkit-without-driver", "EH-G01", "EH-G01", "EH-G01", "EH-G01", ""},
        Decision{"linux-ubuntu2004-driver470-gtx1080ti", "EH-G03", "", "", "", ""},
        Decision{"linux-ubuntu2204-driver525-rtx3090", "", "", "", "EH-G05", ""},
        Decision{"linux-ubuntu2204-driver535-a100x2-one-hidden", "", "", "", "EH-G05", ""},
        Decision{"linux-ubuntu2204-stub-library", "EH-G02", "EH-G02", "EH-G02", "EH-G02", ""},
        Decision{"linux-ubuntu2404-driver580-h100", "", "", "EH-G05", "EH-G05", ""},
        Decision{"linux-ubuntu2404-driver580-rtx4090", "", "", "", "EH-G05", ""},
        Decision{"linux-ubuntu2404-driver580-rtx5090", "", "", "EH-G05", "EH-G05", ""},
        Decision{"macos-arm64-m2", "other", "other", "other", "other", "other"},
        Decision{"macos-x86_64-intel", "other", "other", "other", "other", "other"},
        Decision{"windows11-cuda118-driver522-rtx3060", "other", "other", "other", "other", "other"},
        Decision{"windows11-cudart65-driver595-rtx5090", "other", "other", "other", "other", "other"},
        Decision{"wsl2-ubuntu2204-rtx4070", "", "", "", "EH-G05", ""}),
    [](const auto& instance) {
      std::string name;
      for (char one : std::string(instance.param.machine)) {
        if (std::isalnum(static_cast<unsigned char>(one)) != 0) name += one;
      }
      return name;
    });

}  // namespace
}  // namespace enginehost::test
