// Writes the outputs of a model's run to files.
#pragma once
#include <enginehost/engine_plugin.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace enginehost::commands {

// Returns one name per output, without an extension. Characters other than letters, digits, '.', '-' and '_'
// become
// '_', and long names are cut. Names differ even if case is ignored. If two outputs would share a name ("a/b"
// and "a_b"), the output with exactly that name keeps it, and the others get a number.
std::vector<std::string> file_names_of(const std::vector<std::string>& outputs);

struct RunOutput {
  std::string port;  // of the model: "boxes"
  std::string name;  // the port, and the part that is known only after the run: "boxes.left"
  const engine_tensor* tensor = nullptr;
};

struct OutputFiles {
  Json document = Json::array();    // per output: "output", "type", and "file" or "diagnosis"
  std::string text;                 // one line per output
  std::vector<Diagnosis> failures;  // of the outputs that could not be written
};

// Writes NAME.npy for each output to the folder, which is created. Without a folder the outputs are only
// described. If one output cannot be written, the others still are. Errors: EH-F15, EH-F16 if the folder
// cannot be created.
Result<OutputFiles> write_outputs(const std::vector<RunOutput>& outputs, const std::filesystem::path& folder);

}  // namespace enginehost::commands
