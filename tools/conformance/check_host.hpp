// The host's side of the ABI as the checks need it: a host, calls that record reports, results that place or
// take. Each claims a large `size`, as a newer host would; the space behind it is filled with a pattern.
#pragma once
#include <enginehost/engine_plugin.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace engineplugin {

// T followed by a tail of 0xA5, with a `size` that covers both. A plugin must neither read nor write the
// tail.
template <class T>
struct Enlarged {
  T value{};
  unsigned char tail[4096];
  Enlarged() {
    for (unsigned char& byte : tail) byte = 0xA5;
    value.size = static_cast<std::uint32_t>(sizeof(T) + sizeof tail);
  }
  bool tail_untouched() const {
    for (unsigned char byte : tail) {
      if (byte != 0xA5) return false;
    }
    return true;
  }
};

// Must live until destroy() of its engine has returned. The memory of functions that a plugin calls is kept,
// so that a late call is counted instead of crashing.
class CheckHost {
 public:
  explicit CheckHost(std::string root);
  CheckHost(const CheckHost&) = delete;
  CheckHost& operator=(const CheckHost&) = delete;
  ~CheckHost();
  const engine_host* get() const { return &kept_.host.value; }
  bool tail_untouched() const { return kept_.host.tail_untouched(); }
  // Counts the calls to all hosts.
  static int calls_after_destroy();

 private:
  struct Kept {
    std::string root;
    Enlarged<engine_host> host;
    std::atomic<bool> ended{false};
  };
  static Kept& keep();
  static void note_call(const engine_host* host);
  Kept& kept_;
};

class CheckCall {
 public:
  struct Fault {
    engine_status status;
    std::string origin;
    std::int64_t native;
    std::string message;
  };
  CheckCall();
  ~CheckCall();
  CheckCall(const CheckCall&) = delete;
  CheckCall& operator=(const CheckCall&) = delete;

  engine_call* get() { return &call_.value; }
  void cancel() { canceled_ = true; }
  void give_up_after(std::chrono::milliseconds time);
  bool tail_untouched() const { return call_.tail_untouched(); }
  const std::vector<Fault>& faults() const { return faults_; }
  // "3 (UNAVAILABLE): the first message {key=value}", for a line of the report.
  std::string describe(engine_status status) const;
  // Returns "" if `status` is a failure that was reported correctly: one of `allowed`, with a message, and
  // equal to the status of some fail(). Otherwise returns the problem. An empty `allowed` accepts every
  // failure.
  std::string problem_unless_failed(engine_status status, const std::vector<engine_status>& allowed) const;

 private:
  static CheckCall& self(const engine_call* call) { return *static_cast<CheckCall*>(call->host_data); }
  Enlarged<engine_call> call_;
  std::mutex mutex_;
  std::atomic<bool> canceled_{false};
  bool timed_ = false;
  std::chrono::steady_clock::time_point deadline_{};
  std::vector<Fault> faults_;
  std::map<std::string, std::string> details_;
};

// Collects the outputs of a run. With `offer` it places host memory, as an application that reuses buffers
// would.
class CheckResults {
 public:
  explicit CheckResults(bool offer);
  CheckResults(const CheckResults&) = delete;
  CheckResults& operator=(const CheckResults&) = delete;
  engine_results* get() { return &results_.value; }

  struct Value {
    std::uint32_t output = 0;
    bool placed = false;
    engine_tensor tensor{};
    std::vector<std::int64_t> shape;
    std::vector<std::byte> memory;
    struct Release {
      void operator()(engine_owned_tensor* given) const { given->release(given); }
    };
    std::unique_ptr<engine_owned_tensor, Release> owned;
  };
  const std::vector<std::unique_ptr<Value>>& values() const { return values_; }
  const std::string& problem() const { return problem_; }

 private:
  static CheckResults& self(engine_results* results) {
    return *static_cast<CheckResults*>(results->host_data);
  }
  Enlarged<engine_results> results_;
  bool offer_;
  std::vector<std::unique_ptr<Value>> values_;
  std::string problem_;
};

std::string status_name(engine_status status);

// A compact float32 tensor in host memory over the caller's values, with `skip` bytes of byte_offset before
// them.
struct HostTensor {
  HostTensor(std::vector<std::int64_t> dimensions, const std::vector<float>& values, std::uint64_t skip = 0);
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;
  const float* values() const;
  std::vector<std::int64_t> shape;
  std::unique_ptr<float[], void (*)(float*)> memory;
  engine_tensor tensor{};
};

std::uint64_t element_count(const engine_tensor& tensor);
std::uint64_t byte_count(const engine_tensor& tensor);

}  // namespace engineplugin
