// <windows.h> without its rarely used parts, handles, and what starts a child process.
#pragma once
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <string>
#include <string_view>
#include <vector>

namespace enginehost::windows {

// Owns a handle; closed on destruction.
class Handle {
 public:
  Handle() = default;
  explicit Handle(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      close();
      handle_ = other.release();
    }
    return *this;
  }
  ~Handle() { close(); }
  HANDLE get() const { return handle_; }
  bool valid() const { return handle_ != nullptr; }
  HANDLE release() {
    const HANDLE handle = handle_;
    handle_ = nullptr;
    return handle;
  }
  void close() {
    if (handle_ != nullptr) ::CloseHandle(handle_);
    handle_ = nullptr;
  }

 private:
  HANDLE handle_ = nullptr;
};

// Returns a command line that the C runtime of the child splits into these arguments ("Parsing C command-line
// arguments" of Microsoft's C++ documentation). argv[0] must not contain a quotation mark.
std::wstring command_line(const std::vector<std::string>& argv);

// Returns this process's environment with the changes ("NAME=value", "NAME" removes), as CreateProcess takes
// it.
std::wstring environment_block(const std::vector<std::string>& changes);

// Returns a path as it is and looks up a plain name in PATH, with ".exe" if it has no extension. Empty if not
// found. The current folder is not searched, although CreateProcess would search it before PATH.
std::wstring find_program(std::string_view name);

}  // namespace enginehost::windows
