// Measures which provider ran each node. The runtime may place nodes on the CPU that were meant for another
// device, and its own profile is the only record of it in every release.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "engines/onnxruntime/runtime.hpp"

namespace enginehost::engines::onnxruntime {

// Profiles a session until end(), in a folder of its own that is removed with it. One thread at a time.
class Placement {
 public:
  // Sets the options' profile; nullptr when no folder for it can be made.
  static std::unique_ptr<Placement> begin(const Runtime& runtime, OrtSessionOptions* options);
  ~Placement();
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  // Returns how many nodes each execution provider has run since the session was made; empty when the profile
  // cannot be read.
  std::map<std::string, int> end(const Runtime& runtime, OrtSession* session);

 private:
  explicit Placement(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path folder_;
};

// Reads a profile: lines of one event each, "cat" first and the provider among its "args".
std::map<std::string, int> nodes_of_profile(const std::string& file);

}  // namespace enginehost::engines::onnxruntime
