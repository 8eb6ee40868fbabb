// A model of the format "reference", described in README.md.
#pragma once
#include "engines/reference/array.hpp"
#include "engines/reference/instance.hpp"
#include "engines/reference/name_index.hpp"
#include "engines/reference/operation.hpp"

namespace enginehost::engines::reference {

constexpr int32_t longest_shape = 8;
constexpr size_t most_inputs = 3;

struct Shape {
  int64_t sizes[longest_shape];  // -1 if `names` has the name of a size that is decided at run time
  const char* names[longest_shape];
  uint32_t named[longest_shape];  // the number of that name among all such sizes of the model
  int32_t rank;
};

enum class Origin { input, constant, result };

// A named value: an input, a constant, or the result of a step.
struct Value {
  const char* name;
  Origin origin;
  uint32_t number;                // of the input port, or of the step
  engine_owned_tensor* constant;  // owned by the model
};

struct Step {
  const Operation* operation;
  uint32_t inputs[most_inputs];  // numbers of values
  uint32_t input_count;
  uint32_t result;
  uint32_t first_attribute, attribute_count;
};

}  // namespace enginehost::engines::reference

// A model in memory, filled by the reader. Names, keys and values of attributes point into `words`.
struct engine_model {
  using Shape = enginehost::engines::reference::Shape;

  engine_model() = default;
  engine_model(const engine_model&) = delete;
  engine_model& operator=(const engine_model&) = delete;
  ~engine_model();

  const engine_instance* engine = nullptr;
  char* words = nullptr;
  enginehost::engines::reference::Array<enginehost::engines::reference::Value> values;
  enginehost::engines::reference::NameIndex value_names, size_names;
  uint32_t named_sizes = 0;  // names in size_names
  enginehost::engines::reference::Array<enginehost::engines::reference::Step> steps;
  enginehost::engines::reference::Array<engine_entry> attributes, metadata;
  enginehost::engines::reference::Array<Shape> input_shapes, output_shapes;
  enginehost::engines::reference::Array<uint32_t> input_values, output_values;  // by port
  enginehost::engines::reference::Array<engine_port> inputs,
      outputs;  // point into the shapes, so filled last
  engine_function function = {};
  engine_model_info info = {};
};

namespace enginehost::engines::reference {

// Parses `length` characters of text, which a NUL must follow; the text may be freed afterwards. Every
// refusal names the line.
engine_status read_model(const char* text, size_t length, engine_model& model, engine_call* call);

// Also used by the self-test, whose model is in the program.
engine_status load_model(engine_instance* engine, const engine_model_desc* desc, engine_model** out,
                         engine_call* call) noexcept;
void unload_model(engine_model* model) noexcept;
engine_status run_model(engine_model* model, const engine_run* what, engine_results* results,
                        engine_call* call) noexcept;

}  // namespace enginehost::engines::reference
