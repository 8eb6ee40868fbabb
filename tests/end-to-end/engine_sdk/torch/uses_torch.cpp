// Multiplies two matrices with PyTorch and prints the product. <torch/torch.h> takes half as long again to
// compile.
#include <torch/types.h>
#include <torch/version.h>

#include <cstdio>

int main() {
  const torch::Tensor left = torch::tensor({{1.f, 2.f}, {3.f, 4.f}});
  const torch::Tensor product = torch::matmul(left, torch::tensor({{5.f, 6.f}, {7.f, 8.f}}));
  std::printf("%s:", TORCH_VERSION);
  for (int i = 0; i < 4; ++i) std::printf(" %g", product[i / 2][i % 2].item<double>());
  std::printf("\n");
}
