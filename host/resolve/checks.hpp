// Holding the requirements of one build against the machine; one file a family of requirements.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "host/resolve/cuda_tables.hpp"
#include "host/resolve/plan.hpp"
#include "host/resolve/visible_devices.hpp"

namespace enginehost::resolve {

// The machine as the checks need it: what would otherwise be worked out again for every build. Refers to the
// platform.
struct Machine {
  explicit Machine(const platform::Platform& observed);
  const platform::Platform& platform;
  VisibleDevices visible;
  platform::Fact<std::string> driver_cuda;  // as observed, else worked out from the driver's version
  bool ptx_jit_disabled = false;            // CUDA_DISABLE_PTX_JIT
};

using Checks = std::vector<Check>;

// Whether the build is one that was asked for at all: system, version, flavor. False: the last check says why
// not, and nothing else about the build matters.
bool check_request(const manifest::Build& build, const Machine& machine, const Request& request,
                   Checks& checks);
// Whether it could be had: withdrawn, not compiled, without digest, offline.
void check_availability(const manifest::Build& build, const Request& request, Checks& checks);
// libc, libstdc++, system version, processor, memory, system libraries, Visual C++ runtime, Metal, ROCm, and
// what this version does not know.
void check_system(const manifest::Build& build, const Machine& machine, Checks& checks);

// How a build's CUDA stands to the driver; what ranking needs of it.
enum class CudaFit { none, native, minor_version };
// Driver, device code, visible devices, device memory.
CudaFit check_cuda(const manifest::Build& build, const Machine& machine, Checks& checks);
// The device asked for, against what the build offers and the machine has.
void check_device(const manifest::Build& build, const Machine& machine, const Request& request,
                  Checks& checks);

// "cuda", "rocm", "mps", "cpu": what the build mainly computes on, by its flavor.
std::string_view main_device(const manifest::Build& build);
// The devices a request names, in order: "cuda:0,cpu" is {"cuda:0","cpu"}.
std::vector<std::string> devices_of(const std::string& request);

// Shapes of checks that several families share.
Check answered(std::string requirement, std::string observed, std::string source, bool holds,
               std::string_view code);
Check unanswered(std::string requirement, std::string why);
// ">=2.17" as ">= 2.17", "2.17" as ">= 2.17".
std::string bound_text(std::string_view bound);
// A version against a bound, from a fact: absent is "no".
Check version_check(std::string_view what, const std::string& bound, const platform::Fact<std::string>& fact,
                    std::string_view code);

// A fact about a part of another fact's value, with the same source.
template <class T, class Part>
platform::Fact<std::string> part_of(const platform::Fact<T>& fact, Part part) {
  if (fact.is_absent()) return platform::Fact<std::string>::absent(fact.source());
  if (fact.is_unknown()) return platform::Fact<std::string>::unknown(fact.why());
  std::string value = part(fact.value());
  if (value.empty()) return platform::Fact<std::string>::unknown("not in the report");
  return platform::Fact<std::string>::known(std::move(value), fact.source());
}

}  // namespace enginehost::resolve
