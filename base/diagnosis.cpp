#include "base/diagnosis.hpp"

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/file_calls.hpp"
#include "base/file_system.hpp"
#include "base/system_errors.hpp"
#include "base/text.hpp"

namespace enginehost {

Diagnosis& Diagnosis::with(Key what, std::string_view value, std::string_view source) {
  evidence.push_back({what, without_passwords(value), without_passwords(source), {}});
  return *this;
}

Diagnosis& Diagnosis::with(Key what, Code value, std::string_view source) {
  return with(what, text_of(value), source);
}

Diagnosis& Diagnosis::with_named(std::string_view name, std::string_view value, std::string_view source) {
  const auto key = key_named(name);
  with(key.value_or(Key::unlisted), value, source);
  if (!key) evidence.back().other_name = name;
  return *this;
}

Diagnosis& Diagnosis::within(std::string_view what_was_being_done) {
  context.push_back(without_passwords(what_was_being_done));
  return *this;
}

std::string_view Diagnosis::value(Key what) const {
  for (const Evidence& fact : evidence)
    if (fact.what == what) return fact.value;
  return {};
}

std::vector<std::string> Diagnosis::values(Key what) const {
  std::vector<std::string> found;
  for (const Evidence& fact : evidence)
    if (fact.what == what) found.push_back(fact.value);
  return found;
}

Diagnosis diagnose(Code code) {
  Diagnosis diagnosis;
  diagnosis.code = code;
  return diagnosis;
}

Diagnosis diagnosis_named(std::string_view code) {
  Diagnosis diagnosis = diagnose(code_named(code));
  if (diagnosis.code == Code::unknown) diagnosis.unknown_code = code;
  return diagnosis;
}

Diagnosis diagnose_errno(Code code, int error_number) {
  const bool of_a_library = area_of(code) == Area::linking;
  const bool no_descriptor = (error_number == EMFILE || error_number == ENFILE) && !of_a_library;
  Diagnosis diagnosis = diagnose(no_descriptor ? Code::too_many_open_files : code);
  diagnosis.with(Key::errno_, error_name(error_number)).with(Key::os_said, error_text(error_number));
  if (error_number == EFBIG)
    if (const std::uint64_t limit = file_size_limit(); limit != UINT64_MAX)
      diagnosis.with(Key::limit, std::to_string(limit), "RLIMIT_FSIZE");
  return diagnosis;
}

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
