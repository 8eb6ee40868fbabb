// The outputs of a model's run, each in a file.
#pragma once
#include <enginehost/engine_plugin.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::commands {

struct RunOutput {
  std::string port;  // of the model: "boxes"
  std::string name;  // with what only the run knows: "boxes.left"
  const engine_tensor* tensor = nullptr;
};

struct OutputFiles {
  Json document = Json::array();    // {"output","type"}, with "file", or with "diagnosis" where there is none
  std::string text;                 // a line for each
  std::vector<Diagnosis> failures;  // of those that could not be written
};

// Writes NAME.npy for each output to the folder, which is made; without a folder they are only described. One
// that cannot be written does not keep the others from it. EH-F15, EH-F16: the folder cannot be made.
Result<OutputFiles> write_outputs(const std::vector<RunOutput>& outputs, const std::filesystem::path& folder);

}  // namespace enginehost::commands
