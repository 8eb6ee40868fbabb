// Raises a sentinel below the given state folder, as a process does before it loads a build.
#include "host/history/sentinel.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return enginehost::history::Sentinel::raise(argv[1], "b", "d1", "dlopen") ? 0 : 1;
}
