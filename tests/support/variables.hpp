// Changes this process's environment, for tests of what is read from it. While no other thread looks.
#pragma once
#include <string>

namespace enginehost::test {

void set_variable(const char* name, const std::string& value);
void remove_variable(const char* name);

}  // namespace enginehost::test
