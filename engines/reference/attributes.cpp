#include "engines/reference/attributes.hpp"

namespace enginehost::engines::reference {

bool read_integer(const char*& at, int64_t& out) {
  const char* next = at;
  bool negative = *next == '-';
  if (negative || *next == '+') next++;
  if (*next < '0' || *next > '9') return false;
  int64_t value = 0;
  for (; *next >= '0' && *next <= '9'; next++) {
    if (__builtin_mul_overflow(value, int64_t{10}, &value) ||
        __builtin_add_overflow(value, int64_t{*next - '0'}, &value)) {
      return false;
    }
  }
  out = negative ? -value : value;
  at = next;
  return true;
}

engine_status Attributes::allow(const char* operation, const char* const* known, engine_call* call) const {
  for (size_t i = 0; i < count_; i++) {
    const char* const* name = known;
    while (*name != nullptr && std::strcmp(*name, entries_[i].key) != 0) name++;
    if (*name != nullptr) continue;
    call->detail(call, "operation", operation);
    call->detail(call, "option", entries_[i].key);
    return refuse(call, ENGINE_INVALID, "reference",
                  Text{} << operation << " has no attribute \"" << entries_[i].key << "\" in ONNX opset 13.");
  }
  return ENGINE_OK;
}

engine_status Attributes::integers(const char* key, IntegerList& out, engine_call* call) const {
  const char* text = find(key);
  if (text == nullptr) return ENGINE_OK;
  IntegerList list = {};
  const char* at = text;
  for (;;) {
    while (*at == ' ') at++;
    if (list.count == longest_list || !read_integer(at, list.values[list.count])) break;
    list.count++;
    while (*at == ' ') at++;
    if (*at == '\0') {
      out = list;
      return ENGINE_OK;
    }
    if (*at++ != ',') break;
  }
  call->detail(call, "option", key);
  return refuse(
      call, ENGINE_INVALID, "reference",
      Text{} << "The attribute \"" << key << "\" is \"" << text << "\", not integers such as \"2,2\".");
}

engine_status Attributes::integer(const char* key, int64_t& out, engine_call* call) const {
  IntegerList list = {{out}, 1};
  if (engine_status status = integers(key, list, call)) return status;
  if (list.count == 1) {
    out = list.values[0];
    return ENGINE_OK;
  }
  call->detail(call, "option", key);
  return refuse(call, ENGINE_INVALID, "reference",
                Text{} << "The attribute \"" << key << "\" is one integer.");
}

}  // namespace enginehost::engines::reference
