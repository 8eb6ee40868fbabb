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
