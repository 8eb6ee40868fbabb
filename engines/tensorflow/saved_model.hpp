// The description in a SavedModel: a MetaGraphDef (tensorflow/core/protobuf/meta_graph.proto), read field by
// field.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::engines::tensorflow {

// One input or output of a signature.
struct Endpoint {
  std::string name;                // its name in the signature: "x"
  std::string operation;           // its name in the graph: "serving_default_x"
  int index = 0;                   // which of the operation's results
  int type = 0;                    // TF_DataType
  bool known_rank = false;         // false: any shape
  std::vector<int64_t> sizes;      // -1: decided at run time
  std::vector<std::string> names;  // of the sizes, "" if unnamed
};

struct Signature {
  std::string name;
  std::vector<Endpoint> inputs, outputs;  // by name, because a map has no order
};

struct MetaGraph {
  std::vector<Signature> signatures;  // "serving_default" first, the others by name
  // Signatures that were left out, as "NAME: why".
  std::vector<std::string> left_out;
  std::vector<std::string> tags;
  std::string version;               // of the TensorFlow that wrote the file
  std::set<std::string> operations;  // the kinds used anywhere in it, functions included
};

// Throws a Failure (ENGINE_CORRUPT) when the bytes are no complete MetaGraphDef.
MetaGraph read_meta_graph(std::string_view bytes);

// Returns the kinds of operations that keep no state, from a library's OpList (op_def.proto).
std::set<std::string> stateless_operations(std::string_view op_list);

// True if a library's KernelList (kernel_def.proto) has a kernel for the device type GPU.
bool lists_gpu_kernel(std::string_view kernel_list);

// Splits "name:1" into its parts; ":0" may be left out. False if the text is no such name; a control input
// ("^name") is none.
bool split_tensor_name(std::string_view text, std::string& operation, int& index);

}  // namespace enginehost::engines::tensorflow
