// Operations by their definitions, in double precision, to compare fast code with.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace enginehost::engines::tests {

inline std::vector<float> random_floats(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> range(-1, 1);
  std::vector<float> out(count);
  for (float& value : out) value = range(generator);
  return out;
}

inline std::vector<float> naive_product(const float* a, const float* b, int64_t m, int64_t n, int64_t k) {
  std::vector<float> out(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t p = 0; p < k; p++) sum += double{a[i * k + p]} * double{b[p * n + j]};
      out[static_cast<size_t>(i * n + j)] = static_cast<float>(sum);
    }
  }
  return out;
}

struct NaiveConv {
  int64_t batch, channels, height, width, features, kernel_y, kernel_x, group;
  int64_t stride_y, stride_x, dilation_y, dilation_x, top, left, bottom, right;

  int64_t out_y() const { return (height + top + bottom - (kernel_y - 1) * dilation_y - 1) / stride_y + 1; }
  int64_t out_x() const { return (width + left + right - (kernel_x - 1) * dilation_x - 1) / stride_x + 1; }

  std::vector<float> run(const std::vector<float>& image, const std::vector<float>& weights,
                         const std::vector<float>& bias) const {
    std::vector<float> out;
    int64_t per_group = channels / group, features_per_group = features / group;
    for (int64_t b = 0; b < batch; b++) {
      for (int64_t f = 0; f < features; f++) {
        for (int64_t y = 0; y < out_y(); y++) {
          for (int64_t x = 0; x < out_x(); x++) {
            double sum = bias.empty() ? 0 : double{bias[static_cast<size_t>(f)]};
            for (int64_t c = 0; c < per_group; c++) {
              for (int64_t ky = 0; ky < kernel_y; ky++) {
                for (int64_t kx = 0; kx < kernel_x; kx++) {
                  int64_t from_y = y * stride_y - top + ky * dilation_y;
                  int64_t from_x = x * stride_x - left + kx * dilation_x;
                  if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width) continue;
                  int64_t channel = f / features_per_group * per_group + c;
                  size_t pixel =
                      static_cast<size_t>(((b * channels + channel) * height + from_y) * width + from_x);
                  size_t weight = static_cast<size_t>(((f * per_group + c) * kernel_y + ky) * kernel_x + kx);
                  sum += double{image[pixel]} * double{weights[weight]};
                }
              }
            }
            out.push_back(static_cast<float>(sum));
          }
        }
      }
    }
    return out;
  }
};

// The largest difference, relative to the larger of 1 and the value; infinite where the sizes differ.
inline double worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  double worst = 0;
  for (size_t i = 0; i < a.size(); i++) {
    double scale = std::max(1.0, std::abs(double{b[i]}));
    double difference = std::abs(double{a[i]} - double{b[i]}) / scale;
    if (!(difference <= worst)) worst = difference;
  }
  return worst;
}

}  // namespace enginehost::engines::tests
