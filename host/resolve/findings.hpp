// What holding a build's requirements against the machine comes to: answers alone, or answers with their
// texts.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "host/resolve/plan.hpp"

namespace enginehost::resolve {

// Deciding needs the answers of hundreds of builds and the texts of the few that somebody asks about; making
// the texts takes most of the time of both. So each rule gives its answer at once and its texts as a function
// that is called only where texts are wanted: one rule, one order, and no second path that could say
// something else.
class CheckFindings {
 public:
  enum class Detail { answers, texts };
  explicit CheckFindings(Detail detail) : detail_(detail) {}

  // Notes one requirement. `code` is of the failure class that a "no" is, and a literal; `tell` gives the
  // Check, whose result and code are filled in here.
  template <class Report>
  Answer note(Answer answer, std::string_view code, Report&& report) {
    last_ = answer;
    if (answer == Answer::no && !refused()) refusal_ = code;
    if (answer == Answer::unknown) has_unknown_ = true;
    if (detail_ == Detail::texts) {
      checks_.push_back(std::forward<Report>(report)());
      checks_.back().result = answer;
      checks_.back().code = answer == Answer::no ? code : std::string_view();
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

  // What the check before loading answers whatever is decided here: it is told, and makes nobody doubt the
  // build.
  template <class Report>
  void note_left_to_preflight(Report&& report) {
    const bool doubtful = has_unknown_;
    note_unknown(std::forward<Report>(report));
    has_unknown_ = doubtful;
    leaves_to_preflight_ = true;
  }

  // Nothing more is to be learned but whether something is unknown.
  bool is_settled() const { return refused() && detail_ == Detail::answers; }
  bool refused() const { return !refusal_.empty(); }
  std::string_view refusal() const { return refusal_; }  // the code of the first "no"
  Answer last() const { return last_; }
  bool has_unknown() const { return has_unknown_; }
  bool leaves_to_preflight() const { return leaves_to_preflight_; }
  std::vector<Check> take_checks() { return std::move(checks_); }  // none where only answers were wanted

 private:
  Detail detail_;
  std::string_view refusal_;
  Answer last_ = Answer::yes;
  bool has_unknown_ = false, leaves_to_preflight_ = false;
  std::vector<Check> checks_;
};

}  // namespace enginehost::resolve
