// Opens an engine as an application with a window would: asks before a download, shows the progress, and can
// be stopped.     choose_engine ENGINE [--limit MEGABYTES] [--give-up-after SECONDS]
//
// With CMake: see CMakeLists.txt. With pkg-config:
//   export PKG_CONFIG_PATH=<prefix>/lib/pkgconfig
//   c++ -std=c++17 choose_engine.cpp -o choose_engine $(pkg-config --cflags --libs enginehost)
//   -Wl,-rpath,<prefix>/lib
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <enginehost/enginehost.hpp>
#include <mutex>
#include <thread>

namespace {

namespace sdk = enginehost::sdk;

// Cancels the request after a time, as a button would, unless it is destroyed first.
class Patience {
 public:
  Patience(sdk::Cancel cancel, double seconds)
      : thread_([this, cancel, seconds] {
          std::unique_lock<std::mutex> lock(mutex_);
          if (!done_.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return over_; }))
            cancel.now();
        }) {}
  ~Patience() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      over_ = true;
    }
    done_.notify_one();
    thread_.join();
  }
  Patience(const Patience&) = delete;
  Patience& operator=(const Patience&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool over_ = false;
  std::thread thread_;  // last, because it uses the members above
};

double argument(int argc, char** argv, const char* name, double otherwise) {
  for (int i = 2; i + 1 < argc; ++i)
    if (std::strcmp(argv[i], name) == 0) return std::atof(argv[i + 1]);
  return otherwise;
}

sdk::Request request_for(const char* engine, double limit) {
  sdk::Request request;
  request.engine = engine;
  request.on_consent = [limit](const enginehost_question& question) {
    const double megabytes = static_cast<double>(question.download_bytes) / 1e6;
    std::printf("%s: %.1f MB%s\n", question.build, megabytes, question.download_known ? "" : " or more");
    for (std::size_t i = 0; i < question.license_count; ++i)
      std::printf("  covered by %s, see %s\n", question.license_ids[i], question.license_urls[i]);
    // A window would show this; here a license that needs acceptance is never accepted unseen.
    return question.license_count == 0 && megabytes <= limit;
  };
  // May arrive on another thread.
  request.on_progress = [](const enginehost_progress& progress) {
    std::fprintf(stderr, "%s %llu of %llu bytes\n", progress.phase,
                 static_cast<unsigned long long>(progress.done),
                 static_cast<unsigned long long>(progress.total));
  };
  return request;
}

void show(sdk::Engine& engine) {
  std::printf("opened %s (%s)%s\n", engine.build().c_str(), engine.flavor().c_str(),
              engine.is_fallback() ? ", which is not the best one: the report says why" : "");
  for (const sdk::Device& device : engine.devices())
    std::printf("device %s %s\n", device.name.c_str(), device.description.c_str());
  engine.self_test();
  std::printf("self-test passed\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s ENGINE [--limit MEGABYTES] [--give-up-after SECONDS]\n", argv[0]);
    return ENGINEHOST_INVALID;
  }
  try {
    const sdk::Request request = request_for(argv[1], argument(argc, argv, "--limit", 100));
    const Patience patience(request.cancel, argument(argc, argv, "--give-up-after", 60));
    sdk::Engine engine = sdk::Engine::open(request);
    show(engine);
    return 0;
  } catch (const sdk::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.status();
  }
}
