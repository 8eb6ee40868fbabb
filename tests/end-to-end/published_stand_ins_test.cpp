// CPU builds of PyTorch with EngineHost's stand-ins, from the package index: 116 MiB each. "skipped" where it
// cannot be reached, or where the adapter was not compiled.
#include <algorithm>
#include <cstdlib>

#include "base/paths.hpp"
#include "tests/end-to-end/voice_detector.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

class PublishedStandIns : public testing::TestWithParam<const char*> {};

// Nothing is accepted, and each symbol is bound when it is loaded.
TEST_P(PublishedStandIns, OpenWithoutAQuestionAndAnswerAsTheOnnxModel) {
  const std::string release = GetParam(), id = "pytorch-" + release + "-cpu-linux-x86_64-stand-ins";
  if (release != "2.15.0" && std::getenv("ENGINEHOST_EXHAUSTIVE") == nullptr)
    GTEST_SKIP() << "skipped: only with ENGINEHOST_EXHAUSTIVE";
  const Workplace workplace;
  RunOptions bound;
  bound.environment = {"LD_BIND_NOW=1"};
  bound.deadline = std::chrono::minutes(10);
  const std::vector<std::string> chosen = {"pytorch@" + release, "--force", id};
  std::vector<std::string> arguments = chosen;
  arguments.insert(arguments.end(), {"--json", "--self-test", "--repository", repository});
  const Ended opened = workplace.info(arguments, bound);
  if (opened.status == 4 || opened.status == 3)
    GTEST_SKIP() << "skipped: " << opened.code() << " " << opened.diagnosis()["cause"].as_string();
  ASSERT_EQ(opened.status, 0) << opened.said();
  EXPECT_EQ(opened.outcome()["build"].as_string(), id) << opened.said();
  EXPECT_EQ(opened.outcome()["stand_ins"].as_array().size(), 2u);
  for (const auto& machine : fs::directory_iterator(workplace.cache() / "state"))
    EXPECT_FALSE(fs::exists(machine.path() / "consents" / "consents.jsonl")) << "nothing was accepted";

  const fs::path plugin = path_of(opened.outcome()["library"].as_string()), view = plugin.parent_path();
  RunOptions check;
  check.environment = {"LD_LIBRARY_PATH=" + (view / "torch/lib").native() + ":" +
                       (view / "stand-ins").native()};
  EXPECT_EQ(workplace.run("engine-plugin-check", {plugin.native()}, check).status, 0);
  check.environment.push_back("LD_BIND_NOW=1");
  const Ended checked = workplace.run("engine-plugin-check", {plugin.native()}, check);
  EXPECT_EQ(checked.status, 0) << checked.said();

  const VoiceDetector detector(workplace);
  if (!detector.why_not.empty()) GTEST_SKIP() << "skipped: " << detector.why_not;
  const Ended script = detector.in_pytorch(chosen, bound);
  ASSERT_EQ(script.status, 0) << script.said();
  EXPECT_NEAR(detector.answer("script"), probability_of_speech, 1e-4f);
  const Ended onnx = detector.in_onnxruntime();
  if (onnx.status == 4) GTEST_SKIP() << "skipped: " << onnx.said();
  ASSERT_EQ(onnx.status, 0) << onnx.said();
  EXPECT_NEAR(detector.answer("script"), detector.answer("onnx"), 1e-5f);
}
INSTANTIATE_TEST_SUITE_P(OfEachRelease, PublishedStandIns, testing::Values("2.15.0", "2.11.0", "2.0.1"),
                         [](const auto& release) {
                           std::string name = release.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace enginehost::test
