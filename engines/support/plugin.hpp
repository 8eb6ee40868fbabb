// The parts of a plugin that have the same form in every engine.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstring>

namespace enginehost::engines {

// The function tables of an engine. Null: it does not offer that one.
struct Tables {
  const engine_device_v1* device;
  const engine_selftest_v1* selftest;
  const engine_tensor_v1* tensor;
  const engine_op_v1* operations;
  const engine_model_v1* models;
};

// Implements query().
template <const Tables& tables>
const void* query(engine_instance*, const char* id) noexcept {
  if (id == nullptr) return nullptr;
  if (std::strcmp(id, ENGINE_DEVICE_V1) == 0) return tables.device;
  if (std::strcmp(id, ENGINE_SELFTEST_V1) == 0) return tables.selftest;
  if (std::strcmp(id, ENGINE_TENSOR_V1) == 0) return tables.tensor;
  if (std::strcmp(id, ENGINE_OP_V1) == 0) return tables.operations;
  if (std::strcmp(id, ENGINE_MODEL_V1) == 0) return tables.models;
  return nullptr;
}

// Implements facts() for an instance whose member `facts` is a vector.
template <class Instance>
const engine_entry* facts_in(Instance* engine, size_t* count) noexcept {
  *count = engine->facts.size();
  return engine->facts.data();
}

// Implements destroy() for an instance that needs no other care.
template <class Instance>
void destroy_instance(Instance* engine) noexcept {
  delete engine;
}

// A descriptor with the version and the build that the build system gives to a plugin.
constexpr engine_plugin describe_plugin(const char* engine, uint32_t flags, const char* const* capabilities,
                                        decltype(engine_plugin::create) create,
                                        decltype(engine_plugin::destroy) destroy,
                                        decltype(engine_plugin::facts) facts,
                                        decltype(engine_plugin::query) query) {
  return {ENGINE_PLUGIN_MAGIC,
          sizeof(engine_plugin),
          ENGINE_ABI_MAJOR,
          ENGINE_ABI_MINOR,
          0,
          0,
          flags,
          engine,
          ENGINEHOST_PLUGIN_VERSION,
          ENGINEHOST_PLUGIN_BUILD,
          capabilities,
          create,
          destroy,
          facts,
          query};
}

}  // namespace enginehost::engines
