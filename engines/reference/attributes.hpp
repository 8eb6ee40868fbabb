// ONNX attributes as text in the form of engine.op/1: "2,2" is a list of integers.
#pragma once
#include "engines/support/text.hpp"

namespace enginehost::engines::reference {

constexpr size_t longest_list = 8;

struct IntegerList {
  int64_t values[longest_list];
  size_t count;
};

// The attributes of one operation. Borrows the entries and the text in them.
class Attributes {
 public:
  Attributes(const engine_entry* entries, size_t count) : entries_(entries), count_(count) {}
  // nullptr when the attribute was not given.
  const char* find(const char* key) const { return find_entry(entries_, count_, key); }
  // Refuses attributes that are not in `known`, a list that ends with nullptr, so that a misspelled name is
  // noticed.
  engine_status allow(const char* operation, const char* const* known, engine_call* call) const;
  // Leaves `out` unchanged when the attribute was not given.
  engine_status integer(const char* key, int64_t& out, engine_call* call) const;
  engine_status integers(const char* key, IntegerList& out, engine_call* call) const;

 private:
  const engine_entry* entries_;
  size_t count_;
};

// Reads a decimal integer and moves `at` past it; false when there is none or it does not fit.
bool read_integer(const char*& at, int64_t& out);

}  // namespace enginehost::engines::reference
