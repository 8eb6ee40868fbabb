// Changes this process's environment, for tests of code that reads it. Not while another thread reads it.
#pragma once
#include <string>

namespace enginehost::test {

void set_variable(const char* name, const std::string& value);
void remove_variable(const char* name);

}  // namespace enginehost::test
