// query(), facts, devices and the self-test.
#include <algorithm>
#include <cstring>
#include <set>

#include "tools/conformance/checks.hpp"

namespace engineplugin {
namespace {

std::string fact_problem(const engine_plugin& plugin, engine_instance* engine, std::string& version) {
  size_t count = 0;
  const engine_entry* facts = plugin.facts(engine, &count);
  if (!facts && count > 0) return "facts() is NULL, and says that it has " + std::to_string(count);
  for (size_t i = 0; i < count; i++) {
    if (!facts[i].key) return "the key of fact " + std::to_string(i) + " is NULL";
    if (!facts[i].value) return std::string("the value of fact \"") + facts[i].key + "\" is NULL";
    if (!std::strcmp(facts[i].key, "version")) version = facts[i].value;
  }
  return version.empty() ? "the fact \"version\" is missing" : "";
}

// The members of the tables by name. They never change, so a table of a newer plugin has these too.
struct Member {
  const char* name;
  bool is_null;
};

std::vector<Member> members_of(const char* id, const void* table) {
  if (!std::strcmp(id, ENGINE_DEVICE_V1)) {
    const auto& device = *static_cast<const engine_device_v1*>(table);
    return {{"count", !device.count}, {"info", !device.info}};
  }
  if (!std::strcmp(id, ENGINE_SELFTEST_V1))
    return {{"run", !static_cast<const engine_selftest_v1*>(table)->run}};
  if (!std::strcmp(id, ENGINE_TENSOR_V1)) {
    const auto& tensor = *static_cast<const engine_tensor_v1*>(table);
    return {{"create", !tensor.create}, {"copy", !tensor.copy}};
  }
  if (!std::strcmp(id, ENGINE_OP_V1)) return {{"run", !static_cast<const engine_op_v1*>(table)->run}};
  const auto& model = *static_cast<const engine_model_v1*>(table);
  return {{"load", !model.load}, {"unload", !model.unload}, {"info", !model.info}, {"run", !model.run}};
}

constexpr const char* table_ids[] = {ENGINE_DEVICE_V1, ENGINE_SELFTEST_V1, ENGINE_TENSOR_V1, ENGINE_OP_V1,
                                     ENGINE_MODEL_V1};

std::string null_members(const Instance& instance) {
  std::string found;
  for (const char* id : table_ids) {
    const void* table = instance.query(id);
    if (!table) continue;
    for (const Member& member : members_of(id, table)) {
      if (member.is_null) found += (found.empty() ? "" : ", ") + std::string(member.name) + " of " + id;
    }
  }
  return found.empty()
             ? ""
             : "NULL where a function is required: " + found + "; a table is offered whole or not at all";
}

// Calls info() with a `size` larger and smaller than this header's struct.
std::string size_problem(const engine_device_v1& table, engine_instance* engine) {
  Enlarged<engine_device_info> large;
  const std::uint32_t claimed = large.value.size;
  CheckCall first;
  if (table.info(engine, 0, &large.value, first.get()) != ENGINE_OK) return "a larger `size` is refused";
  if (!large.tail_untouched()) return "with a larger `size` bytes behind the known fields are written";
  if (large.value.size != claimed) return "`size` was overwritten";
  engine_device_info small;
  std::memset(&small, 0xA5, sizeof small);
  small.size = offsetof(engine_device_info, uuid);
  CheckCall second;
  if (table.info(engine, 0, &small, second.get()) != ENGINE_OK) return "a smaller `size` is refused";
  const auto* bytes = reinterpret_cast<const unsigned char*>(&small);
  for (std::size_t i = offsetof(engine_device_info, uuid); i < sizeof small; i++) {
    if (bytes[i] != 0xA5) return "with a smaller `size` bytes behind it are written";
  }
  return "";
}

}  // namespace

constexpr std::uint32_t most_devices = 4096;  // limit of the devices that a host reads

std::vector<engine_device_info> devices_of(const Instance& instance) {
  std::vector<engine_device_info> devices;
  const auto* table = instance.table<engine_device_v1>(ENGINE_DEVICE_V1);
  const std::uint32_t count = std::min(table->count(instance.get()), most_devices);
  for (std::uint32_t number = 0; number < count; number++) {
    engine_device_info info{};
    info.size = sizeof info;
    CheckCall call;
    if (table->info(instance.get(), number, &info, call.get()) != ENGINE_OK) continue;
    if (!info.kind) info.kind = "(NULL)";  // reported there too; the other checks of the device go on
    devices.push_back(info);
  }
  return devices;
}

bool check_tables(Report& report, const engine_plugin& plugin, const Instance& instance) {
  report.begin("facts");
  std::string version;
  std::string problem = fact_problem(plugin, instance.get(), version);
  report.end(problem, "version = " + version);

  report.begin("query.required");
  problem.clear();
  for (const char* id : {ENGINE_DEVICE_V1, ENGINE_SELFTEST_V1}) {
    if (!instance.query(id)) problem = std::string(id) + " is missing";
  }
  if (!report.end(problem, "engine.device/1 and engine.selftest/1")) return false;

  report.begin("query.stable");
  problem.clear();
  std::string offered;
  for (const char* id : table_ids) {
    const void* table = instance.query(id);
    if (table) offered += std::string(offered.empty() ? "" : " ") + id;
    if (table != instance.query(id)) problem = std::string(id) + " has two answers";
  }
  report.end(problem, offered);

  report.begin("query.unknown");
  problem.clear();
  for (const char* id : {"", "engine.device", "engine.device/", "engine.device/10", "engine.model/9999",
                         "org.example.unknown/1", "ENGINE.DEVICE/1"}) {
    if (instance.query(id)) problem = std::string("\"") + id + "\" has an answer";
  }
  report.end(problem, "NULL for ids it cannot know");

  // Last, because a plugin that returns one table for every id must not be blamed for missing functions in
  // the others.
  report.begin("query.functions");
  return report.end(null_members(instance), "every function of the tables is there");
}

void check_devices(Report& report, const Instance& instance) {
  const auto& table = *instance.table<engine_device_v1>(ENGINE_DEVICE_V1);
  report.begin("device.info");
  const std::uint32_t count = table.count(instance.get());
  std::string names, problem;
  if (count > most_devices) {
    report.end(false, "count() says " + std::to_string(count) + " devices; hosts look at no more than " +
                          std::to_string(most_devices));
    return;
  }
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  for (std::uint32_t number = 0; number < count; number++) {
    engine_device_info info{};
    info.size = sizeof info;
    CheckCall call;
    const engine_status status = table.info(instance.get(), number, &info, call.get());
    if (status != ENGINE_OK) {
      problem = "device " + std::to_string(number) + ": " + call.describe(status);
    } else if (!info.kind || !info.name || !info.architecture || !info.driver || !*info.kind) {
      problem = "device " + std::to_string(number) + ": a string is NULL, or `kind` is empty";
    } else if (!seen.emplace(info.device.type, info.device.index).second) {
      problem = "device " + std::to_string(number) + " has the type and index of another";
    } else {
      names += std::string(names.empty() ? "" : ", ") + info.kind + ":" + std::to_string(info.device.index);
    }
  }
  if (table.count(instance.get()) != count) problem = "count() changes";
  report.end(problem, names.empty() ? "no devices" : names);

  report.begin("device.beyond");
  engine_device_info info{};
  info.size = sizeof info;
  CheckCall call;
  const engine_status status = table.info(instance.get(), count + 7, &info, call.get());
  report.end(call.problem_unless_failed(status, {ENGINE_INVALID}), "a number too large is INVALID");
  if (count == 0) return;
  report.begin("device.size");
  report.end(size_problem(table, instance.get()), "a larger and a smaller engine_device_info");
}

void check_selftest(Report& report, const Instance& instance) {
  const auto& table = *instance.table<engine_selftest_v1>(ENGINE_SELFTEST_V1);
  for (const engine_device_info& device : devices_of(instance)) {
    for (std::int32_t level = ENGINE_SELFTEST_LIBRARIES; level <= ENGINE_SELFTEST_GRAPH; level++) {
      const std::string name = std::string(device.kind) + ":" + std::to_string(device.device.index);
      report.begin("selftest." + std::to_string(level) + "." + name);
      CheckCall call;
      const auto begin = std::chrono::steady_clock::now();
      const engine_status status = table.run(instance.get(), level, device.device, call.get());
      const auto took =
          std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin)
              .count();
      std::string problem = status == ENGINE_OK ? "" : call.describe(status);
      if (took > 10000) problem = "took " + std::to_string(took) + " ms; at most 10 s";
      report.end(problem, "passed");
    }
  }
  report.begin("selftest.no_such_device");
  CheckCall call;
  const engine_status status =
      table.run(instance.get(), ENGINE_SELFTEST_GRAPH, {ENGINE_OTHER_DEVICE, 99}, call.get());
  report.end(call.problem_unless_failed(status, {}), "a device it does not have fails with a message");
}

}  // namespace engineplugin
