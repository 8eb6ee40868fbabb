#include "host/load/in_process/kept.hpp"

#include <cstdio>
#include <string>
#include <utility>

namespace enginehost::load {
namespace {

std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "%04x", value);
  return text;
}

}  // namespace

std::vector<Diagnosis> Kept::put_back() {
  std::vector<Diagnosis> told;
  if (const std::uint32_t now = floating_point_mode(); now != mode_)
    told.push_back(std::move(diagnose("EH-R08")
                                 .with("before", hexadecimal(mode_), "MXCSR")
                                 .with("after", hexadecimal(now), "MXCSR")));
  if (const std::uint16_t now = x87_mode(); now != x87_)
    told.push_back(std::move(diagnose("EH-R09")
                                 .with("changed", "the control word of the x87 unit")
                                 .with("before", hexadecimal(x87_))
                                 .with("after", hexadecimal(now))));
  floating_point_.put_back();
  put_back_of_system(told);
  return told;
}

}  // namespace enginehost::load
