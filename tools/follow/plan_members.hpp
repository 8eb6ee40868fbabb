// Reads the members of a plan's objects; the first mistake is kept with its place in the text.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnosis.hpp"
#include "base/json.hpp"

namespace enginehost::follow {

// One plan file that is read. One thread.
struct PlanText {
  std::string file, text;
  std::optional<Diagnosis> mistake;  // EH-M18

  // Keeps the first mistake only. `nearest`: a known name that is like the one given, or "".
  void refuse(const std::string& member, std::string_view problem, std::string_view nearest = {});
};

// "nearest" of a message, or "".
std::string nearest_or_none(std::string_view word, const std::vector<std::string>& known);

class PlanMembers {
 public:
  PlanMembers(PlanText& plan, const Json& object, std::string place,
              std::vector<std::string> known);  // refuses a value that is no object, and unknown members

  std::string place_of(std::string_view name) const;
  void text(std::string_view name, std::string& target, bool required = true);
  void texts(std::string_view name, std::vector<std::string>& target);
  void number(std::string_view name, std::int64_t least, std::int64_t most, int& target);
  // nullptr: it is not there, or it is of another kind and refused.
  const Json* object(std::string_view name, bool required);
  // Calls `take` with each element and its place.
  void each(std::string_view name, bool required,
            const std::function<void(const Json&, const std::string&)>& take);

 private:
  const Json* find(std::string_view name, bool required, bool (Json::*is_kind)() const,
                   std::string_view wanted);

  PlanText& plan_;
  const Json& object_;
  std::string place_;
};

}  // namespace enginehost::follow
