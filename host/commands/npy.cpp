#include "host/commands/npy.hpp"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/load/in_process/model.hpp"

namespace enginehost::commands {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::uint64_t largest_array = std::uint64_t{16} << 30;
constexpr std::uint32_t longest_header = 1u << 20;  // NumPy reads 10000 bytes by default
static_assert(std::endian::native == std::endian::little, "'<' is copied as it lies in the file");

Diagnosis unusable(const std::filesystem::path& file, std::string_view problem,
                   std::string_view remedy = {}) {
  Diagnosis diagnosis =
      diagnose(Code::array_file_unusable).with(Key::file, path_text(file)).with(Key::problem, problem);
  if (!remedy.empty()) diagnosis.with(Key::remedy, remedy);
  return diagnosis;
}

const std::string uncountable = "more than 18446744073709551615";
constexpr std::string_view copy_again =
    "the file is not whole: copy it again, or save it again with numpy.save";

// Returns the remedy for an array of another type.
std::string conversion(std::string_view type) {
  if (type.find('O') != std::string_view::npos)
    return "an array of objects has no numbers: save one array for each, as array.astype('float32')";
  return "save it again as numbers: numpy.save(file, array.astype('float32')), or 'int64'";
}

struct NamedType {
  std::string_view name;
  std::uint8_t code, bits;
};
// The types that are read and written. Most other types of engines (int4, float8, several lanes) have no name
// in .npy, or a name that means something else.
constexpr NamedType types[] = {
    {"f2", ENGINE_FLOAT, 16},     {"f4", ENGINE_FLOAT, 32}, {"f8", ENGINE_FLOAT, 64},
    {"i1", ENGINE_INT, 8},        {"i2", ENGINE_INT, 16},   {"i4", ENGINE_INT, 32},
    {"i8", ENGINE_INT, 64},       {"u1", ENGINE_UINT, 8},   {"u2", ENGINE_UINT, 16},
    {"u4", ENGINE_UINT, 32},      {"u8", ENGINE_UINT, 64},  {"c8", ENGINE_COMPLEX, 64},
    {"c16", ENGINE_COMPLEX, 128}, {"b1", ENGINE_BOOL, 8}};

// Reads "<f4" and the like. The first character is the byte order: '<' little, '>' big, '|' not applicable,
// '=' native.
std::optional<engine_dtype> type_of(std::string_view description) {
  if (description.empty() || std::string_view("<>|=").find(description[0]) == std::string_view::npos)
    return {};
  for (const NamedType& known : types)
    if (known.name == description.substr(1)) return engine_dtype{known.code, known.bits, 1};
  return {};
}

std::optional<std::string> description_of(engine_dtype type) {
  for (const NamedType& known : types)
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1)
      return (type.bits == 8 ? "|" : "<") + std::string(known.name);
  return {};
}

// Returns the text behind the key. The header is a Python dictionary literal; only its three known keys are
// read.
std::optional<std::string_view> value_after(std::string_view header, std::string_view key) {
  const std::size_t at = header.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return {};
  const std::size_t colon = header.find(':', at);
  if (colon == std::string_view::npos) return {};
  std::string_view rest = header.substr(colon + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r\n"), rest.size()));
  return rest;
}

// Reads True or False. Refuses numbers, as NumPy does.
std::optional<bool> truth_of(std::string_view text) {
  const std::string_view word = trim(text.substr(0, text.find_first_of(",}")));
  if (word == "True") return true;
  if (word == "False") return false;
  return {};
}

std::optional<std::vector<std::int64_t>> shape_of(std::string_view text) {
  if (text.empty() || text.front() != '(' || text.find(')') == std::string_view::npos) return {};
  std::vector<std::int64_t> shape;
  for (const std::string& part : split(text.substr(1, text.find(')') - 1), ',')) {
    std::string_view number = trim(part);
    if (number.empty()) continue;
    if (number.ends_with('L')) number.remove_suffix(1);  // as Python 2 wrote it
    const auto extent = parse_integer(number);
    if (!extent || *extent < 0) return {};
    shape.push_back(*extent);
  }
  return shape;
}

// Returns the size, or nothing if 64 bits cannot hold it.
std::optional<std::uint64_t> bytes_of(engine_dtype type, const std::vector<std::int64_t>& shape) {
  // Checked first, because the product of the other extents may overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = type.bits / 8u;
  for (const std::int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes)) return {};
  return bytes;
}

// Copies column-major elements to `to` in row-major order.
void copy_columns(std::string_view content, std::size_t element, const std::vector<std::int64_t>& shape,
                  char* to) {
  if (content.empty()) return;
  const std::size_t rank = shape.size();
  std::vector<std::size_t> steps(rank), index(rank);
  std::size_t next = element;
  for (std::size_t i = 0; i < rank; ++i) {
    steps[i] = next;
    next *= static_cast<std::size_t>(shape[i]);
  }
  std::size_t from = 0;
  for (const char* const end = to + content.size(); to != end; to += element) {
    std::memcpy(to, content.data() + from, element);
    for (std::size_t i = rank; i-- > 0;) {
      from += steps[i];
      if (++index[i] < static_cast<std::size_t>(shape[i])) break;
      from -= steps[i] * index[i];
      index[i] = 0;
    }
  }
}

// Swaps the bytes of each number; a complex element is two numbers.
void swap_bytes(Array& array, std::size_t size) {
  const std::size_t number = array.type.code == ENGINE_COMPLEX ? array.type.bits / 16u : array.type.bits / 8u;
  for (char* at = array.data(); at != array.data() + size; at += number) std::reverse(at, at + number);
}

}  // namespace

Array make_array(engine_dtype type, std::vector<std::int64_t> shape) {
  Array array;
  array.type = type;
  array.shape = std::move(shape);
  array.storage.resize(static_cast<std::size_t>(bytes_of(type, array.shape).value_or(0)) + 64);
  array.offset = (64 - reinterpret_cast<std::uintptr_t>(array.storage.data()) % 64) % 64;
  return array;
}

namespace {

// A file that is read in parts, so that a large file that is no array is not read whole.
class Reading {
 public:
  explicit Reading(const std::filesystem::path& file) : file_(file) {}
  Result<void> open() {
    TRY_ASSIGN(opened_, open_to_read(file_, Code::given_file_not_readable));
    return {};
  }
  // Returns the next `size` bytes, or fewer at the end of the file. Memory grows with the bytes that arrive,
  // because the size comes from the file and may be wrong.
  Result<std::string> next(std::uint64_t size) {
    constexpr std::uint64_t most_at_once = 1u << 24;
    std::string bytes;
    while (bytes.size() < size) {
      const std::size_t before = bytes.size();
      const auto step = static_cast<std::size_t>(std::min(size - before, most_at_once));
      bytes.resize(before + step);
      const ssize_t got = calls::read(opened_.get(), bytes.data() + before, step);
      const int why = errno;
      bytes.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      if (got < 0 && why == EINTR) continue;
      if (got < 0)
        return fail(diagnose_errno(Code::given_file_not_readable, why).with(Key::file, path_text(file_)));
      if (got == 0) break;
    }
    return bytes;
  }

 private:
  const std::filesystem::path& file_;
  FileDescriptor opened_;
};

Result<Array> read_once(const std::filesystem::path& file) {
  Reading reading(file);
  TRY(reading.open());
  constexpr std::size_t length_at = magic.size() + 2;
  TRY_ASSIGN(std::string text, reading.next(length_at + 2));
  if (text.starts_with("PK\x03\x04"))
    return fail(unusable(file, "it is an archive of arrays (.npz)",
                         "save the array alone: numpy.save(file, numpy.load(archive)[name])"));
  if (magic.starts_with(text.substr(0, magic.size())) && text.size() < length_at + 2)
    return fail(unusable(file, "its header is cut off", copy_again));
  if (!text.starts_with(magic))
    return fail(unusable(file, "it does not begin as an .npy file", "save the array with numpy.save"));
  if (text[6] < 1 || text[6] > 3 || text[7] != 0)
    return fail(unusable(file,
                         "its format is " + std::to_string(static_cast<unsigned char>(text[6])) + "." +
                             std::to_string(static_cast<unsigned char>(text[7])) +
                             "; 1.0, 2.0 and 3.0 are known",
                         "save the array with numpy.save"));
  if (text[6] > 1) {  // the length takes four bytes
    TRY_ASSIGN(const std::string more, reading.next(2));
    text += more;
    if (more.size() < 2) return fail(unusable(file, "its header is cut off", copy_again));
  }
  std::uint32_t length = 0;
  std::memcpy(&length, text.data() + length_at, text.size() - length_at);
  if (length > longest_header)
    return fail(unusable(file,
                         "its header is said to take " + std::to_string(length) + " bytes; at most " +
                             std::to_string(longest_header) + " are read",
                         "save the array with numpy.save"));
  TRY_ASSIGN(const std::string header, reading.next(length));
  if (header.size() < length) return fail(unusable(file, "its header is cut off", copy_again));

  const auto description = value_after(header, "descr"), order = value_after(header, "fortran_order"),
             shape_text = value_after(header, "shape");
  if (!description || !order || !shape_text)
    return fail(unusable(file, "its header lacks descr, fortran_order or shape"));
  const std::string_view name = description->substr(0, description->find_first_of(",}"));
  const std::string_view described =
      trim(name).size() > 2 ? trim(name).substr(1, trim(name).size() - 2) : std::string_view();
  const auto type = type_of(described);
  if (!type) {
    // A structured array has a list of fields, each with its own type.
    const std::string shown(
        trim(name.starts_with('[') ? description->substr(0, description->find(']') + 1) : name));
    return fail(unusable(file, "its element type " + shown + " is not supported",
                         shown.starts_with('[')
                             ? "save each field alone: numpy.save(file, array[name])"
                             : conversion(shown.substr(std::min<std::size_t>(1, shown.size())))));
  }
  auto shape = shape_of(*shape_text);
  if (!shape) return fail(unusable(file, "its shape cannot be read"));
  const auto by_columns = truth_of(*order);
  if (!by_columns)
    return fail(unusable(file,
                         "its fortran_order is " +
                             std::string(trim(order->substr(0, order->find_first_of(",}")))) +
                             ", not True or False",
                         "save the array with numpy.save"));
  const auto wanted = bytes_of(*type, *shape);
  const std::string needs = "its shape needs " + (wanted ? std::to_string(*wanted) : uncountable) + " bytes";
  if (!wanted || *wanted > largest_array)
    return fail(unusable(file, needs + "; at most " + std::to_string(largest_array) + " are read",
                         "give an array that is not as large, as numpy.save writes it"));
  TRY_ASSIGN(const std::string content, reading.next(*wanted + 1));
  if (content.size() > *wanted)
    return fail(unusable(file, needs + " and more follow the header: something comes after the array",
                         "save each array in a file of its own: numpy.save(file, array)"));
  if (content.size() < *wanted)
    return fail(
        unusable(file, needs + " and " + std::to_string(content.size()) + " follow the header", copy_again));
  Array array = make_array(*type, std::move(*shape));
  if (*by_columns)
    copy_columns(content, type->bits / 8u, array.shape, array.data());
  else
    std::memcpy(array.data(), content.data(), content.size());
  if (described.starts_with('>')) swap_bytes(array, content.size());
  return array;
}

}  // namespace

// Opens the file again after ESTALE: on NFS, another machine may have replaced it by a rename.
Result<Array> read_npy(const std::filesystem::path& file) {
  try {
    for (int tries = 1;; ++tries) {
      auto array = read_once(file);
      if (array || tries == 3 || array.error().value(Key::errno_) != "ESTALE") return array;
    }
  } catch (const std::bad_alloc&) {
    return fail(diagnose(Code::out_of_memory).with(Key::file, path_text(file)));
  }
}

Result<void> write_npy(const std::filesystem::path& file, engine_dtype type,
                       const std::vector<std::int64_t>& shape, const void* data) {
  const auto description = description_of(type);
  const auto size = bytes_of(type, shape);
  if (!description)
    return fail(unusable(file, ".npy has no name for the type " + load::name_of_type(type),
                         "let the model convert it to a type that .npy has (float32, int64), or take it "
                         "through the API (enginehost_outputs_tensor)"));
  if (!size || *size > largest_array)
    return fail(unusable(file,
                         "it takes " + (size ? std::to_string(*size) : uncountable) + " bytes; at most " +
                             std::to_string(largest_array) + " are written to a file",
                         "let the model give it in parts, or take it through the API "
                         "(enginehost_outputs_tensor)"));
  std::vector<std::string> extents;
  for (const std::int64_t extent : shape) extents.push_back(std::to_string(extent));
  std::string header = "{'descr': '" + *description + "', 'fortran_order': False, 'shape': (" +
                       join(extents, ", ") + (shape.size() == 1 ? ",), }" : "), }");
  // The format requires that the data begins at a multiple of 64 bytes.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(magic);
  bytes += '\x01';
  bytes += '\0';
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(static_cast<const char*>(data), static_cast<std::size_t>(*size));
  return write_file(file, bytes, false);
}

}  // namespace enginehost::commands
