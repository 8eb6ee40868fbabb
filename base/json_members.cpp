#include "base/json_members.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/json_place.hpp"
#include "base/text.hpp"

namespace enginehost {

std::string nearest_or_none(std::string_view word, const std::vector<std::string>& known) {
  return nearest(word, known).value_or("");
}

namespace {

Diagnosis at(const JsonText& text, TextPlace place) {
  return std::move(diagnose(text.code)
                       .with(Key::file, text.file)
                       .with(Key::line, std::to_string(place.line))
                       .with(Key::column, std::to_string(place.column)));
}

}  // namespace

void JsonText::refuse(const std::string& member, std::string_view problem, std::string_view nearest) {
  if (mistake) return;
  mistake = at(*this, place_of_member(text, member));
  mistake->with(Key::member, member.empty() ? whole : member).with(Key::problem, problem);
  if (!nearest.empty()) mistake->with(Key::nearest, nearest);
}

Diagnosis JsonText::unreadable(const Diagnosis& error) const {
  std::string_view problem = error.value(Key::problem);
  // It counts columns in another way.
  if (const std::size_t end = problem.find(": ");
      problem.starts_with("parse error at ") && end != problem.npos)
    problem.remove_prefix(end + 2);
  return std::move(at(*this, place_of_mistake(text, error)).with(Key::problem, problem));
}

JsonMembers::JsonMembers(JsonText& text, const Json& object, std::string place,
                         const std::vector<std::string>& known, UnknownMembers unknown)
    : text_(text), object_(object), place_(std::move(place)) {
  if (!object.is_object())
    text_.refuse(place_, std::string("it is ") + object.type_name() + ", and an object is needed");
  std::vector<std::string> missing;
  std::ranges::copy_if(known, std::back_inserter(missing),
                       [&](const std::string& name) { return object.find(name) == nullptr; });
  for (const auto& [name, value] : object.as_object()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const auto meant = unknown == UnknownMembers::kept ? nearest(name, missing, 2) : nearest(name, known);
    if (meant || unknown == UnknownMembers::refused)
      text_.refuse(place_of(name), "there is no such member", meant.value_or(""));
  }
}

std::string JsonMembers::place_of(std::string_view name) const {
  return place_.empty() ? std::string(name) : place_ + "." + std::string(name);
}

const Json* JsonMembers::find(std::string_view name, bool required, bool (Json::*is_kind)() const,
                              std::string_view wanted) {
  const Json* const value = object_.find(name);
  if (value == nullptr) {
    if (required) text_.refuse(place_of(name), "it is missing");
    return nullptr;
  }
  if ((value->*is_kind)()) return value;
  text_.refuse(place_of(name),
               std::string("it is ") + value->type_name() + ", and " + std::string(wanted) + " is needed");
  return nullptr;
}

void JsonMembers::text(std::string_view name, std::string& target, bool required) {
  const Json* const value = find(name, required, &Json::is_string, "a text");
  if (value == nullptr) return;
  target = value->as_string();
  if (required && target.empty()) text_.refuse(place_of(name), "it is empty");
}

void JsonMembers::texts(std::string_view name, std::vector<std::string>& target) {
  each(name, false, [&](const Json& value, const std::string& place) {
    if (!value.is_string() || value.as_string().empty())
      text_.refuse(place, std::string("it is ") + value.type_name() + ", and a text is needed");
    target.push_back(value.as_string());
  });
}

void JsonMembers::number(std::string_view name, std::int64_t least, std::int64_t most, int& target) {
  const Json* const value = whole_number(name, false);
  if (value == nullptr) return;
  const std::int64_t number = value->as_integer();
  if (number < least || number > most)
    text_.refuse(place_of(name), std::to_string(number) + " is not from " + std::to_string(least) + " to " +
                                     std::to_string(most));
  target = static_cast<int>(std::clamp(number, least, most));
}

const Json* JsonMembers::whole_number(std::string_view name, bool required) {
  return find(name, required, &Json::is_integer, "a whole number");
}

const Json* JsonMembers::object(std::string_view name, bool required) {
  return find(name, required, &Json::is_object, "an object");
}

void JsonMembers::each(std::string_view name, bool required,
                       const std::function<void(const Json&, const std::string&)>& take) {
  const Json* const value = find(name, required, &Json::is_array, "a list");
  if (value == nullptr) return;
  std::size_t index = 0;
  for (const Json& element : value->as_array())
    take(element, place_of(name) + "[" + std::to_string(index++) + "]");
}

}  // namespace enginehost
