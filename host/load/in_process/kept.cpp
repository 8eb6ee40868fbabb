#include "host/load/in_process/kept.hpp"

#include <utility>

namespace enginehost::load {

std::vector<Diagnosis> Kept::put_back() {
  std::vector<Diagnosis> told;
  if (const std::uint32_t now = floating_point_mode(); now != floating_point_.mode())
    told.push_back(std::move(diagnose("EH-R08")
                                 .with("before", hexadecimal(floating_point_.mode()), "MXCSR")
                                 .with("after", hexadecimal(now), "MXCSR")));
  if (const std::uint16_t now = x87_mode(); now != floating_point_.x87())
    told.push_back(std::move(diagnose("EH-R09")
                                 .with("changed", "the control word of the x87 unit")
                                 .with("before", hexadecimal(floating_point_.x87()))
                                 .with("after", hexadecimal(now))));
  floating_point_.put_back();
  put_back_of_system(told);
  return told;
}

}  // namespace enginehost::load
