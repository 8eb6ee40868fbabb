#include "host/history/memory.hpp"

#include <mutex>

namespace enginehost::history {
namespace {

struct RecordsInMemory {
  std::mutex mutex;
  std::map<std::filesystem::path, std::map<std::string, Record>> folders;
};

// Never destroyed, because threads of engines may still run while the process ends.
RecordsInMemory& kept() {
  static RecordsInMemory& all = *new RecordsInMemory;
  return all;
}

}  // namespace

void keep_in_memory(const std::filesystem::path& state_folder, const Record& record) {
  const std::lock_guard lock(kept().mutex);
  kept().folders[state_folder].insert_or_assign(record.build, record);
}

bool drop_from_memory(const std::filesystem::path& state_folder, const std::string& build_id) {
  const std::lock_guard lock(kept().mutex);
  const auto folder = kept().folders.find(state_folder);
  return folder != kept().folders.end() && folder->second.erase(build_id) > 0;
}

std::map<std::string, Record> kept_in_memory(const std::filesystem::path& state_folder) {
  const std::lock_guard lock(kept().mutex);
  const auto folder = kept().folders.find(state_folder);
  return folder != kept().folders.end() ? folder->second : std::map<std::string, Record>();
}

}  // namespace enginehost::history
