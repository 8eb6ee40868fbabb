// Helper functions of the text readers. Each reader handles one kind of text and returns nothing for others.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "host/explain/loader_text.hpp"

namespace enginehost::explain::texts {

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
// Returns the text before `end`; the whole text without it.
inline std::string until(std::string_view text, std::string_view end) {
  return std::string(text.substr(0, text.find(end)));
}
// Returns the text after the first `begin`; nothing without it.
inline std::string after(std::string_view text, std::string_view begin) {
  const std::size_t at = text.find(begin);
  return at == std::string_view::npos ? std::string() : std::string(text.substr(at + begin.size()));
}
// Returns the text between the first `begin` and the next `end`.
inline std::string between(std::string_view text, std::string_view begin, std::string_view end) {
  return until(after(text, begin), end);
}
// Returns the decimal digits right after the first `begin`.
inline std::string number_after(std::string_view text, std::string_view begin) {
  const std::string rest = after(text, begin);
  return rest.substr(0, rest.find_first_not_of("0123456789"));
}
inline std::string_view last_line(std::string_view text) {
  const std::size_t at = text.find_last_of('\n');
  return at == std::string_view::npos ? text : text.substr(at + 1);
}

// A text and the class that it most often means.
struct Phrase {
  std::string_view text;
  Code code = Code::none;
};
// Returns the first phrase that the text contains, else nullptr.
inline const Phrase* find_phrase(std::string_view text, std::span<const Phrase> phrases) {
  for (const Phrase& one : phrases)
    if (contains(text, one.text)) return &one;
  return nullptr;
}

std::optional<LoaderHint> read_glibc(std::string_view text);
std::optional<LoaderHint> read_musl(std::string_view text);
std::optional<LoaderHint> read_dyld(std::string_view text);
std::optional<LoaderHint> read_windows(std::string_view text);
std::optional<LoaderHint> read_cuda(std::string_view text);
std::optional<LoaderHint> read_cudnn(std::string_view text);
// Reads the line in which a library reports why it ends the process, and the line before it: MKL, OpenMP,
// protobuf, AddressSanitizer.
std::optional<LoaderHint> read_last_words(std::string_view line, std::string_view before);
// PyTorch, TensorFlow, ONNX Runtime, ggml.
std::optional<LoaderHint> read_engine(std::string_view text);

}  // namespace enginehost::explain::texts
