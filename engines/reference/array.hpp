// A growing array for a plugin that links only libc: no exceptions; append() returns whether it worked.
#pragma once
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace enginehost::engines::reference {

// Elements are moved with memcpy. Not copyable.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { std::free(data_); }
  // Returns false when memory is exhausted; the array is then unchanged.
  [[nodiscard]] bool append(const T& value) {
    if (size_ == room_) {
      size_t room = room_ == 0 ? 8 : room_ * 2;
      auto* grown = static_cast<T*>(std::realloc(static_cast<void*>(data_), room * sizeof(T)));
      if (grown == nullptr) return false;
      data_ = grown;
      room_ = room;
    }
    data_[size_++] = value;
    return true;
  }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  size_t size_ = 0, room_ = 0;
};

}  // namespace enginehost::engines::reference
