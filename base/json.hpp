// A JSON value, a strict reader and a writer. The parsing library is confined to json.cpp.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.hpp"

namespace enginehost {

// A JSON document or a part of one. Objects keep the order in which members were added, so that output is stable.
//
// Thread safety: a plain value with deep copies; const use from several threads is safe.
class Json {
 public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  Json() = default;  // null
  Json(std::nullptr_t) {}
  Json(bool value) : value_(value) {}
  Json(int value) : value_(static_cast<std::int64_t>(value)) {}
  Json(unsigned value) : value_(static_cast<std::int64_t>(value)) {}
  Json(std::int64_t value) : value_(value) {}
  Json(std::uint64_t value) : value_(static_cast<std::int64_t>(value)) {}
  Json(double value) : value_(value) {}
  Json(const char* value) : value_(std::string(value)) {}
  Json(std::string_view value) : value_(std::string(value)) {}
  Json(std::string value) : value_(std::move(value)) {}
  Json(Array value) : value_(std::move(value)) {}
  Json(Object value) : value_(std::move(value)) {}

  static Json array() { return Json(Array{}); }
  static Json object() { return Json(Object{}); }
  // An array of strings.
  static Json strings(const std::vector<std::string>& values);

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_bool() const { return std::holds_alternative<bool>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  const char* type_name() const;  // "object", "string", ... for messages

  // Each returns the held value, or the fallback (an empty value) for another type. They never throw.
  bool as_bool(bool fallback = false) const;
  std::int64_t as_integer(std::int64_t fallback = 0) const;
  double as_number(double fallback = 0) const;
  const std::string& as_string() const;
  const Array& as_array() const;
  const Object& as_object() const;

  // Returns the member of that name, or nullptr (also if this is not an object).
  const Json* find(std::string_view name) const;
  // Returns the member of that name, or a null value.
  const Json& operator[](std::string_view name) const;
  // Sets a member (the last one wins) and turns null into an object. Returns *this for chaining.
  Json& set(std::string_view name, Json value);
  // Appends an element and turns null into an array.
  Json& push(Json value);

  // Returns the document as UTF-8 text, on one line if indent < 0. Invalid bytes are replaced by U+FFFD.
  std::string dump(int indent = -1) const;

  bool operator==(const Json& other) const = default;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

struct JsonLimits {
  std::size_t bytes = 8u << 20;  // of the text
  std::size_t depth = 32;        // of nested arrays and objects
  // Members and elements together. A value of 2 bytes of text takes 40 to 150 bytes of memory. The densest document
  // that EngineHost reads, a manifest of 8 MiB that names files, has 220,000.
  std::size_t values = 500'000;
};

// Reads one document, strictly. Duplicate members, integers beyond 64 bits, numbers that overflow a double, trailing
// text, and documents that are too deep, too long or have too many values are errors. `name` (a path or URL) appears
// only in the diagnosis. Errors: EH-M01 with "document", "problem" and "position" (byte offset).
Result<Json> parse_json(std::string_view text, std::string_view name, const JsonLimits& limits = {});

struct JsonArrayLimits {
  std::size_t bytes = 64u << 20;   // of the text
  std::size_t elements = 200'000;  // of the array
  std::size_t string = 1u << 20;   // bytes of one string between its quotes
  std::size_t depth = 32;          // of nested arrays and objects
  std::size_t values = 1'000;      // of one element: members and elements together
};

// Reads a document that is an object, and passes each element of its array `member` to `take`, in order. Nothing else
// is kept, so the memory in use does not grow with the text. A member of another type, or none, is an empty array.
// Strict as parse_json() within the elements; outside of them only the syntax, the limits and a second `member` are
// checked. Elements before a mistake were already passed on. Errors: EH-M01 as parse_json().
Result<void> read_json_array(std::string_view text, std::string_view name, std::string_view member,
                             const std::function<void(const Json&)>& take, const JsonArrayLimits& limits = {});

}  // namespace enginehost
