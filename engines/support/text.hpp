// Builds a short message without the C++ runtime library, so that a plugin can depend on libc alone.
#pragma once
#include <enginehost/engine_plugin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>

namespace enginehost::engines {

// Holds up to 511 bytes and cuts longer text, never within a UTF-8 character. Must not be shared between
// threads.
class Text {
 public:
  Text& operator<<(const char* text) {
    while (*text != '\0' && length_ + 1 < sizeof data_) data_[length_++] = *text++;
    if (*text != '\0') cut();
    data_[length_] = '\0';
    return *this;
  }
  Text& operator<<(int64_t number) {
    char digits[24];
    size_t at = sizeof digits;
    digits[--at] = '\0';
    uint64_t rest = number < 0 ? ~static_cast<uint64_t>(number) + 1 : static_cast<uint64_t>(number);
    do {
      digits[--at] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (number < 0) digits[--at] = '-';
    return *this << digits + at;
  }
  // Appends "[2,3]", the form of shapes in all messages; a size decided at run time is "?".
  Text& shape(int32_t ndim, const int64_t* sizes) {
    *this << "[";
    for (int32_t i = 0; i < ndim; i++) {
      if (i > 0) *this << ",";
      sizes[i] < 0 ? *this << "?" : *this << sizes[i];
    }
    return *this << "]";
  }
  Text& type(engine_dtype dtype) {
    if (dtype.code == ENGINE_STRING) return *this << "string";
    if (dtype.code == ENGINE_BOOL) return *this << "bool";
    const char* const names[] = {"int", "uint", "float", "type 3 of ", "bfloat", "complex"};
    if (dtype.code < sizeof names / sizeof *names) {
      *this << names[dtype.code];
    } else {
      *this << "type " << int64_t{dtype.code} << " of ";
    }
    return *this << int64_t{dtype.bits};
  }
  Text& device(engine_device device) {
    switch (device.type) {
      case ENGINE_CPU:
        *this << "cpu";
        break;
      case ENGINE_CUDA:
        *this << "cuda";
        break;
      case ENGINE_CUDA_HOST:
        *this << "cuda-host";
        break;
      case ENGINE_METAL:
        *this << "metal";
        break;
      case ENGINE_ROCM:
        *this << "rocm";
        break;
      default:
        *this << "device type " << int64_t{device.type};
    }
    return *this << ":" << int64_t{device.index};
  }
  const char* c_str() const { return data_; }

 private:
  void cut() {
    while (length_ > 0 && (static_cast<unsigned char>(data_[length_ - 1]) & 0xC0u) == 0x80u) length_--;
    if (length_ > 0 && static_cast<unsigned char>(data_[length_ - 1]) >= 0xC0u) length_--;
  }

  char data_[512] = {};
  size_t length_ = 0;
};

// Records why a call failed and returns `status`.
inline engine_status refuse(engine_call* call, engine_status status, const char* origin, const Text& text) {
  return call->fail(call, status, origin, 0, text.c_str());
}

// Looks up an option, fact or attribute; the last one of a name counts. nullptr when it was not given.
inline const char* find_entry(const engine_entry* entries, size_t count, const char* key) {
  for (size_t i = count; i > 0; i--) {
    if (std::strcmp(entries[i - 1].key, key) == 0) return entries[i - 1].value;
  }
  return nullptr;
}

// An option with a dot in its key belongs to one engine, and other engines must refuse it (engine_plugin.h).
inline bool is_private_option(const char* key) { return std::strchr(key, '.') != nullptr; }

// Returns the first option that belongs to one engine and is not among `known`; nullptr when there is none.
inline const char* unknown_option(const engine_entry* options, size_t count,
                                  std::initializer_list<const char*> known = {}) {
  for (size_t i = 0; i < count; i++) {
    bool found = !is_private_option(options[i].key);
    for (const char* name : known) found = found || std::strcmp(name, options[i].key) == 0;
    if (!found) return options[i].key;
  }
  return nullptr;
}

}  // namespace enginehost::engines
