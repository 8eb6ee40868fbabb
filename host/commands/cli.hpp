// The names of the command-line library for headers: only what defines or asks flags reads its own, which are
// large.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
