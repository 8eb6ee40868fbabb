// The floor of every command: a dynamic C++ program that does nothing.
#include <string>

int main(int argc, char** argv) { return std::string(argv[argc - 1]).empty() ? 1 : 0; }
