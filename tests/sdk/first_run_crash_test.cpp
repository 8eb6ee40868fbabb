// An application that crashes in its first run with a build, and the next application's reaction.
#include <sys/resource.h>

#include <csignal>

#include "tests/sdk/fixture.hpp"
#include "tests/support/played_plugin.hpp"
#include "tests/support/variables.hpp"

namespace enginehost::test {
namespace {

class FirstRunCrash : public Sdk {
 protected:
  FirstRunCrash() {
    TestBuild build = good_build();
    build.files = {{build.plugin, played_plugin()}};
    publish(build);
    write_text(folder_ / "any.played", "");
  }
  ~FirstRunCrash() override { remove_variable("DEVICE_BEHAVIOR"); }

  // Loads and runs in a process of its own.
  void load_and_run(const char* behavior, int runs = 1) {
    const rlimit no_core = {0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    const auto engine = open(request());
    const std::string file = path_text(folder_ / "any.played");
    enginehost_model* loaded = nullptr;
    if (enginehost_model_load(engine.get(), file.c_str(), nullptr, nullptr, nullptr, &loaded, nullptr) !=
        ENGINEHOST_OK)
      std::exit(7);
    const Handle<enginehost_model> model(loaded);
    const Numbers numbers({1, 2});
    const enginehost_input input = {"x", &numbers.tensor};
    for (int i = 0; i < runs; ++i) {
      if (i + 1 == runs) set_variable("DEVICE_BEHAVIOR", behavior);
      enginehost_outputs* outputs = nullptr;
      enginehost_model_run(model.get(), &input, 1, nullptr, &outputs, nullptr);
      enginehost_outputs_free(outputs);
    }
  }
};

TEST_F(FirstRunCrash, TheSecondOneQuarantinesTheBuild) {
  EXPECT_EXIT(load_and_run("crash in a run"), testing::KilledBySignal(SIGABRT), "");
  EXPECT_EXIT(load_and_run("crash in a run"), testing::KilledBySignal(SIGABRT), "");
  EXPECT_FALSE(open(request()));
  EXPECT_THAT(said(), testing::HasSubstr("warmup"));
}

TEST_F(FirstRunCrash, ExitCountsAsACrash) {
  const std::string configuration = read_text(config_of_tests());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EXIT(load_and_run("exit in a run"), testing::ExitedWithCode(0), "");
    write_text(config_of_tests(), configuration);  // the end of the test's copy removes it
  }
  EXPECT_FALSE(open(request()));
  EXPECT_THAT(said(), testing::HasSubstr("warmup"));
}

TEST_F(FirstRunCrash, ALaterRunIsNoStrike) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EXIT(load_and_run("crash in a run", 2), testing::KilledBySignal(SIGABRT), "");
  EXPECT_TRUE(open(request())) << said();
}

}  // namespace
}  // namespace enginehost::test
