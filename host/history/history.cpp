#include "host/history/history.hpp"

namespace enginehost::history {

const Record* History::find(const std::string& build_id) const {
  const auto found = records.find(build_id);
  return found != records.end() ? &found->second : nullptr;
}

const char* name_of(State state) {
  switch (state) {
    case State::proven:
      return "proven";
    case State::unfit:
      return "unfit";
    case State::blocked:
      return "blocked";
    case State::suspect:
      return "suspect";
    case State::quarantined:
      return "quarantined";
    case State::disabled:
      return "disabled";
  }
  return "unknown";
}

}  // namespace enginehost::history
