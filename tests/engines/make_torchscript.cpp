// make_torchscript FOLDER: writes the TorchScript modules that the tests of the PyTorch adapter run. It is a
// separate program because the adapter is the only other code that may use libtorch, and it only reads.
#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

#include <iostream>
#include <string>

namespace {

void write(const std::string& folder, const char* name, const char* methods, bool with_state = false) {
  torch::jit::Module module(name);
  if (with_state) module.register_buffer("seen", at::zeros({2}));
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(methods);
  module.save(folder + "/" + name + ".pt");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  try {
    write(folder, "linear", R"(
def forward(self, x, scale: float = 2.0):
    return x * scale + 1.0
def halves(self, x, parts: int):
    return x[:parts], x[parts:]
)");
    write(folder, "collections", R"(
def forward(self, boxes: List[Tensor], named: Dict[str, Tensor]):
    sums = [torch.sum(box) for box in boxes]
    return {"total": torch.stack(sums).sum(), "named": named["a"] - named["b"]}
def several(self, x) -> List[Tensor]:
    return [x, x + 1.0]
def shapes(self, x, sizes: List[int], flip: bool):
    out = x.view(sizes)
    if flip:
        out = out.t()
    return out
def nested(self, x):
    return x.sum().item(), [(x, x * 2.0)]
)");
    write(folder, "counter", R"(
def forward(self, x):
    self.seen += x
    return self.seen
)",
          true);
    write(folder, "overwrites", R"(
def forward(self, x):
    x.mul_(0.0)
    return x
)");
    write(folder, "same", R"(
def forward(self, x):
    return x
)");
    write(folder, "training", R"(
def forward(self, x):
    if self.training:
        return x * 0.0
    return x
)");
    write(folder, "raises", R"(
def forward(self, x):
    assert x.sum().item() >= 0.0, "the sum is negative"
    return x
)");
    write(folder, "marked", R"(
def forward(self, x):
    z = torch.complex(x, x + 1.0)
    return torch.conj(z), torch.imag(torch.conj(z)), [torch.conj(z)]
)");
    write(folder, "text", R"(
def forward(self, x: str):
    return torch.ones(2)
)");
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
