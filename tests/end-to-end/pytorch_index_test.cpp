// A published model in two formats, TorchScript and ONNX, gives the same answer in two engines. Fetches the
// package silero-vad and onnxruntime from the package index; "skipped" where it cannot be reached.
#include "tests/end-to-end/voice_detector.hpp"

namespace enginehost::test {
namespace {

TEST(PyTorchIndex, AVoiceDetectorMatchesItsOnnxModel) {
  const Workplace workplace;
  const VoiceDetector detector(workplace);
  if (!detector.why_not.empty()) GTEST_SKIP() << "skipped: " << detector.why_not;
  const Ended script = detector.in_pytorch({"pytorch@1.13"});
  ASSERT_EQ(script.status, 0) << script.said();
  const Ended onnx = detector.in_onnxruntime();
  if (onnx.status == 4) GTEST_SKIP() << "skipped: " << onnx.said();
  ASSERT_EQ(onnx.status, 0) << onnx.said();
  EXPECT_NEAR(detector.answer("script"), probability_of_speech, 1e-4f);
  EXPECT_NEAR(detector.answer("script"), detector.answer("onnx"), 1e-5f);
}

}  // namespace
}  // namespace enginehost::test
