// A model in an engine: its inputs and outputs, and running it after the inputs are checked.
#pragma once
#include <enginehost/engine_plugin.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "host/load/in_process/call.hpp"
#include "host/load/in_process/engine.hpp"
#include "host/load/in_process/tensors.hpp"

namespace enginehost::load {

struct ModelRequest {
  std::filesystem::path file;  // absolute; a file or a folder
  std::string format;          // "onnx"; empty: by the file's extension, or the only format the engine has
  std::string device;          // "cuda:0"; empty: the engine's first
  std::vector<std::pair<std::string, std::string>> options;
};

struct NamedTensor {
  std::string name;
  const engine_tensor* tensor = nullptr;
};

// Must be destroyed before its engine. run() follows the plugin's threading: any thread when concurrent(),
// otherwise one call at a time.
class Model {
 public:
  // EH-P47: no such file. EH-S18: the engine runs no models ("table") or none of that format ("format",
  // "offered"). EH-S09: no such device. EH-E01: the plugin's report, or an incomplete description of the
  // model.
  static Result<std::unique_ptr<Model>> load(Engine& engine, const ModelRequest& request,
                                             CallOptions call = {});
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  ~Model();

  // Valid as long as the model.
  const engine_model_info& info() const { return *info_; }
  const engine_function& function(std::size_t number = 0) const { return info_->functions[number]; }
  engine_device device() const { return device_; }
  const std::string& device_name() const { return device_name_; }
  bool concurrent() const { return (info_->flags & ENGINE_MODEL_CONCURRENT) != 0; }

  // Runs one function. Inputs are matched by name; an unnamed input is accepted if the function has only one.
  // Tensors are borrowed until the call returns. Outputs belong to the caller, compact and in host memory.
  // Errors: EH-P42: no such input ("input", "known"). EH-P45: two for one input. EH-P43: one is missing.
  // EH-P44: type or shape does not fit, or no plugin could accept it ("input", "given", "wanted"). EH-E01:
  // the plugin's report, or outputs that are missing, no tensors or not in host memory. EH-P10: canceled or
  // timed out.
  Result<std::vector<std::unique_ptr<Output>>> run(const std::vector<NamedTensor>& inputs,
                                                   CallOptions call = {}, std::size_t function_number = 0);

 private:
  Model(Engine& engine, engine_model* model, const Device& device);
  static Result<std::unique_ptr<Model>> load_in(Engine& engine, const ModelRequest& request,
                                                CallOptions options);
  Result<std::vector<std::unique_ptr<Output>>> run_in(const engine_run& run, const engine_function& function,
                                                      CallOptions options);
  // Inputs in the plugin's form; `values` point at the tensors.
  struct Arranged {
    std::vector<PassedTensor> tensors;
    std::vector<engine_value> values;
  };
  Result<Arranged> arrange(const engine_function& function, const std::vector<NamedTensor>& inputs) const;
  Engine& engine_;
  engine_model* model_;
  engine_device device_;
  std::string device_name_;
  const engine_model_info* info_;
};

// "float32[1, 512]", "any type of any shape".
std::string describe_port(const engine_port& port);
std::string describe_tensor(const engine_tensor& tensor);
std::string name_of_type(engine_dtype type);

}  // namespace enginehost::load
