// The C API over the fake engine, which offers cuda:0 and cpu:0 and reports the tensor that it got
// (tests/faults/device_plugin.c).
#pragma once
#include "tests/sdk/fixture.hpp"
#include "tests/support/played_plugin.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::test {

class PlayedEngine : public Sdk {
 protected:
  void SetUp() override {
    set_variable("DEVICE_BEHAVIOR", "");
    TestBuild build = good_build();
    build.files = {{build.plugin, played_plugin()}};
    publish(build);
    write_text(folder_ / "any.played", "");
    engine_ = open(request());
    ASSERT_TRUE(engine_) << said();
  }
  void TearDown() override { set_variable("DEVICE_BEHAVIOR", ""); }

  Handle<enginehost_model> load(const char* device = nullptr) {
    enginehost_model* model = nullptr;
    enginehost_error* error = nullptr;
    const std::string file = path_text(folder_ / "any.played");
    status_ = enginehost_model_load(engine_.get(), file.c_str(), nullptr, device, nullptr, &model, &error);
    error_.reset(error);
    return Handle<enginehost_model>(model);
  }

  struct Seen {
    bool ran = false, without_strides = false;
    std::int64_t behind_a_multiple = -1, rank = -1, lanes = -1, device_type = -1;
  };
  // The engine's view of the tensor. Several threads may call it when `failure` is given.
  Seen run(enginehost_model* model, const DLTensor& tensor, std::string* failure = nullptr) {
    const enginehost_input input = {"x", &tensor};
    enginehost_outputs* raw = nullptr;
    enginehost_error* error = nullptr;
    const enginehost_status status = enginehost_model_run(model, &input, 1, nullptr, &raw, &error);
    const Handle<enginehost_outputs> outputs(raw);
    Handle<enginehost_error> owned(error);
    if (failure != nullptr) {
      *failure = enginehost_error_text(error);
    } else {
      status_ = status;
      error_ = std::move(owned);
    }
    if (status != ENGINEHOST_OK) return {};
    const auto* reported = static_cast<const std::int64_t*>(
        static_cast<const DLTensor*>(enginehost_outputs_tensor(raw, 0))->data);
    return {true, reported[0] != 0, reported[1], reported[2], reported[3], reported[4]};
  }

  Handle<enginehost_engine> engine_;
};

}  // namespace enginehost::test
