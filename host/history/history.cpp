#include "host/history/history.hpp"

namespace enginehost::history {

const Record* History::find(const std::string& build_id) const {
  const auto found = records.find(build_id);
  return found != records.end() ? &found->second : nullptr;
}

bool is_quarantined(const Record& record, std::int64_t now) {
  switch (record.state) {
    case State::disabled:
      return true;
    case State::proven:
    case State::suspect:
      return false;
    case State::unfit:
    case State::blocked:
    case State::quarantined:
      break;
  }
  return record.retry_after == 0 || now < record.retry_after;
}

bool is_on_record_against(const Record& record) { return record.state != State::proven; }

bool works_on_processor(const Record& record) {
  return record.state == State::unfit && record.facts["works_on_processor"].as_bool();
}

// The names are in the order of State.
const char* name_of(State state) {
  static constexpr const char* names[] = {"proven", "unfit", "blocked", "suspect", "quarantined", "disabled"};
  return names[static_cast<std::size_t>(state)];
}

}  // namespace enginehost::history
