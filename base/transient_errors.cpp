#include "base/system_errors.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/file_calls.hpp"

namespace enginehost {
namespace {

constexpr int passing[] = {EMFILE, ENFILE, ENOMEM, EIO, ESTALE, ETIMEDOUT, EBUSY, EAGAIN, EINTR, ENOTCONN};

}  // namespace

bool is_transient(int error_number) {
  return std::find(std::begin(passing), std::end(passing), error_number) != std::end(passing);
}

bool is_transient(std::string_view name) {
  return std::any_of(std::begin(passing), std::end(passing),
                     [name](int number) { return name == error_name(number); });
}

}  // namespace enginehost
