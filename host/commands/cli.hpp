// Forward declarations of the command-line library, whose own headers are large.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
