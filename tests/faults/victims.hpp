// Real libraries as installed builds, to be damaged: known to a store, checked and opened like any build.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cache/store.hpp"
#include "host/load/probe.hpp"
#include "host/preflight/preflight.hpp"
#include "tests/faults/mutants.hpp"
#include "tests/faults/workshop.hpp"

namespace enginehost::faults {

// One installed build and the facts about it while it is whole.
struct Victim {
  std::string name;
  cache::Installed installed;
  preflight::Spec spec;
  std::vector<std::filesystem::path> load_order;  // preflight's, of the whole build
  std::vector<std::filesystem::path>
      opened;  // the arguments of dlopen: load order, plugin, run-time libraries
  struct File {
    std::filesystem::path path;
    std::vector<Region> regions;
  };
  std::vector<File> files;  // every library of the build
};

// Makes the victims in a store of its own: this build's reference engine; an engine linked against each of
// some libraries of the system, with that library's closure; and the onnxruntime adapter with the runtime
// that the user's cache holds, where it holds one. Libraries that this system does not have are left out by
// name.
class Victims {
 public:
  Victims();
  std::vector<Victim>& all() { return all_; }
  const std::vector<std::string>& left_out() const { return left_out_; }
  cache::Store& store() { return store_; }
  // A request as the open path makes it.
  static load::ProbeRequest probe_request(const Victim& victim,
                                          const std::vector<std::filesystem::path>& load_order);

 private:
  using Files = std::vector<std::pair<std::string, std::filesystem::path>>;  // path in the view, the file
  void add_reference();
  void add_system(const std::string& library);
  void add_onnxruntime();
  void add(const std::string& name, const std::string& plugin, const Files& files,
           const std::vector<std::string>& search, std::vector<std::pair<std::string, std::string>> options,
           const std::vector<std::string>& run_time = {});
  Workshop workshop_;
  cache::Store store_;
  linker::Machine machine_;
  std::vector<Victim> all_;
  std::vector<std::string> left_out_;
};

}  // namespace enginehost::faults
