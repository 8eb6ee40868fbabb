// A resource limit of this process for the lifetime of an object.
#pragma once
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace enginehost::test {

// Sets the soft limit; the destructor restores the earlier one.
class Limit {
 public:
  using Resource = decltype(RLIMIT_STACK);
  Limit(Resource resource, rlim_t soft) : resource_(resource) {
    EXPECT_EQ(::getrlimit(resource_, &before_), 0);
    rlimit now = before_;
    now.rlim_cur = soft;
    EXPECT_EQ(::setrlimit(resource_, &now), 0);
  }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;
  ~Limit() { EXPECT_EQ(::setrlimit(resource_, &before_), 0); }

 private:
  Resource resource_;
  rlimit before_{};
};

}  // namespace enginehost::test
