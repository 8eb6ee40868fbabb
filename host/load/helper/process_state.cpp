#include "host/load/helper/this_process.hpp"

#include "base/child_process.hpp"

namespace enginehost::helper {

std::vector<Diagnosis> differences(const ProcessState& before, const ProcessState& after, bool own) {
  std::vector<Diagnosis> found;
  const auto compare = [&](const char* what, const std::string& was, const std::string& is) {
    // Unknown when no descriptor was left to read it.
    if (was != is && !was.empty() && !is.empty())
      found.push_back(
          std::move(diagnose("EH-R09").with("changed", what).with("before", was).with("after", is)));
  };
  std::string handlers;
  for (std::size_t number = 1; number < before.handlers.size(); ++number)
    if (before.handlers[number] != after.handlers[number])
      handlers += (handlers.empty() ? "" : ", ") + signal_name(static_cast<int>(number));
  if (!handlers.empty())
    found.push_back(std::move(diagnose("EH-R09")
                                  .with("changed", "the signal handlers of " + handlers)
                                  .with("before", "those of the program")
                                  .with("after", "those of the engine")));
  compare("the locale", before.locale, after.locale);
  compare("the current folder", before.folder, after.folder);
  compare("the umask", before.umask, after.umask);
  for (std::size_t i = 0; i < before.others.size() && i < after.others.size(); ++i)
    compare(before.others[i].first, before.others[i].second, after.others[i].second);
  if (!own) return found;
  compare("the number of open descriptors", std::to_string(before.descriptors),
          std::to_string(after.descriptors));
  if (after.threads != 0)
    compare("the number of threads", std::to_string(before.threads), std::to_string(after.threads));
  return found;
}

}  // namespace enginehost::helper
