#include "host/load/in_process/engine.hpp"

#include <algorithm>
#include <optional>

#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/load/in_process/reported_text.hpp"

namespace enginehost::load {
namespace {

struct KindName {
  std::int32_t type;
  std::string_view name;
};
constexpr KindName kinds[] = {
    {ENGINE_CPU, "cpu"},   {ENGINE_CUDA, "cuda"}, {ENGINE_VULKAN, "vulkan"}, {ENGINE_METAL, "metal"},
    {ENGINE_METAL, "mps"}, {ENGINE_ROCM, "rocm"}, {ENGINE_ONEAPI, "oneapi"}, {ENGINE_OTHER_DEVICE, "other"},
};

// More than any machine has. A larger count is a plugin's mistake, and the host would loop over it.
constexpr std::uint32_t most_devices = 4096;
constexpr std::size_t most_facts = 4096;

Diagnosis missing_table(const LoadedPlugin& plugin, const char* id) {
  return diagnose(Code::plugin_does_not_match)
      .with(Key::file, path_text(plugin.file()))
      .with(Key::missing_table, id, "query() of the plugin");
}

// Returns the name of the first NULL member; null when there is none. Tables never change, so all of these
// members existed in the first version.
const char* null_member(const engine_device_v1& table) {
  return table.count == nullptr ? "count" : table.info == nullptr ? "info" : nullptr;
}
const char* null_member(const engine_selftest_v1& table) { return table.run == nullptr ? "run" : nullptr; }
const char* null_member(const engine_tensor_v1& table) {
  return table.create == nullptr ? "create" : table.copy == nullptr ? "copy" : nullptr;
}
const char* null_member(const engine_op_v1& table) { return table.run == nullptr ? "run" : nullptr; }
const char* null_member(const engine_model_v1& table) {
  return table.load == nullptr     ? "load"
         : table.unload == nullptr ? "unload"
         : table.info == nullptr   ? "info"
         : table.run == nullptr    ? "run"
                                   : nullptr;
}

}  // namespace

struct Engine::Host {
  engine_host table{};
  std::string name, version, root;
  decltype(EngineOptions::log) log;
};

std::string kind_of_device(std::int32_t type) {
  for (const KindName& kind : kinds)
    if (kind.type == type) return std::string(kind.name);
  return "device " + std::to_string(type);
}

bool parse_device(std::string_view text, engine_device& device) {
  const std::size_t colon = text.find(':');
  const std::string kind = to_lower(text.substr(0, colon));
  std::int64_t index = 0;
  if (colon != std::string_view::npos) {
    const auto number = parse_integer(text.substr(colon + 1));
    if (!number || *number < 0 || *number > INT32_MAX) return false;
    index = *number;
  }
  for (const KindName& known : kinds)
    if (known.name == kind) {
      device = {known.type, static_cast<std::int32_t>(index)};
      return true;
    }
  return false;
}

std::string Device::text() const {
  return (kind.empty() ? kind_of_device(id.type) : kind) + ":" + std::to_string(id.index);
}

bool Device::is_meant_by(std::string_view wanted) const {
  return text() == wanted || kind == wanted || wanted == (is_accelerator() ? "gpu" : "cpu");
}

const Device* first_meant(const std::vector<Device>& devices, std::string_view list) {
  for (const std::string& entry : split(list, ','))
    for (const Device& device : devices)
      if (device.is_meant_by(trim(entry))) return &device;
  return nullptr;
}

Result<Device> find_device(const std::vector<Device>& devices, const std::string& wanted) {
  for (const Device& device : devices)
    if (wanted.empty() || device.is_meant_by(wanted)) return device;
  return fail(no_such_device(devices, wanted));
}

Diagnosis no_such_device(const std::vector<Device>& devices, const std::string& wanted) {
  Diagnosis failure =
      diagnose(Code::device_not_offered).with(Key::device, wanted.empty() ? "any" : wanted, "request");
  for (const Device& device : devices) failure.with(Key::offered, device.text(), "the engine");
  return failure;
}

const Device* usual_device(const std::vector<Device>& devices) {
  const auto accelerator = std::ranges::find_if(devices, &Device::is_accelerator);
  return accelerator != devices.end() ? &*accelerator : devices.empty() ? nullptr : devices.data();
}

Result<std::unique_ptr<Engine>> Engine::create(std::shared_ptr<LoadedPlugin> plugin, EngineOptions options) {
  std::unique_ptr<Engine> engine(new Engine);
  engine->plugin_ = std::move(plugin);
  engine->health_ = options.health ? std::move(options.health) : std::make_shared<Health>();
  engine->number_ = engine->health_->add_engine();
  engine->host_ = std::make_unique<Host>();
  Host& host = *engine->host_;
  host.name = std::move(options.host_name);
  host.version = std::move(options.host_version);
  host.root = path_text(engine->plugin_->root());
  host.log = std::move(options.log);
  host.table.size = sizeof host.table;
  host.table.abi_major = ENGINE_ABI_MAJOR;
  host.table.abi_minor = ENGINE_ABI_NEWEST_MINOR;
  host.table.name = host.name.c_str();
  host.table.version = host.version.c_str();
  host.table.root = host.root.c_str();
  host.table.host_data = &host;
  host.table.log_level = options.log_level;
  host.table.log = [](const engine_host* table, std::int32_t level, const char* topic,
                      const char* message) noexcept {
    const auto& log = static_cast<const Host*>(table->host_data)->log;
    if (!log || level < table->log_level) return;
    try {
      log(level, reported_text(topic), reported_text(message, longest_message));
    } catch (...) {  // an application's callback that throws must not end the process inside a plugin
    }
  };
  host.table.query = [](const engine_host*, const char*) noexcept -> const void* { return nullptr; };

  std::vector<engine_entry> entries;
  entries.reserve(options.options.size());
  for (const auto& [key, value] : options.options) entries.push_back({key.c_str(), value.c_str()});
  const engine_plugin& table = engine->plugin_->plugin();
  Call call(std::move(options.call));
  ProcessStateGuard kept;
  const engine_status status = table.create(&host.table, entries.empty() ? nullptr : entries.data(),
                                            entries.size(), &engine->instance_, call.get());
  for (Diagnosis& change : kept.restore())
    engine->warnings_.push_back(std::move(
        change.with(Key::file, path_text(engine->plugin_->file())).with(Key::when, "making the engine")));
  if (status != ENGINE_OK) {
    engine->instance_ = nullptr;  // "On failure *out is NULL": another value there is not ours to destroy
    TRY(call.finish(status));
  }
  if (engine->instance_ == nullptr) return fail(gave_wrongly("create", "no engine"));
  if (auto overcome = call.overcome("create()"))
    engine->warnings_.push_back(std::move(overcome->with(Key::file, path_text(engine->plugin_->file()))));

  // A table with a missing function would crash the program at the first call.
  std::optional<Diagnosis> incomplete;
  const auto ask = [&]<class Table>(const char* id, const Table*& offered) {
    offered = static_cast<const Table*>(table.query(engine->instance_, id));
    const char* const member = offered != nullptr ? null_member(*offered) : nullptr;
    if (member != nullptr && !incomplete)
      incomplete =
          missing_table(*engine->plugin_, id).with(Key::missing_function, member, "NULL in the table");
  };
  ask(ENGINE_DEVICE_V1, engine->devices_);
  ask(ENGINE_SELFTEST_V1, engine->selftest_);
  ask(ENGINE_TENSOR_V1, engine->tensors_);
  ask(ENGINE_OP_V1, engine->ops_);
  ask(ENGINE_MODEL_V1, engine->models_);
  if (incomplete) return fail(std::move(*incomplete));
  if (engine->devices_ == nullptr) return fail(missing_table(*engine->plugin_, ENGINE_DEVICE_V1));
  if (engine->selftest_ == nullptr) return fail(missing_table(*engine->plugin_, ENGINE_SELFTEST_V1));

  std::size_t count = 0;
  const engine_entry* facts = table.facts(engine->instance_, &count);
  for (std::size_t i = 0; facts != nullptr && i < std::min(count, most_facts); ++i)
    engine->facts_.emplace_back(reported_text(facts[i].key), reported_text(facts[i].value));
  return engine;
}

Engine::~Engine() {
  if (instance_ != nullptr) plugin_->plugin().destroy(instance_);
}

void Engine::name_in(Diagnosis& failure) const {
  if (failure.value(Key::engine).empty())
    failure.with(Key::engine, reported_text(plugin_->plugin().engine), "the plugin's descriptor");
}

std::vector<std::string> Engine::capabilities() const {
  std::vector<std::string> names;
  const char* const* list = plugin_->plugin().capabilities;
  for (std::size_t i = 0; list != nullptr && list[i] != nullptr && i < most_facts; ++i)
    names.push_back(reported_text(list[i]));
  return names;
}

Result<std::vector<Device>> Engine::devices() const {
  const std::uint32_t count = std::min(devices_->count(instance_), most_devices);
  std::vector<Device> devices;
  for (std::uint32_t i = 0; i < count; ++i) {
    engine_device_info info{};
    info.size = sizeof info;
    Call call;
    TRY(call.finish(devices_->info(instance_, i, &info, call.get())));
    Device device;
    device.id = info.device;
    device.kind = reported_text(info.kind);
    if (device.kind.empty()) device.kind = kind_of_device(info.device.type);
    device.name = reported_text(info.name);
    device.architecture = reported_text(info.architecture);
    device.driver = reported_text(info.driver);
    if (std::any_of(std::begin(info.uuid), std::end(info.uuid), [](std::uint8_t byte) { return byte != 0; }))
      device.uuid = hex_of({reinterpret_cast<const char*>(info.uuid), sizeof info.uuid});
    device.memory_total = info.memory_total;
    device.memory_free = info.memory_free;
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string Engine::name_of(engine_device wanted) const {
  if (const auto offered = devices())
    for (const Device& device : *offered)
      if (device.id.type == wanted.type && device.id.index == wanted.index) return device.text();
  return kind_of_device(wanted.type) + ":" + std::to_string(wanted.index);
}

Result<void> Engine::self_test(std::int32_t level, engine_device device, CallOptions options) {
  Call call(std::move(options));
  Work work = work_on(name_of(device));
  return work.ended(named(call.finish(selftest_->run(instance_, level, device, call.get()))));
}

}  // namespace enginehost::load
