// A build's code that runs in this program for the first time: a sentinel stands while it is loaded, and
// again while it does its first work, so that a crash is known of afterwards. Both come out of the way once
// they went well.
#pragma once
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "host/history/sentinel.hpp"
#include "host/history/store.hpp"
#include "host/load/in_process/health.hpp"

namespace enginehost::open {

struct Tried {
  std::filesystem::path state_folder;  // empty: nothing is kept, and a crash is not known of
  std::string build, digest, artifacts_digest;
};

// Shared by the engine's health, which tells of its work on any thread, and by whoever opens it.
class Trial : public load::FirstWork {
 public:
  // `known`: the proof on record, or nullptr. No sentinel is raised for what this program has done with it
  // before.
  Trial(Tried tried, const history::Record* known);

  // "dlopen", "create": raises the sentinel, or moves it on. Where it cannot be written there is none.
  void enter(std::string_view phase);
  // Opening ended in an orderly way, well or not.
  void opening_ended();
  // True while the first opening or the first work is still to be noted in the proof.
  bool opened_before() const { return opened_before_; }

  void work_begins() override;
  void work_ended(bool well) override;

 private:
  Tried tried_;
  bool opened_before_ = false, worked_before_ = false;
  std::mutex mutex_;
  int working_ = 0;
  std::optional<history::Sentinel> sentinel_;
};

}  // namespace enginehost::open
