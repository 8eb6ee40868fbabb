// A published voice detector in two formats, TorchScript and ONNX, with 32 ms of sound to judge.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "tests/end-to-end/places.hpp"
#include "tests/end-to-end/workplace.hpp"
#include "tests/support/paths.hpp"

namespace enginehost::test {

// A NumPy file (format 1.0) of one block of numbers.
template <class Number>
void write_npy(const std::filesystem::path& file, const std::string& type, const std::string& shape,
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
inline float first_float(const std::filesystem::path& file) {
  const auto text = read_file(file);
  if (!text || text->size() < 14) return std::nanf("");
  const std::size_t at =
      10 + static_cast<unsigned char>((*text)[8]) + 256u * static_cast<unsigned char>((*text)[9]);
  float value = std::nanf("");
  if (at + sizeof value <= text->size()) std::memcpy(&value, text->data() + at, sizeof value);
  return value;
}

// The package's folder, or "" and the reason.
inline std::pair<std::string, std::string> fetched(const std::string& project, const std::string& version,
                                                   const std::string& members) {
  const std::string downloads = build_path("/downloads");
  ChildRequest request;
  request.argv = {"python3", source_path("/tests/engines/fetch_wheel.py"), downloads, project, version,
                  members};
  request.deadline = std::chrono::seconds(240);
  const auto ended = run_child(request);
  const std::string folder = downloads + "/" + project + "-" + version;
  if (ended && ended->succeeded() && std::filesystem::exists(folder)) return {folder, ""};
  return {"", "pip cannot get " + project + " " + version};
}

// The answer of silero-vad 5.1.2: 0.264522 by libtorch 1.13 and 2.0.1 and by ONNX Runtime 1.27.
constexpr float probability_of_speech = 0.264522f;

class VoiceDetector {
 public:
  explicit VoiceDetector(const Workplace& workplace) : workplace_(workplace), at_(workplace.folder()) {
    std::string models;
    std::tie(models, why_not) = fetched("silero-vad", "5.1.2", "silero_vad/data/silero_vad.*");
    model_ = models + "/silero_vad/data/silero_vad";
    // Two tones. The ONNX file also needs the 64 samples before them, which the other model keeps itself.
    std::vector<float> tones(512), with_context(576);
    for (std::size_t i = 0; i < tones.size(); ++i) {
      const double angle = 2 * 3.14159265358979 * static_cast<double>(i) / 16000;
      tones[i] = static_cast<float>(0.3 * std::sin(220 * angle) + 0.1 * std::sin(1200 * angle));
    }
    std::copy(tones.begin(), tones.end(), with_context.begin() + 64);
    write_npy<float>(at_ / "tones.npy", "<f4", "(1, 512)", tones);
    write_npy<float>(at_ / "context.npy", "<f4", "(1, 576)", with_context);
    write_npy<float>(at_ / "state.npy", "<f4", "(2, 1, 128)", std::vector<float>(256));
    write_npy<std::int64_t>(at_ / "rate.npy", "<i8", "()", {16000});
  }

  // Runs the TorchScript model in that PyTorch. answer("script") is its result.
  Ended in_pytorch(std::vector<std::string> pytorch, const RunOptions& options = {}) const {
    pytorch.insert(pytorch.begin() + 1, {model_ + ".jit", "--input", "x=" + (at_ / "tones.npy").string(),
                                         "--input", "sr=" + (at_ / "rate.npy").string(), "--output",
                                         (at_ / "script").string(), "--repository", repository});
    return workplace_.run("engine-run", std::move(pytorch), options);
  }
  // Runs the ONNX model. answer("onnx") is its result.
  Ended in_onnxruntime() const {
    return workplace_.run(
        "engine-run",
        {"onnxruntime", model_ + ".onnx", "--input", "input=" + (at_ / "context.npy").string(), "--input",
         "state=" + (at_ / "state.npy").string(), "--input", "sr=" + (at_ / "rate.npy").string(), "--output",
         (at_ / "onnx").string(), "--repository", repository});
  }
  float answer(const std::string& of) const { return first_float(at_ / of / "output.npy"); }

  std::string why_not;  // the model cannot be fetched; empty: it is there

 private:
  const Workplace& workplace_;
  std::filesystem::path at_;
  std::string model_;
};

}  // namespace enginehost::test
