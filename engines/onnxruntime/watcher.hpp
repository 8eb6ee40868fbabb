// Stops canceled runs of ONNX Runtime, which cannot poll: one thread checks every call that is running.
#pragma once
#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "engines/onnxruntime/runtime.hpp"

namespace enginehost::engines::onnxruntime {

// One per engine; its thread starts with the first run and ends with the watcher. [any]
class Watcher {
 public:
  explicit Watcher(std::shared_ptr<Runtime> runtime) : runtime_(std::move(runtime)) {}
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Watches one run while it lives; the call and the options must outlive it.
  class Watch {
   public:
    Watch(Watcher& watcher, engine_call* call, OrtRunOptions* options);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    // True if the run was stopped.
    bool stopped() const;

   private:
    friend class Watcher;
    Watcher& watcher_;
    engine_call* call_;
    OrtRunOptions* options_;
    bool stopped_ = false;
  };

 private:
  void loop();

  std::shared_ptr<Runtime> runtime_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<Watch*> watches_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace enginehost::engines::onnxruntime
