// A three-valued fact: known with its source, absent after looking, or unknown with the reason.
#pragma once
#include <string>
#include <utility>

namespace enginehost::platform {

// Code that decides must treat unknown and absent differently: a time-out never means "no GPU". A plain
// value.
template <class T>
class Fact {
 public:
  enum class State { known, absent, unknown };

  Fact() = default;  // unknown: "not asked"
  static Fact known(T value, std::string source) {
    return {State::known, std::move(value), std::move(source), {}};
  }
  static Fact absent(std::string source) { return {State::absent, {}, std::move(source), {}}; }
  static Fact unknown(std::string why) { return {State::unknown, {}, {}, std::move(why)}; }

  State state() const { return state_; }
  bool is_known() const { return state_ == State::known; }
  bool is_absent() const { return state_ == State::absent; }
  bool is_unknown() const { return state_ == State::unknown; }
  const T& value() const { return value_; }              // a default value unless known
  const std::string& source() const { return source_; }  // known or absent: where it was read or searched for
  const std::string& why() const { return why_; }        // unknown: the reason

  bool operator==(const Fact&) const = default;

 private:
  Fact(State state, T value, std::string source, std::string why)
      : state_(state), value_(std::move(value)), source_(std::move(source)), why_(std::move(why)) {}

  State state_ = State::unknown;
  T value_{};
  std::string source_;
  std::string why_ = "not asked";
};

}  // namespace enginehost::platform
