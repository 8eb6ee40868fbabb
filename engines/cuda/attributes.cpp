#include "engines/cuda/attributes.hpp"

#include <cerrno>
#include <cstdlib>

namespace enginehost::engines::cuda {

void Attributes::refuse(const char* key, const std::string& why) const {
  call_->detail(call_, "operation", operation_);
  call_->detail(call_, "option", key);
  throw Failure{ENGINE_INVALID, why};
}

void Attributes::allow(std::initializer_list<const char*> known) const {
  for (size_t i = 0; i < count_; i++) {
    bool found = false;
    for (const char* name : known) found = found || std::strcmp(name, entries_[i].key) == 0;
    if (found) continue;
    refuse(entries_[i].key,
           std::string(operation_) + " has no attribute \"" + entries_[i].key + "\" in ONNX opset 13.");
  }
}

std::vector<int64_t> Attributes::integers(const char* key, std::vector<int64_t> otherwise,
                                          size_t count) const {
  const char* given = text(key);
  if (given == nullptr) return otherwise;
  std::vector<int64_t> out;
  const char* at = given;
  bool readable = true, more = true;
  while (readable && more) {
    char* end = nullptr;
    errno = 0;
    out.push_back(std::strtoll(at, &end, 10));
    readable = end != at && errno == 0;
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

}  // namespace enginehost::engines::cuda
