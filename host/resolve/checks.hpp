// Checks of one build's requirements against the machine. Each family of requirements has its own file.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/version_specifier.hpp"
#include "host/resolve/cuda.hpp"
#include "host/resolve/plan.hpp"

namespace enginehost::resolve {

using Checks = std::vector<Check>;

// The machine as the checks need it. Values that all builds need are computed once.
struct Machine {
  explicit Machine(const platform::Platform& observed);
  const platform::Platform& platform;
  VisibleDevices visible;
  platform::Fact<std::string> driver_cuda;  // as observed, else derived from the driver's version
  bool ptx_jit_disabled = false;            // CUDA_DISABLE_PTX_JIT
};

// The inputs that every build is checked against. Refers to the machine and the request.
struct Question {
  Question(const platform::Platform& observed, const Request& asked, std::int64_t asked_at);
  const Machine machine;
  const Request& request;
  const VersionSpecifier version, allowed;  // by the request, and by the policy
  const std::vector<std::string> devices;   // the devices that the request names, in order
  const std::int64_t now;                   // seconds since 1970, by this machine's clock
};

// How a build's CUDA relates to the driver, and how many visible GPUs it has no code for; used by ranking.
enum class CudaFit { none, native, minor_version };
struct CudaChecked {
  CudaFit fit = CudaFit::none;
  int unserved = 0;
};

// Checks whether the build was requested at all: system, version, flavor. If it returns false, the last check
// says why, and the other checks do not matter.
bool check_request(const manifest::Build& build, const Question& question, Checks& checks);
// Checks whether the build is available: withdrawn, not compiled, without digest, offline. Never unknown.
void check_availability(const manifest::Build& build, const Question& question, Checks& checks);
// Checks libc, libstdc++, system version, processor, memory, system libraries, Visual C++ runtime, Metal and
// ROCm, and reports requirements that this version does not know.
void check_system(const manifest::Build& build, const platform::Platform& machine, Checks& checks);
// Checks ROCm's version and the AMD GPUs, after the variables that override and hide them.
void check_rocm(const manifest::Requirements& requirements, const platform::Platform& machine,
                Checks& checks);
// Checks driver, device code, visible devices and device memory. Devices that the request names by number are
// the only ones that count.
CudaChecked check_cuda(const manifest::Build& build, const Question& question, Checks& checks);
// Checks whether a CUDA build for arm64 Linux was compiled for this kind of machine. EH-S21.
void check_cuda_target(const manifest::Build& build, const platform::Platform& machine, Checks& checks);
// Checks the requested device against the build's devices and the machine's. Never unknown.
void check_device(const manifest::Build& build, const Question& question, Checks& checks);

// Returns the device kind that the build mainly computes on, by its flavor: "cuda", "rocm", "mps", "cpu", or
// an execution provider of ONNX Runtime ("webgpu").
std::string_view main_device(const manifest::Build& build);
// Returns true if the build is for an execution provider of ONNX Runtime, and the request names neither its
// flavor, nor its device, nor itself.
bool has_to_be_requested(const manifest::Build& build, const Question& question);
// Returns true if the build uses one of these kinds of device: of "cuda:0", "cuda".
bool offers_one_of(const manifest::Build& build, const std::vector<std::string>& devices);

// Forms of checks that several families share.

// Adds the check with its answer. `code`: the failure class of a "no".
Check& note(Checks& checks, Answer answer, Code code, Check check);
Check& note(Checks& checks, bool holds, Code code, Check check);
Check& note_unknown(Checks& checks, std::string requirement, std::string why);

// A check with what was found and where. The second form has "required" and "found" as its evidence.
Check reported(std::string requirement, std::string observed, std::string source);
Check compared(std::string requirement, std::string observed, std::string source, std::string required);

// Returns ">=2.17" and "2.17" as ">= 2.17".
std::string bound_text(std::string_view bound);

// Compares a version with a bound. An absent version is "no".
Check& note_version(const std::string& what, const std::string& bound,
                    const platform::Fact<std::string>& version, Code code, Checks& checks);

// Returns a part of a fact's value as a fact with the same source. An empty part is unknown.
template <class T>
platform::Fact<std::string> part_of(const platform::Fact<T>& fact, std::string T::*part) {
  using Text = platform::Fact<std::string>;
  if (fact.is_absent()) return Text::absent(fact.source());
  if (fact.is_unknown()) return Text::unknown(fact.why());
  const std::string& text = fact.value().*part;
  return text.empty() ? Text::unknown("not in the report") : Text::known(text, fact.source());
}

}  // namespace enginehost::resolve
