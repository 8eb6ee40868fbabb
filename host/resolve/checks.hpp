// Holding the requirements of one build against the machine; one file a family of requirements.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "host/resolve/cuda_tables.hpp"
#include "host/resolve/findings.hpp"
#include "host/resolve/plan.hpp"
#include "host/resolve/version_specifier.hpp"
#include "host/resolve/visible_devices.hpp"

namespace enginehost::resolve {

// The machine as the checks need it: what would otherwise be worked out again for every build.
struct Machine {
  explicit Machine(const platform::Platform& observed);
  Machine(const Machine&) = delete;  // `visible` points into `platform`
  Machine& operator=(const Machine&) = delete;
  const platform::Platform platform;
  VisibleDevices visible;
  platform::Fact<std::string> driver_cuda;  // as observed, else worked out from the driver's version
  bool ptx_jit_disabled = false;            // CUDA_DISABLE_PTX_JIT
};

// What every build is held against. The candidates of a plan share it, so that any of them can still say why.
struct Question {
  Question(const platform::Platform& observed, const Request& asked, std::int64_t asked_at);
  const Machine machine;
  const Request request;
  const VersionSpecifier version;
  const std::vector<std::string> devices;  // the devices that the request names, in order
  const std::int64_t now;                  // seconds since 1970, by this machine's clock
};

// How a build's CUDA stands to the driver; what ranking needs of it.
enum class CudaFit { none, native, minor_version };

// Whether the build is one that was asked for at all: system, version, flavor. False: the last finding says
// why not, and nothing else about the build matters.
bool check_request(const manifest::Build& build, const Question& question, CheckFindings& findings);
// Whether it could be had: withdrawn, not compiled, without digest, offline. Never unknown.
void check_availability(const manifest::Build& build, const Question& question, CheckFindings& findings);
// libc, libstdc++, system version, processor, memory, system libraries, Visual C++ runtime, Metal, ROCm, and
// what this version does not know.
void check_system(const manifest::Build& build, const platform::Platform& machine, CheckFindings& findings);
// Driver, device code, visible devices, device memory.
CudaFit check_cuda(const manifest::Build& build, const Machine& machine, CheckFindings& findings);
// The device asked for, against what the build offers and the machine has. Never unknown.
void check_device(const manifest::Build& build, const Question& question, CheckFindings& findings);

// All of them in their order; `asked_for` is check_request's answer.
struct Held {
  bool asked_for = false;
  CudaFit cuda = CudaFit::none;
};
Held hold(const manifest::Build& build, const Question& question, CheckFindings& findings);

// "cuda", "rocm", "mps", "cpu": what the build mainly computes on, by its flavor.
std::string_view main_device(const manifest::Build& build);
// The devices a request names, in order: "cuda:0,cpu" is {"cuda:0","cpu"}.
std::vector<std::string> devices_of(const std::string& request);

// Shapes of checks that several families share.
Check reported(std::string requirement, std::string observed, std::string source);
Check unanswered(std::string requirement, std::string why);
// ">=2.17" as ">= 2.17", "2.17" as ">= 2.17".
std::string bound_text(std::string_view bound);

// A fact about a text as the checks read it, without a copy: refers to the fact.
struct Reading {
  Reading(const platform::Fact<std::string>& fact);  // NOLINT(google-explicit-constructor): is one
  // A part of another fact's value, with the same source.
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

// A version against a bound: absent is "no".
Answer answer_of(const std::string& bound, const Reading& reading);
Check version_check(std::string_view what, const std::string& bound, const Reading& reading, Answer answer);
void note_version(std::string_view what, const std::string& bound, const Reading& reading,
                  std::string_view code, CheckFindings& findings);

}  // namespace enginehost::resolve
