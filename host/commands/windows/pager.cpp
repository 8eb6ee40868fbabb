#include "host/commands/pager.hpp"

#include <io.h>

#include <cstdio>

#include "base/environment.hpp"
#include "base/printable.hpp"
#include "base/windows/wide.hpp"
#include "host/commands/terminal.hpp"

namespace enginehost::commands {

bool show_in_pager(const std::string& text, bool on_output) {
  if (!is_terminal(standard_input) || !is_terminal(standard_error)) return false;
  if (on_output && !is_terminal(::_fileno(stdout))) return false;
  const std::string command = environment_variable("PAGER").value_or("");
  if (command.empty()) return false;
  std::fflush(stdout);
  std::FILE* const pipe = ::_wpopen(windows::wide(command + " 1>&2").c_str(), L"wb");
  if (pipe == nullptr) return false;
  const std::string shown = printable(text) + "\n";
  std::fwrite(shown.data(), 1, shown.size(), pipe);
  return ::_pclose(pipe) != -1;
}

}  // namespace enginehost::commands
