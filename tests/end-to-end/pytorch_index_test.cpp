// A published model in two formats, TorchScript and ONNX, gives the same answer in two engines. Fetches the
// package silero-vad and onnxruntime from the package index; "skipped" where it cannot be reached.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/files.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {
namespace {

namespace fs = std::filesystem;

// A NumPy file (format 1.0) of one block of numbers.
template <class Number>
void write_npy(const fs::path& file, const std::string& type, const std::string& shape,
               const std::vector<Number>& numbers) {
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::string text = std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size() % 256) +
                     static_cast<char>(header.size() / 256) + header;
  text.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  ASSERT_TRUE(write_file(file, text));
}

// The first float32 behind the header; NaN when there is none.
float first_float(const fs::path& file) {
  const auto text = read_file(file);
  if (!text || text->size() < 14) return std::nanf("");
  const std::size_t at =
      10 + static_cast<unsigned char>((*text)[8]) + 256u * static_cast<unsigned char>((*text)[9]);
  float value = std::nanf("");
  if (at + sizeof value <= text->size()) std::memcpy(&value, text->data() + at, sizeof value);
  return value;
}

// The package's folder, or "" and the reason.
std::pair<std::string, std::string> fetched(const std::string& project, const std::string& version,
                                            const std::string& members) {
  const std::string downloads = build_path("/downloads");
  ChildRequest request;
  request.argv = {"python3", source_path("/tests/engines/fetch_wheel.py"), downloads, project, version,
                  members};
  request.deadline = std::chrono::seconds(240);
  const auto ended = run_child(request);
  const std::string folder = downloads + "/" + project + "-" + version;
  if (ended && ended->succeeded() && fs::exists(folder)) return {folder, ""};
  return {"", "pip cannot get " + project + " " + version};
}

TEST(PyTorchIndex, AVoiceDetectorMatchesItsOnnxModel) {
  const auto [models, why_not] = fetched("silero-vad", "5.1.2", "silero_vad/data/silero_vad.*");
  if (models.empty()) GTEST_SKIP() << "skipped: " << why_not;
  const Workplace workplace;
  const fs::path at = workplace.folder();
  // 32 ms of two tones. The ONNX file also needs the 64 samples before them, which the other model keeps
  // itself.
  std::vector<float> tones(512), with_context(576);
  for (std::size_t i = 0; i < tones.size(); ++i) {
    const double angle = 2 * 3.14159265358979 * static_cast<double>(i) / 16000;
    tones[i] = static_cast<float>(0.3 * std::sin(220 * angle) + 0.1 * std::sin(1200 * angle));
  }
  std::copy(tones.begin(), tones.end(), with_context.begin() + 64);
  write_npy<float>(at / "tones.npy", "<f4", "(1, 512)", tones);
  write_npy<float>(at / "context.npy", "<f4", "(1, 576)", with_context);
  write_npy<float>(at / "state.npy", "<f4", "(2, 1, 128)", std::vector<float>(256));
  write_npy<std::int64_t>(at / "rate.npy", "<i8", "()", {16000});

  const std::string model = models + "/silero_vad/data/silero_vad";
  const Ended script = workplace.run(
      "engine-run",
      {"pytorch@1.13", model + ".jit", "--input", "x=" + (at / "tones.npy").string(), "--input",
       "sr=" + (at / "rate.npy").string(), "--output", (at / "script").string(), "--repository", repository});
  ASSERT_EQ(script.status, 0) << script.said();
  const Ended onnx = workplace.run(
      "engine-run",
      {"onnxruntime", model + ".onnx", "--input", "input=" + (at / "context.npy").string(), "--input",
       "state=" + (at / "state.npy").string(), "--input", "sr=" + (at / "rate.npy").string(), "--output",
       (at / "onnx").string(), "--repository", repository});
  if (onnx.status == 4) GTEST_SKIP() << "skipped: " << onnx.said();
  ASSERT_EQ(onnx.status, 0) << onnx.said();

  // 0.264522 by libtorch 1.13 and 2.0.1 and by ONNX Runtime 1.27.
  EXPECT_NEAR(first_float(at / "script" / "output.npy"), 0.264522f, 1e-4f);
  EXPECT_NEAR(first_float(at / "script" / "output.npy"), first_float(at / "onnx" / "output.npy"), 1e-5f);
}

}  // namespace
}  // namespace enginehost::test
