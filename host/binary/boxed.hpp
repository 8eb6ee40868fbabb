// A part of a value that most values of the kind do not have.
#pragma once
#include <memory>
#include <utility>

namespace enginehost::binary {

// Copied as a plain member would be, but a pointer wide: who does not have it pays nothing for it.
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

  // An empty part where there is none.
  const Part& operator*() const {
    static const Part& none = *new const Part{};  // read at any moment of the process, its end too
    return part_ ? *part_ : none;
  }
  const Part* operator->() const { return &**this; }
  // To write into; made when there is none.
  Part& fill() {
    if (!part_) part_ = std::make_unique<Part>();
    return *part_;
  }

 private:
  std::unique_ptr<Part> part_;
};

}  // namespace enginehost::binary
