// Result<T> holds a T or a Diagnosis. No function of EngineHost that returns one throws.
#pragma once
#include <tl/expected.hpp>
#include <utility>

#include "base/diagnosis.hpp"

namespace enginehost {

template <class T>
using Result = tl::expected<T, Diagnosis>;

[[gnu::cold]] inline tl::unexpected<Diagnosis> fail(Diagnosis diagnosis) {
  return tl::unexpected<Diagnosis>(std::move(diagnosis));
}

#define ENGINEHOST_JOIN2(a, b) a##b
#define ENGINEHOST_JOIN(a, b) ENGINEHOST_JOIN2(a, b)

// TRY(expression): returns the diagnosis from the function if the Result<void> holds one.
#define TRY(...)                                                           \
  do {                                                                     \
    auto enginehost_result = (__VA_ARGS__);                                \
    if (!enginehost_result) return ::enginehost::fail(std::move(enginehost_result).error()); \
  } while (false)

// TRY_ASSIGN(auto value, expression): assigns the value of a Result, or returns its diagnosis from the function.
#define TRY_ASSIGN(target, ...) \
  TRY_ASSIGN_NAMED(ENGINEHOST_JOIN(enginehost_result_, __LINE__), target, __VA_ARGS__)
#define TRY_ASSIGN_NAMED(name, target, ...)                         \
  auto name = (__VA_ARGS__);                                        \
  if (!name) return ::enginehost::fail(std::move(name).error());    \
  target = std::move(*name)

}  // namespace enginehost
