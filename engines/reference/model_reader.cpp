// Reads the text format "reference" (README.md) in one pass.
#include "engines/reference/model.hpp"
#include "engines/reference/progress.hpp"

namespace enginehost::engines::reference {
namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '-' || c == '/';
}

// Parses a decimal number; strtof would depend on the process's locale. Digits after the 18th only move the
// exponent.
bool read_number(const char*& at, float& out) {
  const char* next = at;
  bool negative = *next == '-';
  if (*next == '-' || *next == '+') next++;
  int64_t digits = 0, exponent = 0;
  bool any = false, fraction = false;
  for (; (*next >= '0' && *next <= '9') || (*next == '.' && !fraction); next++) {
    if (*next == '.') {
      fraction = true;
      continue;
    }
    any = true;
    if (digits < 100000000000000000) {
      digits = digits * 10 + (*next - '0');
      exponent -= fraction ? 1 : 0;
    } else {
      exponent += fraction ? 0 : 1;
    }
  }
  if (!any) return false;
  if (*next == 'e' || *next == 'E') {
    int64_t given = 0;
    if (!read_integer(++next, given) || given > 1000 || given < -1000) return false;
    exponent += given;
  }
  double value = static_cast<double>(digits), scale = 1, base = 10;
  int64_t power = exponent < 0 ? -exponent : exponent;
  if (power > 400) power = 400;
  for (; power > 0; power >>= 1, base *= base) {
    if ((power & 1) != 0) scale *= base;
  }
  value = exponent < 0 ? value / scale : value * scale;
  out = static_cast<float>(negative ? -value : value);
  at = next;
  return true;
}

class ModelReader {
 public:
  ModelReader(const char* text, size_t length, engine_model& model, engine_call* call)
      : model_(model),
        call_(call),
        progress_(call, "load", length),
        at_(text),
        reported_(text),
        end_(text + length),
        keep_at_(model.words) {}

  engine_status read() {
    if (std::strncmp(at_, "enginehost-reference 1", 22) != 0 ||
        (!is_space(at_[22]) && at_[22] != '\n' && at_[22] != '\0')) {
      return bad("a model begins with the line \"enginehost-reference 1\"");
    }
    while (next_line()) {
      if (!is_wanted()) return progress_.canceled();
      if (engine_status status = statement()) return status;
      skip_space();
      if (*at_ != '\n' && *at_ != '\0') return bad("there is more on the line than belongs there");
    }
    if (model_.output_values.size() == 0) return bad("a model has at least one output");
    return ENGINE_OK;
  }

 private:
  engine_status bad(const char* why, const char* word = nullptr) {
    Text text;
    text << "Line " << line_ << " of the model: " << why;
    if (word != nullptr) text << " (\"" << word << "\")";
    return refuse(call_, ENGINE_CORRUPT, "reference", text << ".");
  }
  engine_status no_memory() {
    return refuse(call_, ENGINE_NO_MEMORY, "reference", Text{} << "There is no memory to read the model.");
  }

  // Checks for cancellation at every statement and within long constants.
  bool is_wanted() {
    if (!is_far()) return call_->is_cancelled(call_) == 0;
    const char* before = reported_;
    reported_ = at_;
    return progress_.advance(static_cast<uint64_t>(at_ - before));
  }
  bool is_far() const { return at_ - reported_ >= 1 << 20; }  // some ten milliseconds of reading

  void skip_space() {
    while (is_space(*at_)) at_++;
    if (*at_ == '#') {
      while (*at_ != '\n' && *at_ != '\0') at_++;
    }
  }
  // Moves to the next line that is not empty; false at the end of the text.
  bool next_line() {
    while (*at_ != '\n' && *at_ != '\0') at_++;
    skip_space_and_lines();
    return *at_ != '\0';
  }
  bool take(char wanted) {
    skip_space();
    if (*at_ != wanted) return false;
    at_++;
    return true;
  }
  // Numbers may continue on further lines inside their parentheses.
  void skip_space_and_lines() {
    for (skip_space(); *at_ == '\n'; skip_space()) {
      at_++;
      line_++;
    }
  }
  // Returns the next word, length_ characters without a NUL; nullptr when there is none.
  const char* word() {
    skip_space();
    const char* first = at_;
    while (is_word(*at_)) at_++;
    length_ = static_cast<size_t>(at_ - first);
    return length_ > 0 ? first : nullptr;
  }
  // Stores length_ characters as text that lives as long as the model.
  const char* keep(const char* first) {
    char* copy = keep_at_;
    std::memcpy(copy, first, length_);
    copy[length_] = '\0';
    keep_at_ += length_ + 1;
    return copy;
  }

  int64_t find(const char* name, size_t length) const { return model_.value_names.find(name, length); }
  // Returns false when memory is exhausted.
  bool add(const Value& value) {
    return model_.value_names.add(value.name, static_cast<uint32_t>(model_.values.size())) &&
           model_.values.append(value);
  }
  bool number_of_size(const char* name, uint32_t& number) {
    const int64_t known = model_.size_names.find(name, std::strlen(name));
    number = known < 0 ? model_.named_sizes : static_cast<uint32_t>(known);
    return known >= 0 || model_.size_names.add(name, model_.named_sizes++);
  }

  engine_status shape(Shape& out) {
    out = {};
    if (!take('[')) return bad("a shape such as [batch,4] is missing");
    if (take(']')) return ENGINE_OK;
    do {
      const char* size = word();
      if (size == nullptr || out.rank == longest_shape)
        return bad("a shape has up to 8 sizes, numbers or names");
      const char* kept = keep(size);
      const char* end = kept;
      int64_t number = -1;
      if (*kept >= '0' && *kept <= '9' && (!read_integer(end, number) || *end != '\0')) {
        return bad("a size is neither a number nor a name", kept);
      }
      out.sizes[out.rank] = number;
      out.names[out.rank] = number < 0 ? kept : "";
      if (number < 0 && !number_of_size(kept, out.named[out.rank])) return no_memory();
      out.rank++;
    } while (take(','));
    return take(']') ? ENGINE_OK : bad("a shape ends with ]");
  }

  engine_status new_name(const char*& out) {
    const char* first = word();
    if (first == nullptr) return bad("a name is missing");
    if (find(first, length_) >= 0) return bad("the name was used before", keep(first));
    out = keep(first);
    return ENGINE_OK;
  }

  engine_status statement();
  engine_status input();
  engine_status constant();
  engine_status output();
  engine_status metadata();
  engine_status step(const char* name);

  engine_model& model_;
  engine_call* call_;
  Progress progress_;
  const char* at_;
  const char* reported_;
  const char* end_;
  char* keep_at_;
  size_t length_ = 0;
  int64_t line_ = 1;
};

engine_status ModelReader::statement() {
  const char* first = word();
  if (first == nullptr) return bad("a statement begins with a word");
  auto is = [&](const char* keyword) {
    return std::strlen(keyword) == length_ && std::strncmp(first, keyword, length_) == 0;
  };
  if (is("input")) return input();
  if (is("constant")) return constant();
  if (is("output")) return output();
  if (is("meta")) return metadata();
  if (find(first, length_) >= 0) return bad("the name was used before", keep(first));
  return step(keep(first));
}

engine_status ModelReader::metadata() {
  const char* first = word();
  if (first == nullptr) return bad("a metadata key is missing");
  engine_entry entry = {keep(first), nullptr};
  while (is_space(*at_)) at_++;
  const char* value = at_;
  while (*at_ != '\n' && *at_ != '\0') at_++;
  length_ = static_cast<size_t>(at_ - value);
  while (length_ > 0 && is_space(value[length_ - 1])) length_--;
  entry.value = keep(value);
  return model_.metadata.append(entry) ? ENGINE_OK : no_memory();
}

engine_status ModelReader::input() {
  const char* name = nullptr;
  Shape sizes;
  if (engine_status status = new_name(name)) return status;
  if (engine_status status = shape(sizes)) return status;
  Value value = {name, Origin::input, static_cast<uint32_t>(model_.input_shapes.size()), nullptr};
  return model_.input_values.append(static_cast<uint32_t>(model_.values.size())) &&
                 model_.input_shapes.append(sizes) && add(value)
             ? ENGINE_OK
             : no_memory();
}

engine_status ModelReader::constant() {
  const char* name = nullptr;
  Shape sizes;
  if (engine_status status = new_name(name)) return status;
  if (engine_status status = shape(sizes)) return status;
  Text why;
  for (int32_t i = 0; i < sizes.rank; i++) {
    if (sizes.sizes[i] < 0) return bad("a constant has no size decided at run time", sizes.names[i]);
  }
  if (!check_shape({ENGINE_FLOAT, 32, 1}, sizes.rank, sizes.sizes, why)) return bad(why.c_str());
  // Each number takes at least two characters, so the text's length limits what is worth reserving.
  size_t count = element_count(sizes.rank, sizes.sizes);
  if (count / 2 > static_cast<size_t>(end_ - at_))
    return bad("the constant has fewer numbers than its shape wants", name);
  Value value = {name, Origin::constant, 0, make_host_tensor({ENGINE_FLOAT, 32, 1}, sizes.rank, sizes.sizes)};
  if (value.constant == nullptr) return no_memory();
  if (!add(value)) {
    value.constant->release(value.constant);
    return no_memory();
  }
  auto* out = static_cast<float*>(value.constant->tensor.data);
  if (!take('(')) return bad("the numbers of a constant stand in parentheses", name);
  for (size_t i = 0; i < count; i++) {
    if (is_far() && !is_wanted()) return progress_.canceled();
    skip_space_and_lines();
    if (!read_number(at_, out[i])) return bad("the constant has fewer numbers than its shape wants", name);
  }
  skip_space_and_lines();
  return take(')') ? ENGINE_OK : bad("the constant has more numbers than its shape wants", name);
}

engine_status ModelReader::output() {
  const char* first = word();
  if (first == nullptr) return bad("a name is missing");
  int64_t value = find(first, length_);
  if (value < 0) return bad("nothing before it has this name", keep(first));
  Shape sizes;
  if (engine_status status = shape(sizes)) return status;
  return model_.output_values.append(static_cast<uint32_t>(value)) && model_.output_shapes.append(sizes)
             ? ENGINE_OK
             : no_memory();
}

engine_status ModelReader::step(const char* name) {
  if (!take('=')) return bad("a statement is input, constant, output, meta, or NAME = OPERATION(...)", name);
  const char* first = word();
  if (first == nullptr) return bad("the operation is missing", name);
  const char* wanted = keep(first);
  Step step = {find_operation(wanted),
               {},
               0,
               static_cast<uint32_t>(model_.values.size()),
               static_cast<uint32_t>(model_.attributes.size()),
               0};
  if (step.operation == nullptr) return unknown_operation(wanted, call_);
  if (!take('(')) return bad("the inputs of an operation stand in parentheses", wanted);
  do {
    const char* argument = word();
    if (argument == nullptr) return bad("a name is missing between the parentheses of", wanted);
    size_t length = length_;
    if (take('=')) {
      length_ = length;
      engine_entry attribute = {keep(argument), nullptr};
      skip_space();
      const char* value = at_;
      bool list = *at_ == '[';
      if (list) value = ++at_;
      while (*at_ != '\n' && *at_ != '\0' && *at_ != ')' && *at_ != (list ? ']' : ',')) at_++;
      length_ = static_cast<size_t>(at_ - value);
      while (length_ > 0 && is_space(value[length_ - 1])) length_--;
      attribute.value = keep(value);
      if (list && !take(']')) return bad("a list of numbers ends with ]", attribute.key);
      if (!model_.attributes.append(attribute)) return no_memory();
      step.attribute_count++;
      continue;
    }
    int64_t value = find(argument, length);
    length_ = length;
    if (value < 0) return bad("nothing before it has this name", keep(argument));
    if (step.attribute_count > 0) return bad("attributes come after the inputs of", wanted);
    if (step.input_count == step.operation->maximum_inputs)
      return bad("there are too many inputs for", wanted);
    step.inputs[step.input_count++] = static_cast<uint32_t>(value);
  } while (take(','));
  if (!take(')')) return bad("the parentheses are not closed after", wanted);
  if (step.input_count < step.operation->minimum_inputs) return bad("there are too few inputs for", wanted);
  Value value = {name, Origin::result, static_cast<uint32_t>(model_.steps.size()), nullptr};
  return model_.steps.append(step) && add(value) ? ENGINE_OK : no_memory();
}

}  // namespace

engine_status read_model(const char* text, size_t length, engine_model& model, engine_call* call) {
  // Every stored word is followed by a character that is not stored, and at most one word is stored twice,
  // for a message.
  model.words = static_cast<char*>(std::malloc(2 * length + 64));
  if (model.words == nullptr) {
    return refuse(call, ENGINE_NO_MEMORY, "reference", Text{} << "There is no memory to read the model.");
  }
  return ModelReader(text, length, model, call).read();
}

}  // namespace enginehost::engines::reference
