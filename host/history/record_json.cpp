#include "host/history/store.hpp"

namespace enginehost::history {
namespace {

constexpr State states[] = {State::proven,  State::unfit,       State::blocked,
                            State::suspect, State::quarantined, State::disabled};

Json stamp_to_json(const FileStamp& stamp) {
  return Json::array().push(stamp.device).push(stamp.inode).push(stamp.size).push(stamp.modified_ns);
}

}  // namespace

Json to_json(const Record& record) {
  Json host = Json::array(), dependency_stamps = Json::array();
  for (const auto& [name, value] : record.host) host.push(Json::array().push(name).push(value));
  for (const DependencyStamp& stamp : record.dependency_stamps) {
    Json one = Json::object().set("path", stamp.path).set("present", stamp.present);
    if (stamp.present) one.set("stamp", stamp_to_json(stamp.stamp));
    dependency_stamps.push(std::move(one));
  }
  return Json::object()
      .set("format", 1)
      .set("build", record.build)
      .set("digest", record.digest)
      .set("artifacts_digest", record.artifacts_digest)
      .set("state", name_of(record.state))
      .set("diagnosis", record.diagnosis)
      .set("host", std::move(host))
      .set("witnesses", std::move(dependency_stamps))
      .set("first_seen", record.first_seen)
      .set("last_seen", record.last_seen)
      .set("retry_after", record.retry_after)
      .set("count", record.count)
      .set("strikes", record.strikes)
      .set("program", record.program)
      .set("boot", record.boot)
      .set("facts", record.facts);
}

Result<Record> record_from_json(const Json& document, std::string_view name) {
  const auto wrong = [&](const char* member, const char* problem) {
    return fail(diagnose("EH-M02").with("document", name).with("member", member).with("problem", problem));
  };
  if (document["format"].as_integer() != 1) return wrong("format", "is not 1");
  if (document["build"].as_string().empty()) return wrong("build", "is missing");
  Record record;
  record.build = document["build"].as_string();
  record.digest = document["digest"].as_string();
  record.artifacts_digest = document["artifacts_digest"].as_string();
  bool known = false;
  for (const State state : states)
    if (document["state"].as_string() == name_of(state)) {
      record.state = state;
      known = true;
    }
  if (!known) return wrong("state", "is not one this version knows");
  record.diagnosis = document["diagnosis"];
  for (const Json& part : document["host"].as_array())
    if (part.as_array().size() == 2)
      record.host.emplace_back(part.as_array()[0].as_string(), part.as_array()[1].as_string());
  for (const Json& one : document["witnesses"].as_array()) {
    DependencyStamp dependency;
    dependency.path = one["path"].as_string();
    dependency.present = one["present"].as_bool();
    if (const auto& stamp = one["stamp"].as_array(); stamp.size() == 4) {
      dependency.stamp.device = static_cast<std::uint64_t>(stamp[0].as_integer());
      dependency.stamp.inode = static_cast<std::uint64_t>(stamp[1].as_integer());
      dependency.stamp.size = static_cast<std::uint64_t>(stamp[2].as_integer());
      dependency.stamp.modified_ns = stamp[3].as_integer();
    } else if (dependency.present) {
      return wrong("witnesses", "has no stamp");
    }
    record.dependency_stamps.push_back(std::move(dependency));
  }
  record.first_seen = document["first_seen"].as_integer();
  record.last_seen = document["last_seen"].as_integer();
  record.retry_after = document["retry_after"].as_integer();
  record.count = static_cast<int>(document["count"].as_integer());
  record.strikes = document["strikes"].as_number();
  record.program = document["program"].as_string();
  record.boot = document["boot"].as_string();
  record.facts = document["facts"];
  return record;
}

}  // namespace enginehost::history
