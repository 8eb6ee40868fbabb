// Reads the members of a JSON file that a person may have written; the first mistake is kept with its place
// in the text.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnosis.hpp"
#include "base/json.hpp"

namespace enginehost {

// One file that is read. One thread.
struct JsonText {
  std::string file, text;
  Code code = Code::none;               // of a mistake, which has "file", "line", "column", "member", "problem", "nearest"
  std::string_view whole;  // the file as a member: "the whole plan"
  std::optional<Diagnosis> mistake;

  // Keeps the first mistake only. `nearest`: a known name that is like the one given, or "".
  void refuse(const std::string& member, std::string_view problem, std::string_view nearest = {});
  // Returns the mistake of a text that is no JSON. `error`: that of parse_json().
  Diagnosis unreadable(const Diagnosis& error) const;
};

// "nearest" of a message, or "".
std::string nearest_or_none(std::string_view word, const std::vector<std::string>& known);

enum class UnknownMembers {
  refused,
  kept,  // unless one looks like a known one that is missing
};

class JsonMembers {
 public:
  // Refuses a value that is no object.
  JsonMembers(JsonText& text, const Json& object, std::string place, const std::vector<std::string>& known,
              UnknownMembers unknown = UnknownMembers::refused);

  std::string place_of(std::string_view name) const;
  void text(std::string_view name, std::string& target, bool required = true);
  void texts(std::string_view name, std::vector<std::string>& target);
  void number(std::string_view name, std::int64_t least, std::int64_t most, int& target);
  // nullptr: it is not there, or it is of another kind and refused.
  const Json* whole_number(std::string_view name, bool required);
  const Json* object(std::string_view name, bool required);
  // Calls `take` with each element and its place.
  void each(std::string_view name, bool required,
            const std::function<void(const Json&, const std::string&)>& take);

 private:
  const Json* find(std::string_view name, bool required, bool (Json::*is_kind)() const,
                   std::string_view wanted);

  JsonText& text_;
  const Json& object_;
  std::string place_;
};

}  // namespace enginehost
