// Checks of one build's requirements against the machine. Each family of requirements has its own file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "host/resolve/findings.hpp"
#include "host/resolve/nvidia_rules.hpp"
#include "host/resolve/plan.hpp"
#include "host/resolve/version_specifier.hpp"

namespace enginehost::resolve {

// The machine as the checks need it. Values that all builds need are computed once.
struct Machine {
  explicit Machine(const platform::Platform& observed);
  Machine(const Machine&) = delete;  // `visible` points into `platform`
  Machine& operator=(const Machine&) = delete;
  const platform::Platform platform;
  VisibleDevices visible;
  platform::Fact<std::string> driver_cuda;  // as observed, else derived from the driver's version
  bool ptx_jit_disabled = false;            // CUDA_DISABLE_PTX_JIT
};

// The inputs that every build is checked against. The candidates of a plan share it, so that each can still
// create its texts.
struct Question {
  Question(const platform::Platform& observed, const Request& asked, std::int64_t asked_at);
  const Machine machine;
  const Request request;
  const VersionSpecifier version;
  const std::vector<std::string> devices;  // the devices that the request names, in order
  const std::int64_t now;                  // seconds since 1970, by this machine's clock
};

// How a build's CUDA relates to the driver, and how many visible GPUs it has no code for; used by ranking.
enum class CudaFit { none, native, minor_version };
struct CudaChecked {
  CudaFit fit = CudaFit::none;
  int unserved = 0;
};

// Checks whether the build was requested at all: system, version, flavor. If it returns false, the last
// finding says why, and the other checks do not matter.
bool check_request(const manifest::Build& build, const Question& question, CheckFindings& findings);
// Checks whether the build is available: withdrawn, not compiled, without digest, offline. Never unknown.
void check_availability(const manifest::Build& build, const Question& question, CheckFindings& findings);
// Checks libc, libstdc++, system version, processor, memory, system libraries, Visual C++ runtime, Metal and
// ROCm, and reports requirements that this version does not know.
void check_system(const manifest::Build& build, const platform::Platform& machine, CheckFindings& findings);
// Checks driver, device code, visible devices and device memory. Devices that the request names by number are
// the only ones that count.
CudaChecked check_cuda(const manifest::Build& build, const Question& question, CheckFindings& findings);
// Checks the requested device against the build's devices and the machine's. Never unknown.
void check_device(const manifest::Build& build, const Question& question, CheckFindings& findings);

// Runs all checks in their order. `asked_for` is the result of check_request().
struct Held {
  bool asked_for = false;
  CudaChecked cuda;
};
Held hold(const manifest::Build& build, const Question& question, CheckFindings& findings);

// Returns the device kind that the build mainly computes on, by its flavor: "cuda", "rocm", "mps", "cpu", or
// an execution provider of ONNX Runtime ("webgpu").
std::string_view main_device(const manifest::Build& build);
// Returns the devices that a request names, in order: "cuda:0,cpu" is {"cuda:0","cpu"}.
std::vector<std::string> devices_of(const std::string& request);
// Returns the GPUs that a build must have code for: those that the request names as "cuda:N", else all
// visible ones. A number that no visible device has is left to check_device().
std::vector<const platform::CudaDevice*> wanted_gpus(const Question& question);

// Forms of checks that several families share.
Check reported(std::string requirement, std::string observed, std::string source);
Check unanswered(std::string requirement, std::string why);
// Returns ">=2.17" and "2.17" as ">= 2.17".
std::string bound_text(std::string_view bound);

// A text fact as the checks read it. Refers to the fact without a copy.
struct Reading {
  Reading(const platform::Fact<std::string>& fact);  // NOLINT(google-explicit-constructor): is one
  // Reads a part of another fact's value, with the same source.
  template <class T>
  Reading(const platform::Fact<T>& fact, const std::string& part)
      : is_known(fact.is_known() && !part.empty()),
        is_unknown(fact.is_unknown() || (fact.is_known() && part.empty())),
        value(part),
        source(fact.source()),
        why(fact.is_unknown() ? std::string_view(fact.why()) : "not in the report") {}

  bool is_known, is_unknown;
  std::string_view value, source, why;
};

// Compares a version with a bound. An absent version is "no".
Answer answer_of(const std::string& bound, const Reading& reading);
Check version_check(std::string_view what, const std::string& bound, const Reading& reading, Answer answer);
void note_version(std::string_view what, const std::string& bound, const Reading& reading,
                  std::string_view code, CheckFindings& findings);

}  // namespace enginehost::resolve
