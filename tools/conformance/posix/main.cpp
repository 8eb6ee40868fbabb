#include "tools/conformance/command.hpp"

int main(int count, char** words) { return engineplugin::check_command(count, words); }
