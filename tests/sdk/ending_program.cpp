// An application that ends while a call of the API is running; ending_test.py runs it. Argument: how it ends.
#include <enginehost/enginehost.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

namespace sdk = enginehost::sdk;

bool global_opens = false;

// Constructed before main(), so that it is destroyed after everything that the library constructs at its
// first use.
struct Global {
  ~Global() {
    // Gives the threads of the application time, which still run.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!global_opens) return;
    sdk::Request request;
    request.engine = "reference";
    try {
      sdk::Engine engine = sdk::Engine::open(request);
      engine.self_test();
      std::printf("opened %s\n", engine.build().c_str());
      request.engine = "nobody's";
      sdk::Engine::open(request);
    } catch (const sdk::Error& error) {
      std::printf("reported %s\n", error.code().c_str());
    }
  }
};
const Global global;

void work(int number) {
  sdk::Request request;
  request.engine = number == 0 ? "nobody's" : "reference";
  if (number == 2) {
    request.flavor = "cu118";
    request.require = true;
  }
  for (;;) {
    try {
      sdk::Engine::open(request);
    } catch (const sdk::Error&) {
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  const char* const how = count > 1 ? arguments[1] : "";
  global_opens = std::strcmp(how, "global") == 0;
  if (std::strcmp(how, "threads") == 0) {
    for (int i = 0; i < 3; ++i) std::thread(work, i).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
  }
  return 0;
}
