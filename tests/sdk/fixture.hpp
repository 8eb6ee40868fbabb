// Shared by the tests of the C API: a cache and a repository for each test, and handles that free themselves.
#pragma once
#include <dlpack/dlpack.h>
#include <enginehost/enginehost.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/paths.hpp"
#include "tests/end-to-end/repository.hpp"
#include "tests/sdk/environment.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

// DLPack 1.x declares it; the header of a distribution may be older.
struct DLManagedTensorVersioned {
  std::uint32_t major, minor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  std::uint64_t flags;
  DLTensor dl_tensor;
};

namespace enginehost::test {

struct FreeHandle {
  void operator()(enginehost_engine* handle) const { enginehost_engine_free(handle); }
  void operator()(enginehost_model* handle) const { enginehost_model_free(handle); }
  void operator()(enginehost_outputs* handle) const { enginehost_outputs_free(handle); }
  void operator()(enginehost_error* handle) const { enginehost_error_free(handle); }
  void operator()(enginehost_cancel* handle) const { enginehost_cancel_free(handle); }
  void operator()(char* text) const { enginehost_text_free(text); }
};
template <class T>
using Handle = std::unique_ptr<T, FreeHandle>;

// A temporary cache and a repository with one good build of "reference". The process's environment is set up
// by environment.cpp, once.
class Sdk : public testing::Test {
 protected:
  Sdk() : repository_(folder_ / "repository") {}
  ~Sdk() override { std::filesystem::remove(configuration_); }

  // Until the test ends, replaces the build's own repository by one with this build.
  void publish(const TestBuild& build = good_build()) {
    configuration_ = config_of_tests();
    write_text(configuration_, "{\"repositories_default\": false}");
    repository_.add(build);
    repository_.write();
    repository_path_ = path_text(repository_.root());
    repository_list_ = repository_path_.c_str();
    cache_ = path_text(folder_ / "cache");
  }

  enginehost_request request() const {
    enginehost_request request = ENGINEHOST_REQUEST_INIT;
    request.engine = "reference";
    request.cache = cache_.c_str();
    request.repositories = &repository_list_;
    request.repository_count = 1;
    return request;
  }

  // Opens; on failure returns nothing and keeps the status and the error.
  Handle<enginehost_engine> open(const enginehost_request& request) {
    enginehost_engine* engine = nullptr;
    enginehost_error* error = nullptr;
    status_ = enginehost_open(&request, &engine, &error);
    error_.reset(error);
    return Handle<enginehost_engine>(engine);
  }

  std::string code() const { return enginehost_error_code(error_.get()); }
  std::string said() const { return enginehost_error_text(error_.get()); }

  TemporaryFolder folder_;
  TestRepository repository_;
  std::string repository_path_, cache_;
  std::filesystem::path configuration_;
  const char* repository_list_ = nullptr;
  enginehost_status status_ = ENGINEHOST_OK;
  Handle<enginehost_error> error_;
};

// y = relu(x w), with x of two columns: examples/two-layers.model.
inline std::string demo_model() { return source_path("/examples/two-layers.model"); }

// A float32 tensor of rows x 2 and its memory.
struct Numbers {
  explicit Numbers(std::vector<float> numbers)
      : values(std::move(numbers)), shape{static_cast<std::int64_t>(values.size() / 2), 2} {
    tensor.data = values.data();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = 2;
    tensor.dtype = {kDLFloat, 32, 1};
    tensor.shape = shape;
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  std::vector<float> values;
  std::int64_t shape[2];
  DLTensor tensor{};
};

inline std::vector<float> values_of(const DLTensor& tensor) {
  std::size_t count = 1;
  for (int i = 0; i < tensor.ndim; ++i) count *= static_cast<std::size_t>(tensor.shape[i]);
  const auto* first =
      reinterpret_cast<const float*>(static_cast<const char*>(tensor.data) + tensor.byte_offset);
  return {first, first + count};
}

}  // namespace enginehost::test
