// The results of checking a build's requirements: answers alone, or answers with texts.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "host/resolve/plan.hpp"

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

}  // namespace enginehost::resolve
