// Compares the facts that two readers report about one file, as sets of short sentences: "imports
// KERNEL32.dll!Sleep".
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"

namespace enginehost::binary::oracle {

using Facts = std::multiset<std::string>;

// The differences, at most ten of each side; "" = none.
inline std::string differences(const Facts& ours, const Facts& theirs) {
  std::ostringstream text;
  auto list = [&](const char* who, const Facts& from, const Facts& without) {
    std::vector<std::string> only;
    std::set_difference(from.begin(), from.end(), without.begin(), without.end(), std::back_inserter(only));
    for (std::size_t i = 0; i < std::min<std::size_t>(only.size(), 10); ++i)
      text << "  only " << who << ": " << only[i] << '\n';
    if (only.size() > 10) text << "  ... and " << only.size() - 10 << " more\n";
  };
  list("we", ours, theirs);
  list("the oracle", theirs, ours);
  return text.str();
}

// LLVM's tool of this name; "" = not installed.
inline std::string llvm_tool(const std::string& name) {
  for (const std::string& candidate : {name + "-14", name})
    if (std::filesystem::exists("/usr/bin/" + candidate)) return "/usr/bin/" + candidate;
  return {};
}

struct Said {
  bool succeeded = false;
  std::string text;
};
inline Said ask(const std::vector<std::string>& command) {
  ChildRequest request;
  request.argv = command;
  request.keep_bytes = std::size_t{1} << 30;  // the symbols of TensorFlow are 470 MB of text
  request.deadline = std::chrono::minutes(4);
  Result<ChildOutcome> outcome = run_child(request);
  if (!outcome) return {};
  EXPECT_LT(outcome->output.size(), request.keep_bytes) << command.front() << " said more than is kept";
  return {outcome->exit_code == 0, std::move(outcome->output)};
}

// The output of `command` for each file, run for many at once. `file_of` returns the file that a heading
// names, "" for every other line.
inline std::map<std::string, std::string> ask_in_batches(
    std::vector<std::string> command, const std::vector<std::string>& files,
    const std::function<std::string(const std::string&)>& file_of) {
  constexpr std::size_t batch = 40;
  std::map<std::string, std::string> answers;
  const std::size_t fixed = command.size();
  for (std::size_t i = 0; i < files.size(); i += batch) {
    command.resize(fixed);
    command.insert(command.end(), files.begin() + static_cast<std::ptrdiff_t>(i),
                   files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), i + batch)));
    std::istringstream lines(ask(command).text);
    std::string* now = nullptr;
    for (std::string line; std::getline(lines, line);) {
      if (const std::string file = file_of(line); !file.empty())
        now = &answers[file];
      else if (now != nullptr)
        *now += line + '\n';
    }
  }
  return answers;
}

// "   Key: value" without its spaces: {"Key", "value"}; a line without a colon has no value.
struct KeyValue {
  std::string key, value;
};
inline KeyValue key_value(const std::string& line) {
  const std::size_t begin = line.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  const std::size_t colon = line.find(": ", begin);
  if (colon == std::string::npos) {
    std::string key = line.substr(begin);
    if (!key.empty() && key.back() == ':') key.pop_back();
    return {key, ""};
  }
  return {line.substr(begin, colon - begin), line.substr(colon + 2)};
}

// Counts over many files.
struct Tally {
  std::size_t files = 0, facts = 0, different = 0;

  void compare(const std::string& file, const Facts& ours, const Facts& theirs) {
    ++files;
    facts += theirs.size();
    const std::string found = differences(ours, theirs);
    if (found.empty()) return;
    ++different;
    ADD_FAILURE() << file << "\n" << found;
  }
  void print(const char* what) const {
    std::cout << what << ": " << files << " files, " << facts << " facts compared, " << different
              << " files differ\n";
  }
};

}  // namespace enginehost::binary::oracle
