#include "host/binary/formats.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/text.hpp"

namespace enginehost::binary {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  std::string_view name;
  Code code = Code::none;
};

// From the formats' own documents; the first match wins.
constexpr std::array magics{
    Magic{"\x1f\x8b"sv, "gzip archive", Code::file_compressed},
    Magic{"PK\x03\x04"sv, "zip archive", Code::file_compressed},
    Magic{"PK\x05\x06"sv, "zip archive", Code::file_compressed},
    Magic{"\xfd"
          "7zXZ\0"sv,
          "xz archive", Code::file_compressed},
    Magic{"\x28\xb5\x2f\xfd"sv, "zstd archive", Code::file_compressed},
    Magic{"BZh"sv, "bzip2 archive", Code::file_compressed},
    Magic{"7z\xbc\xaf\x27\x1c"sv, "7-zip archive", Code::file_compressed},
    Magic{"!<arch>\n"sv, "static archive (ar)", Code::not_a_shared_library},
    Magic{"!<thin>\n"sv, "static archive (ar)", Code::not_a_shared_library},
    Magic{"version https://git-lfs"sv, "Git LFS pointer", Code::file_is_git_lfs_pointer},
    Magic{"#!"sv, "script (#!)", Code::not_a_shared_library},
};

// Returns the title on one line, short enough for a message. Control characters are dropped, because the text
// is untrusted.
std::string title_of(std::string_view page) {
  const std::string lower = to_lower(page);
  const std::size_t tag = lower.find("<title");
  if (tag == std::string::npos) return {};
  const std::size_t start = page.find('>', tag);
  if (start == std::string_view::npos) return {};
  const std::size_t end = lower.find("</title", start + 1);
  if (end == std::string_view::npos) return {};
  std::string title;
  for (char c : page.substr(start + 1, std::min<std::size_t>(end - start - 1, 200))) {
    auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f) {
      if (!title.empty() && title.back() != ' ') title += ' ';
    } else {
      title += c;
    }
  }
  while (!title.empty() && title.back() == ' ') title.pop_back();
  for (auto [entity, sign] : {std::pair{"&lt;"sv, "<"sv},
                              {"&gt;"sv, ">"sv},
                              {"&quot;"sv, "\""sv},
                              {"&#39;"sv, "'"sv},
                              {"&nbsp;"sv, " "sv},
                              {"&amp;"sv, "&"sv}})
    for (std::size_t at = title.find(entity); at != std::string::npos; at = title.find(entity, at + 1))
      title.replace(at, entity.size(), sign);
  return title;
}

std::string line_after(std::string_view text, std::string_view key) {
  std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  at += key.size();
  return std::string(text.substr(at, std::min<std::size_t>(text.find('\n', at), at + 128) - at));
}

bool is_text(std::string_view bytes) {
  return !bytes.empty() && std::all_of(bytes.begin(), bytes.end(), [](char c) {
    auto byte = static_cast<unsigned char>(c);
    return (byte >= ' ' && byte != 0x7f) || byte == '\n' || byte == '\r' || byte == '\t' || byte == '\f';
  });
}

void append_utf8(std::string& text, std::uint32_t sign) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (sign < 0x80) return put(sign);
  if (sign < 0x800) {
    put(0xc0 | sign >> 6);
  } else {
    if (sign < 0x10000) {
      put(0xe0 | sign >> 12);
    } else {
      put(0xf0 | sign >> 18);
      put(0x80 | (sign >> 12 & 0x3f));
    }
    put(0x80 | (sign >> 6 & 0x3f));
  }
  put(0x80 | (sign & 0x3f));
}

// Converts UTF-16 text to UTF-8; empty for other bytes. UTF-16 is recognized by its byte order mark, or by a
// first character that pages and JSON begin with.
std::string from_utf16(std::string_view bytes) {
  const bool marked_little = bytes.starts_with("\xff\xfe"), marked_big = bytes.starts_with("\xfe\xff");
  const auto begins = [&](std::size_t sign, std::size_t zero) {
    return bytes.size() >= 4 && bytes[zero] == '\0' && bytes[zero + 2] == '\0' &&
           (bytes[sign] == '<' || bytes[sign] == '{' || bytes[sign] == '[');
  };
  const bool little = marked_little || begins(0, 1), big = marked_big || begins(1, 0);
  if (!little && !big) return {};
  std::string text;
  std::size_t units = 0, plain = 0;
  std::uint32_t high = 0;
  for (std::size_t i = marked_little || marked_big ? 2 : 0; i + 1 < bytes.size(); i += 2) {
    const auto first = static_cast<unsigned char>(bytes[i]),
               second = static_cast<unsigned char>(bytes[i + 1]);
    const std::uint32_t unit =
        little ? first | std::uint32_t{second} << 8 : second | std::uint32_t{first} << 8;
    ++units;
    plain += unit < 0x80 ? 1 : 0;
    if (unit >= 0xd800 && unit < 0xdc00) {
      high = unit;
    } else if (unit >= 0xdc00 && unit < 0xe000) {
      append_utf8(text, high != 0 ? 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00) : '?');
      high = 0;
    } else {
      append_utf8(text, unit);
      high = 0;
    }
  }
  // Any data may begin with the bytes of the mark.
  if (plain * 2 < units && !text.starts_with('<')) return {};
  return text;
}

// True for the text that copies to file systems without links, and archives, leave in place of a link.
bool is_path_of_library(std::string_view text, std::uint64_t file_size) {
  constexpr std::size_t longest = 255;
  if (text.size() != file_size || text.size() > longest || text.find_first_of(" \t\r\n<>{}\"") != text.npos)
    return false;
  return text.find(".so") != text.npos || text.ends_with(".dylib") || text.ends_with(".dll");
}

Diagnosis problem(Code code, const FileView& file, std::string_view format) {
  return std::move(diagnose(code)
                       .with(Key::file, file.path())
                       .with(Key::size, std::to_string(file.size()))
                       .with(Key::format, format, "first bytes of the file"));
}

}  // namespace

void sniff(FileView& file, BinaryInfo& info) {
  if (file.size() == 0) {
    info.sniffed = "empty file";
    info.problems.push_back(
        std::move(diagnose(Code::file_empty).with(Key::file, file.path()).with(Key::size, "0")));
    return;
  }
  std::array<char, 16384> buffer{};
  auto length = static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), buffer.size()));
  if (!file.read(0, buffer.data(), length)) {
    info.sniffed = "unknown data";
    info.problems.push_back(std::move(problem(Code::file_damaged, file, info.sniffed)
                                          .with(Key::problem, "the first bytes cannot be read")));
    return;
  }
  std::string_view head(buffer.data(), length);
  for (const Magic& magic : magics)
    if (head.substr(0, magic.bytes.size()) == magic.bytes) {
      info.sniffed = magic.name;
      Diagnosis found = problem(magic.code, file, magic.name);
      if (magic.code == Code::file_is_git_lfs_pointer) {
        if (std::string oid = line_after(head, "\noid sha256:"); !oid.empty()) found.with(Key::oid, oid);
        if (std::string size = line_after(head, "\nsize "); !size.empty())
          found.with(Key::expected_size, size);
      }
      info.problems.push_back(std::move(found));
      return;
    }
  const std::string converted = from_utf16(head);
  if (!converted.empty()) head = converted;
  std::string_view text = head;
  if (text.substr(0, 3) == "\xef\xbb\xbf") text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const std::string lower = to_lower(text);
  bool html = false;
  for (std::string_view tag :
       {"<!doctype html", "<html", "<head", "<body", "<!--", "<script", "<title", "<h1"})
    html = html || lower.starts_with(tag);
  // XHTML starts like XML.
  const bool xml = !html && lower.starts_with("<?xml");
  if (xml && lower.find("<html") != std::string::npos) html = true;
  if (html || xml) {
    info.sniffed = html ? "HTML page" : "XML text";
    info.page_title = title_of(head);
    Diagnosis found = problem(Code::file_is_text, file, info.sniffed);
    if (!info.page_title.empty()) found.with(Key::page_title, info.page_title, "<title>");
    info.problems.push_back(std::move(found));
    return;
  }
  if (is_text(head)) {
    bool json = !text.empty() && (text.front() == '{' || text.front() == '[');
    info.sniffed = json ? "JSON text" : "linker script or text";
    // A script for the linker (libc.so) is the publisher's mistake; any other text replaced the file in
    // transit.
    bool script = false;
    for (std::string_view word : {"GROUP", "INPUT", "OUTPUT_FORMAT", "/* GNU ld script"})
      script = script || text.find(word) != std::string_view::npos;
    Diagnosis found =
        problem(script && !json ? Code::not_a_shared_library : Code::file_is_text, file, info.sniffed);
    found.with(Key::first_line, text.substr(0, std::min<std::size_t>(text.find_first_of("\r\n"), 120)));
    if (is_path_of_library(head, file.size())) found.with(Key::link_target, head);
    info.problems.push_back(std::move(found));
    return;
  }
  // The start of an ELF file, or unknown data.
  info.sniffed =
      "\x7f"
      "ELF"sv.starts_with(head)
          ? "ELF"
          : "unknown data";
  if (file.size() < 64)
    info.problems.push_back(problem(Code::file_too_short, file, info.sniffed));
  else
    info.problems.push_back(std::move(problem(Code::file_damaged, file, info.sniffed)
                                          .with(Key::problem, "its first bytes match no library format")));
}

}  // namespace enginehost::binary
