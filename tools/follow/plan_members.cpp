#include "tools/follow/plan_members.hpp"

#include <algorithm>
#include <utility>

#include "base/json_place.hpp"
#include "base/text.hpp"

namespace enginehost::follow {

std::string nearest_or_none(std::string_view word, const std::vector<std::string>& known) {
  return nearest(word, known).value_or("");
}

void PlanText::refuse(const std::string& member, std::string_view problem, std::string_view nearest) {
  if (mistake) return;
  const TextPlace place = place_of_member(text, member);
  mistake = diagnose("EH-M18")
                .with("file", file)
                .with("line", std::to_string(place.line))
                .with("column", std::to_string(place.column));
  mistake->with("member", member.empty() ? "the whole plan" : member).with("problem", problem);
  if (!nearest.empty()) mistake->with("nearest", nearest);
}

PlanMembers::PlanMembers(PlanText& plan, const Json& object, std::string place,
                         std::vector<std::string> known)
    : plan_(plan), object_(object), place_(std::move(place)) {
  if (!object.is_object())
    plan_.refuse(place_, std::string("it is ") + object.type_name() + ", and an object is needed");
  for (const auto& [name, value] : object.as_object())
    if (std::find(known.begin(), known.end(), name) == known.end())
      plan_.refuse(place_of(name), "a plan has no such member there", nearest_or_none(name, known));
}

std::string PlanMembers::place_of(std::string_view name) const {
  return place_.empty() ? std::string(name) : place_ + "." + std::string(name);
}

const Json* PlanMembers::find(std::string_view name, bool required, bool (Json::*is_kind)() const,
                              std::string_view wanted) {
  const Json* const value = object_.find(name);
  if (value == nullptr) {
    if (required) plan_.refuse(place_of(name), "it is missing");
    return nullptr;
  }
  if ((value->*is_kind)()) return value;
  plan_.refuse(place_of(name),
               std::string("it is ") + value->type_name() + ", and " + std::string(wanted) + " is needed");
  return nullptr;
}

void PlanMembers::text(std::string_view name, std::string& target, bool required) {
  const Json* const value = find(name, required, &Json::is_string, "a text");
  if (value == nullptr) return;
  target = value->as_string();
  if (required && target.empty()) plan_.refuse(place_of(name), "it is empty");
}

void PlanMembers::texts(std::string_view name, std::vector<std::string>& target) {
  each(name, false, [&](const Json& value, const std::string& place) {
    if (!value.is_string() || value.as_string().empty())
      plan_.refuse(place, std::string("it is ") + value.type_name() + ", and a text is needed");
    target.push_back(value.as_string());
  });
}

void PlanMembers::number(std::string_view name, std::int64_t least, std::int64_t most, int& target) {
  const Json* const value = find(name, false, &Json::is_integer, "a whole number");
  if (value == nullptr) return;
  const std::int64_t number = value->as_integer();
  if (number < least || number > most)
    plan_.refuse(place_of(name), std::to_string(number) + " is not from " + std::to_string(least) + " to " +
                                     std::to_string(most));
  target = static_cast<int>(std::clamp(number, least, most));
}

const Json* PlanMembers::object(std::string_view name, bool required) {
  return find(name, required, &Json::is_object, "an object");
}

void PlanMembers::each(std::string_view name, bool required,
                       const std::function<void(const Json&, const std::string&)>& take) {
  const Json* const value = find(name, required, &Json::is_array, "a list");
  if (value == nullptr) return;
  std::size_t index = 0;
  for (const Json& element : value->as_array())
    take(element, place_of(name) + "[" + std::to_string(index++) + "]");
}

}  // namespace enginehost::follow
