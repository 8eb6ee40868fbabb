// Compares libraries that were published for Windows and macOS, fetched through pip, with the same oracles.
// The suite's instantiation lists the wheels.
#pragma once
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "host/binary/binary.hpp"
#include "tests/binary/oracle_macho.hpp"
#include "tests/binary/oracle_pe.hpp"

namespace enginehost::binary::oracle {

struct Wheel {
  const char* project;
  const char* version;
  const char* platform;
  std::size_t libraries;  // at least; each slice of a universal file counts
};
std::ostream& operator<<(std::ostream& out, const Wheel& wheel);
// PROJECT_VERSION_PLATFORM, with letters, digits and underscores.
std::string name_of_test(const testing::TestParamInfo<Wheel>& wheel);

class OracleWheels : public testing::TestWithParam<Wheel> {
 protected:
  void SetUp() override;
  void compare_macho(const std::string& file, const BinaryInfo& info);
  void compare_windows(const std::vector<std::string>& files);

  MachoOracles oracles_;
  std::string folder_;
  Tally tally_;
};

}  // namespace enginehost::binary::oracle
