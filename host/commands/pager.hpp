// Long texts on a terminal.
#pragma once
#include <string>

namespace enginehost::commands {

// Shows a text in the pager of the terminal and waits until it ends. Returns false if there is no terminal or
// no pager; the caller then prints the text. `on_output`: standard output must be a terminal, too, because
// the caller prints there.
//
// The pager is the command in PAGER, else less, which ends at once if the text fits the screen, else more. On
// Windows, and with TERM=dumb, only PAGER counts. For the main thread.
bool show_in_pager(const std::string& text, bool on_output = false);

}  // namespace enginehost::commands
