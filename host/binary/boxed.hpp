// An optional part of a value, for parts that most values lack.
#pragma once
#include <memory>
#include <utility>

namespace enginehost::binary {

// Copied like a plain member, but only a pointer wide if absent.
template <class Part>
class Boxed {
 public:
  Boxed() = default;
  Boxed(const Boxed& other) : part_(other.part_ ? std::make_unique<Part>(*other.part_) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed other) noexcept {
    part_ = std::move(other.part_);
    return *this;
  }
  ~Boxed() = default;

  // Returns an empty part if there is none.
  const Part& operator*() const {
    static const Part& none = *new const Part{};  // never destroyed, for use during process exit
    return part_ ? *part_ : none;
  }
  const Part* operator->() const { return &**this; }
  // Returns the part for writing; creates it if there is none.
  Part& fill() {
    if (!part_) part_ = std::make_unique<Part>();
    return *part_;
  }

 private:
  std::unique_ptr<Part> part_;
};

}  // namespace enginehost::binary
