// The checks, in their order. Each group prints its own lines; a group returns false when later groups cannot
// run.
#pragma once
#include <enginehost/engine_plugin.h>

#include <string>
#include <utility>
#include <vector>

#include "tools/conformance/check_host.hpp"
#include "tools/conformance/report.hpp"

namespace engineplugin {

struct Request {
  std::string file;                                          // absolute
  std::string root;                                          // the value of host->root
  std::vector<std::pair<std::string, std::string>> options;  // for create()
  std::string model, format;                                 // "" when no model is to be loaded
};

// One engine, destroyed with this object.
class Instance {
 public:
  Instance(const engine_plugin& plugin, const Request& request);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  engine_instance* get() const { return engine_; }
  // Empty when create() behaved as required; else the problem.
  const std::string& problem() const { return problem_; }
  const void* query(const char* id) const;
  template <class Table>
  const Table* table(const char* id) const {
    return static_cast<const Table*>(query(id));
  }
  bool host_untouched() const { return host_.tail_untouched(); }

 private:
  const engine_plugin& plugin_;
  CheckHost host_;
  engine_instance* engine_ = nullptr;
  std::string problem_;
};

// The options of a request as create() takes them; they point into the request.
std::vector<engine_entry> option_entries(const Request& request);

// Checks the file alone; no code of the plugin runs.
bool check_file(Report& report, const Request& request);
// Loads the library and makes every other check.
void check_loaded(Report& report, const Request& request);

void check_lifetime(Report& report, const Request& request, const engine_plugin& plugin);
// False when a required table or a function of a table is missing: the groups below cannot run then.
bool check_tables(Report& report, const engine_plugin& plugin, const Instance& instance);
void check_devices(Report& report, const Instance& instance);
void check_selftest(Report& report, const Instance& instance);
void check_tensors(Report& report, const Instance& instance);
void check_operations(Report& report, const Instance& instance);
void check_models(Report& report, const Request& request, const engine_plugin& plugin,
                  const Instance& instance);

// Returns every device of the engine; a device whose info() fails is left out (check_devices reports it).
std::vector<engine_device_info> devices_of(const Instance& instance);

}  // namespace engineplugin
