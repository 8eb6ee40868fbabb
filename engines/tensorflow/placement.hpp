// Measures on which device each operation of a run computed. TensorFlow computes an operation on the CPU if
// it has no code of it for the GPU, and reports success.
#pragma once
#include <enginehost/engine_plugin.h>

#include <map>
#include <set>
#include <string>
#include <string_view>

namespace enginehost::engines::tensorflow {

// For each type of device ("GPU", "CPU"): the operations that ran there, as "name (Kind)". TensorFlow's own
// nodes, which feed, fetch and copy values, are left out.
using Placement = std::map<std::string, std::set<std::string>>;

// Reads a RunMetadata (config.proto) with step statistics. Throws a Failure when it is damaged.
Placement placement_of(std::string_view run_metadata);

// Reports to the host's log and as the detail "placement"; operations on the CPU that were requested on
// another device are a warning with their names. Throws a Failure when none ran on the requested device.
void report_placement(const Placement& placement, engine_device requested, const engine_host* host,
                      engine_call* call);

}  // namespace enginehost::engines::tensorflow
