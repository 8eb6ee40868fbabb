// The names of the command-line library for headers: its own are a tenth of what a command takes to compile.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
