// What a SavedModel says of itself: a MetaGraphDef (tensorflow/core/protobuf/meta_graph.proto), read by its
// fields.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace enginehost::engines::tensorflow {

// One input or output of a signature.
struct Endpoint {
  std::string name;                // the signature's word for it: "x"
  std::string operation;           // the graph's: "serving_default_x"
  int index = 0;                   // which of the operation's results
  int type = 0;                    // TF_DataType
  bool known_rank = false;         // else any shape
  std::vector<int64_t> sizes;      // -1: decided at run time
  std::vector<std::string> names;  // of the sizes, "" if without
};

struct Signature {
  std::string name;
  std::vector<Endpoint> inputs, outputs;  // by name, for a map has no order of its own
};

struct MetaGraph {
  std::vector<Signature> signatures;  // "serving_default" first, the others by name
  // Signatures that were left out, as "NAME: why".
  std::vector<std::string> left_out;
  std::vector<std::string> tags;
  std::string version;               // of the TensorFlow that wrote it
  std::set<std::string> operations;  // the kinds used anywhere in it, functions included
};

// Throws a Failure (ENGINE_CORRUPT) when the bytes are no whole MetaGraphDef.
MetaGraph read_meta_graph(std::string_view bytes);

// The kinds of operations that keep no state, out of the OpList (op_def.proto) a library gives of itself.
std::set<std::string> stateless_operations(std::string_view op_list);

// "name:1" into its parts; ":0" may be left out and a control input ("^name") is none. False if it is no such
// name.
bool split_tensor_name(std::string_view text, std::string& operation, int& index);

}  // namespace enginehost::engines::tensorflow
