#include "host/history/program.hpp"

#include "base/process.hpp"

namespace enginehost::history {

const std::string& program_id() {
  static const std::string& id = *new std::string(read_program_id());
  return id;
}

const std::string& boot_id() {
  static const std::string& id = *new std::string(enginehost::boot_id());
  return id;
}

}  // namespace enginehost::history
