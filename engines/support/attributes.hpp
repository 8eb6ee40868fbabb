// Attributes of an ONNX operation, as text, for adapters that throw their errors. Failure is the adapter's
// own type, an aggregate that begins with a status and a message.
#pragma once
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "engines/support/text.hpp"

namespace enginehost::engines {

template <class Failure>
class Attributes {
 public:
  Attributes(const char* operation, const engine_entry* entries, size_t count, engine_call* call)
      : operation_(operation), entries_(entries), count_(count), call_(call) {}

  // Throws a Failure (invalid) for an attribute that is not among `known`.
  void allow(std::initializer_list<const char*> known) const;
  // Returns integers as in "2,2", or `otherwise` when the attribute was not given. Throws a Failure (invalid)
  // for other text, or when `count` is not 0 and the number of integers differs.
  std::vector<int64_t> integers(const char* key, std::vector<int64_t> otherwise, size_t count = 0) const;
  int64_t integer(const char* key, int64_t otherwise) const { return integers(key, {otherwise}, 1)[0]; }
  const char* text(const char* key) const { return find_entry(entries_, count_, key); }

 private:
  [[noreturn]] void refuse(const char* key, const std::string& why) const;

  const char* operation_;
  const engine_entry* entries_;
  size_t count_;
  engine_call* call_;
};

template <class Failure>
void Attributes<Failure>::refuse(const char* key, const std::string& why) const {
  call_->detail(call_, "operation", operation_);
  call_->detail(call_, "option", key);
  throw Failure{ENGINE_INVALID, why};
}

template <class Failure>
void Attributes<Failure>::allow(std::initializer_list<const char*> known) const {
  for (size_t i = 0; i < count_; i++) {
    bool found = false;
    for (const char* name : known) found = found || std::strcmp(name, entries_[i].key) == 0;
    if (found) continue;
    refuse(entries_[i].key,
           std::string(operation_) + " has no attribute \"" + entries_[i].key + "\" in ONNX opset 13.");
  }
}

template <class Failure>
std::vector<int64_t> Attributes<Failure>::integers(const char* key, std::vector<int64_t> otherwise,
                                                   size_t count) const {
  const char* given = text(key);
  if (given == nullptr) return otherwise;
  std::vector<int64_t> out;
  const char* at = given;
  bool readable = true, more = true;
  while (readable && more) {
    char* end = nullptr;
    errno = 0;
    while (*at == ' ') at++;
    const bool begins =
        *at == '-' || *at == '+' || (*at >= '0' && *at <= '9');  // strtoll would skip any white space
    out.push_back(std::strtoll(at, &end, 10));
    readable = begins && end != at && errno == 0;
    while (*end == ' ') end++;
    more = *end == ',';
    readable = readable && (more || *end == '\0');
    at = end + 1;
  }
  if (readable && (count == 0 || out.size() == count)) return out;
  refuse(key,
         std::string("The attribute \"") + key + "\" of " + operation_ + " is \"" + given + "\", not " +
             (count == 0 ? std::string("integers such as \"2,2\"") : std::to_string(count) + " integers") +
             ".");
}

}  // namespace enginehost::engines
