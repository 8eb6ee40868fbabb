// Checks of one build's requirements against the machine. Each family of requirements has its own file.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/resolve/nvidia_rules.hpp"
#include "host/resolve/plan.hpp"
#include "host/resolve/version_specifier.hpp"

namespace enginehost::resolve {

// Collects the results of checks. A decision needs the answers for hundreds of builds, but the texts of only
// a few, and creating texts takes most of the time. Each rule therefore gives its answer immediately and its
// text as a function, which is called only if texts are wanted. One rule serves both, so that they cannot
// disagree.
class CheckFindings {
 public:
  enum class Detail { answers, texts };
  explicit CheckFindings(Detail detail) : detail_(detail) {}

  // Records one requirement. `code` is a literal, the failure class of a "no". `report` returns the Check;
  // its result and code are filled in here.
  template <class Report>
  Answer note(Answer answer, std::string_view code, Report&& report) {
    last_ = answer;
    if (answer == Answer::no && overrides_)
      overridden_ = true;
    else if (answer == Answer::no && !refused())
      refusal_ = code;
    if (answer == Answer::unknown) has_unknown_ = true;
    if (detail_ == Detail::texts) {
      checks_.push_back(std::forward<Report>(report)());
      checks_.back().result = answer;
      checks_.back().code = answer == Answer::no ? code : std::string_view();
      checks_.back().overridden = answer == Answer::no && overrides_;
    }
    return answer;
  }
  template <class Report>
  Answer note(bool holds, std::string_view code, Report&& report) {
    return note(holds ? Answer::yes : Answer::no, code, std::forward<Report>(report));
  }
  template <class Report>
  void note_unknown(Report&& report) {
    note(Answer::unknown, {}, std::forward<Report>(report));
  }

  // Records a requirement that preflight checks in any case. It is reported, but does not make the build
  // doubtful.
  template <class Report>
  void note_left_to_preflight(Report&& report) {
    const bool doubtful = has_unknown_;
    note_unknown(std::forward<Report>(report));
    has_unknown_ = doubtful;
    leaves_to_preflight_ = true;
    if (detail_ == Detail::texts) checks_.back().left_to_preflight = true;
  }

  // While set, a "no" is recorded without refusing the build.
  void set_override(bool overrides) { overrides_ = overrides; }
  bool has_overridden() const { return overridden_; }

  // Returns true if further checks can only add unknowns.
  bool is_settled() const { return refused() && detail_ == Detail::answers; }
  bool refused() const { return !refusal_.empty(); }
  std::string_view refusal() const { return refusal_; }  // the code of the first "no"
  Answer last() const { return last_; }
  bool has_unknown() const { return has_unknown_; }
  bool leaves_to_preflight() const { return leaves_to_preflight_; }
  std::vector<Check> take_checks() { return std::move(checks_); }  // empty if only answers were wanted

 private:
  Detail detail_;
  std::string_view refusal_;
  Answer last_ = Answer::yes;
  bool has_unknown_ = false, leaves_to_preflight_ = false, overrides_ = false, overridden_ = false;
  std::vector<Check> checks_;
};

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
// Checks whether a CUDA build for arm64 Linux was compiled for this kind of machine. EH-S21.
void check_cuda_target(const manifest::Build& build, const platform::Platform& machine,
                       CheckFindings& findings);
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
// Returns the GPUs that a build must have code for: those that the request names as "cuda:N", else all
// visible ones. A number that no visible device has is left to check_device().
std::vector<const platform::CudaDevice*> wanted_gpus(const Question& question);

Rank rank_of(const manifest::Build& build, const Question& question, const CheckFindings& findings,
             const CudaChecked& cuda, bool proven);

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
