#include "host/commands/output_names.hpp"

#include <cctype>
#include <set>

#include "base/text.hpp"

namespace enginehost::commands {
namespace {

// File systems allow 255 bytes; a number and the extension are added.
constexpr std::size_t longest = 200;

std::string plain(std::string name) {
  if (name.size() > longest) name.resize(longest);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '-' && c != '_') c = '_';
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

}  // namespace

std::vector<std::string> file_names_of(const std::vector<std::string>& outputs) {
  std::vector<std::string> names(outputs.size());
  std::set<std::string> taken;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (const std::string name = plain(outputs[i]); name == outputs[i] && taken.insert(to_lower(name)).second)
      names[i] = name;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!names[i].empty()) continue;
    const std::string wanted = plain(outputs[i]);
    names[i] = wanted;
    for (int number = 2; !taken.insert(to_lower(names[i])).second; ++number)
      names[i] = wanted + "_" + std::to_string(number);
  }
  return names;
}

}  // namespace enginehost::commands
