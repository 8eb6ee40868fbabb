#include "host/commands/program.hpp"

int main(int argc, char** argv) {
  return enginehost::commands::ended(enginehost::commands::run_program(argc, argv));
}
