#include "host/load/in_process/process_state_guard.hpp"

#include <utility>

namespace enginehost::load {

std::vector<Diagnosis> ProcessStateGuard::restore() {
  std::vector<Diagnosis> reported;
  if (const std::uint32_t now = floating_point_mode(); now != floating_point_.mode())
    reported.push_back(std::move(diagnose("EH-R08")
                                     .with("before", hexadecimal(floating_point_.mode()), "MXCSR")
                                     .with("after", hexadecimal(now), "MXCSR")));
  if (const std::uint16_t now = x87_mode(); now != floating_point_.x87())
    reported.push_back(std::move(diagnose("EH-R09")
                                     .with("changed", "the control word of the x87 unit")
                                     .with("before", hexadecimal(floating_point_.x87()))
                                     .with("after", hexadecimal(now))));
  floating_point_.restore();
  restore_system(reported);
  return reported;
}

}  // namespace enginehost::load
