#include "base/json.hpp"

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <streambuf>
#include <utility>

namespace enginehost {
namespace {

using Library = nlohmann::ordered_json;

// The text as a stream that knows how much was read, because the library reports only the positions of its
// own errors.
class TextStream : private std::streambuf, public std::istream {
 public:
  explicit TextStream(std::string_view text) : std::istream(static_cast<std::streambuf*>(this)) {
    char* const begin = const_cast<char*>(text.data());  // only read
    setg(begin, begin, begin + text.size());
  }
  std::size_t position() const { return static_cast<std::size_t>(gptr() - eback()); }
};

// The library names the last token, which may be as long as the document. Cuts between characters of UTF-8.
std::string shortened(std::string problem) {
  constexpr std::size_t most = 300;
  if (problem.size() <= most) return problem;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(problem[end]) & 0xc0) == 0x80) --end;
  problem.resize(end);
  return problem + "…";
}

// Builds a Json from the library's events and refuses what a lenient reader would accept.
class SaxReader : public nlohmann::json_sax<Library> {
 public:
  explicit SaxReader(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return place(Json()); }
  bool boolean(bool value) override { return place(Json(value)); }
  bool number_integer(number_integer_t value) override {
    return place(Json(static_cast<std::int64_t>(value)));
  }
  bool number_unsigned(number_unsigned_t value) override {
    if (keeps_values() && value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max()))
      return refuse("the integer " + std::to_string(value) + " is larger than 9223372036854775807");
    return place(Json(static_cast<std::int64_t>(value)));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (!keeps_values()) return place(Json(value));
    if (!std::isfinite(value)) return refuse("the number " + text + " is out of range");
    // The library delivers integers beyond 64 bits as floats; they are not silently rounded here.
    if (text.find_first_of(".eE") == string_t::npos)
      return refuse("the integer " + text + " needs more than 64 bits");
    return place(Json(value));
  }
  bool string(string_t& value) override { return place(Json(std::move(value))); }
  bool binary(binary_t&) override { return refuse("binary values are not JSON"); }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool key(string_t& name) override {
    if (!open_.back().names.insert(name).second) return refuse("the member \"" + name + "\" occurs twice");
    open_.back().key = std::move(name);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t, const std::string& token, const Library::exception& error) override {
    if (error.id == 406) return refuse("the number " + token + " is out of range");
    // "[json.exception.parse_error.101] parse error at ...": the prefix means nothing to users.
    const std::string_view said = error.what();
    const std::size_t name_end = said.find("] ");
    return refuse(std::string(said.substr(name_end == std::string_view::npos ? 0 : name_end + 2)));
  }

  std::string problem;
  Json document;

 protected:
  struct Level {
    Json value;
    std::string key;
    std::set<std::string, std::less<>> names;
  };

  // Returns false within a part of the document that is skipped: only its syntax and depth are checked.
  virtual bool keeps_values() const { return true; }

  bool refuse(std::string why) {
    if (problem.empty()) problem = shortened(std::move(why));
    return false;
  }
  bool count() {
    return ++values_ <= limits_.values ||
           refuse("it has more than " + std::to_string(limits_.values) + " values, which is the limit");
  }
  virtual bool place(Json value) {
    if (!count()) return false;
    if (open_.empty()) {
      document = std::move(value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push(std::move(value));
    } else {
      // key() has already refused duplicates, so the member is appended without a search.
      const_cast<Json::Object&>(open_.back().value.as_object())
          .emplace_back(std::move(open_.back().key), std::move(value));
    }
    return true;
  }
  virtual bool open(Json value) {
    if (open_.size() >= limits_.depth)
      return refuse("nested deeper than " + std::to_string(limits_.depth) + " levels");
    open_.push_back({std::move(value), {}, {}});
    return true;
  }
  bool close() {
    Json value = std::move(open_.back().value);
    open_.pop_back();
    return place(std::move(value));
  }

  JsonLimits limits_;
  std::size_t values_ = 0;
  std::vector<Level> open_;
};

// Builds the elements of one array of the document, one at a time, and skips the rest.
class ArrayReader : public SaxReader {
 public:
  ArrayReader(std::string_view member, const std::function<void(const Json&)>& take,
              const JsonArrayLimits& limits)
      : SaxReader({limits.bytes, limits.depth, limits.values}),
        member_(member),
        take_(take),
        most_(limits.elements) {}

  bool key(string_t& name) override {
    if (keeps_values()) return SaxReader::key(name);
    if (open_.size() != 1) return true;
    if (name == member_ && std::exchange(found_, true))
      return refuse("the member \"" + name + "\" occurs twice");
    open_.back().key = std::move(name);
    return true;
  }

 private:
  // Within the array, or one of its elements.
  bool keeps_values() const override {
    return open_.size() > 1 && open_[1].value.is_array() && open_[0].key == member_;
  }
  bool open(Json value) override {
    if (open_.empty() && !value.is_object()) return refuse("it is not an object");
    return SaxReader::open(std::move(value));
  }
  bool place(Json value) override {
    if (open_.empty() && !value.is_object()) return refuse("it is not an object");
    if (!keeps_values()) return true;
    if (open_.size() > 2) return SaxReader::place(std::move(value));
    if (!count()) return false;
    if (++elements_ > most_)
      return refuse("\"" + std::string(member_) + "\" has more than " + std::to_string(most_) +
                    " elements, which is the limit");
    take_(value);
    values_ = 0;
    return true;
  }

  std::string_view member_;
  const std::function<void(const Json&)>& take_;
  const std::size_t most_;
  std::size_t elements_ = 0;
  bool found_ = false;
};

tl::unexpected<Diagnosis> not_json(std::string_view name, std::string_view problem,
                                   std::optional<std::size_t> position = {}) {
  Diagnosis diagnosis = diagnose(Code::not_json).with(Key::document, name).with(Key::problem, problem);
  if (position) diagnosis.with(Key::position, std::to_string(*position));
  return fail(std::move(diagnosis));
}

Result<void> read_events(std::string_view text, std::string_view name, std::size_t limit, SaxReader& reader) {
  if (text.size() > limit)
    return not_json(
        name, "it is " + std::to_string(text.size()) + " bytes long; the limit is " + std::to_string(limit));
  // The library takes a NUL byte between tokens for the end and would ignore the rest.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos)
    return not_json(name, "it contains a NUL byte", nul);
  TextStream stream(text);
  if (!Library::sax_parse(stream, &reader)) return not_json(name, reader.problem, stream.position());
  return {};
}

// Returns where a string longer than the limit begins. The library would hold it several times before its
// event.
std::optional<std::size_t> long_string(std::string_view text, std::size_t limit) {
  for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at)) {
    const std::size_t start = ++at;
    while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    if (std::min(at, text.size()) - start > limit) return start;
    ++at;
  }
  return {};
}

Library to_library(const Json& value) {
  if (value.is_bool()) return value.as_bool();
  if (value.is_integer()) return value.as_integer();
  if (value.is_number()) return value.as_number();
  if (value.is_string()) return value.as_string();
  if (value.is_array()) {
    Library out = Library::array();
    for (const Json& element : value.as_array()) out.push_back(to_library(element));
    return out;
  }
  if (value.is_object()) {
    Library out = Library::object();
    for (const auto& [name, member] : value.as_object()) out[name] = to_library(member);
    return out;
  }
  return nullptr;
}

// Never destroyed, like those below, because threads may still read documents while the process ends.
const Json& null_value() {
  static const Json& value = *new Json;
  return value;
}

}  // namespace

Json Json::strings(const std::vector<std::string>& values) {
  Json out = array();
  for (const std::string& value : values) out.push(value);
  return out;
}

const char* Json::type_name() const {
  static constexpr const char* names[] = {"null",   "boolean", "integer", "number",
                                          "string", "array",   "object"};
  return names[value_.index()];
}

bool Json::as_bool(bool fallback) const {
  const bool* held = std::get_if<bool>(&value_);
  return held != nullptr ? *held : fallback;
}

std::int64_t Json::as_integer(std::int64_t fallback) const {
  const std::int64_t* held = std::get_if<std::int64_t>(&value_);
  return held != nullptr ? *held : fallback;
}

double Json::as_number(double fallback) const {
  if (const double* held = std::get_if<double>(&value_)) return *held;
  if (const std::int64_t* held = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*held);
  return fallback;
}

const std::string& Json::as_string() const {
  static const std::string& none = *new std::string;
  const std::string* held = std::get_if<std::string>(&value_);
  return held != nullptr ? *held : none;
}

const Json::Array& Json::as_array() const {
  static const Array& none = *new Array;
  const Array* held = std::get_if<Array>(&value_);
  return held != nullptr ? *held : none;
}

const Json::Object& Json::as_object() const {
  static const Object& none = *new Object;
  const Object* held = std::get_if<Object>(&value_);
  return held != nullptr ? *held : none;
}

const Json* Json::find(std::string_view name) const {
  for (const auto& [member, value] : as_object())
    if (member == name) return &value;
  return nullptr;
}

const Json& Json::operator[](std::string_view name) const {
  const Json* found = find(name);
  return found != nullptr ? *found : null_value();
}

Json& Json::set(std::string_view name, Json value) {
  if (!is_object()) value_ = Object{};
  Object& members = std::get<Object>(value_);
  for (auto& [member, held] : members)
    if (member == name) {
      held = std::move(value);
      return *this;
    }
  members.emplace_back(std::string(name), std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  if (!is_array()) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
  return *this;
}

std::string Json::dump(int indent) const {
  return to_library(*this).dump(indent, ' ', false, Library::error_handler_t::replace);
}

Result<Json> parse_json(std::string_view text, std::string_view name, const JsonLimits& limits) {
  SaxReader reader(limits);
  TRY(read_events(text, name, limits.bytes, reader));
  return std::move(reader.document);
}

Result<void> read_json_array(std::string_view text, std::string_view name, std::string_view member,
                             const std::function<void(const Json&)>& take, const JsonArrayLimits& limits) {
  if (text.size() <= limits.bytes)
    if (const auto position = long_string(text, limits.string))
      return not_json(
          name,
          "a string in it is longer than " + std::to_string(limits.string) + " bytes, which is the limit",
          position);
  ArrayReader reader(member, take, limits);
  return read_events(text, name, limits.bytes, reader);
}

}  // namespace enginehost
