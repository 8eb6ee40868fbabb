// The whole message of one failure of each kind, as a person reads it: one screen, the code first, then the
// missing item and its needer, the searched places, the remedies, and the system's message.
#include <gtest/gtest.h>

#include <algorithm>

#include "host/explain/explain.hpp"

namespace enginehost::explain {
namespace {

TEST(Message, TruncatedFile) {
  Diagnosis diagnosis = diagnose(Code::file_truncated)
                            .with(Key::file, "/cache/views/1/libtorch_cpu.so")
                            .with(Key::size, "4096")
                            .with(Key::needed_size, "12296")
                            .with(Key::stage, "preflight", "nothing was executed");
  diagnosis.within("while opening pytorch-2.0.1-cpu-linux-x86_64");
  EXPECT_EQ(describe(diagnosis),
            "EH-F04  /cache/views/1/libtorch_cpu.so is truncated: it has 4096 of 12296 bytes\n"
            "  while       opening pytorch-2.0.1-cpu-linux-x86_64\n"
            "  stage       preflight (nothing was executed)\n"
            "  fix         engine-cache verify --repair fetches the damaged files again");
}

TEST(Message, NothingFitsAndTheDriverHidesItsGpus) {
  Diagnosis diagnosis = diagnose(Code::no_build_fits)
                            .with(Key::engine, "cuda")
                            .with(Key::first_code, "EH-G07")
                            .with(Key::visible_devices, "", "CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(render(diagnosis).remedy.front(), "unset CUDA_VISIBLE_DEVICES");
  Diagnosis other = diagnose(Code::no_build_fits).with(Key::engine, "cuda").with(Key::first_code, "EH-S05");
  EXPECT_EQ(render(other).remedy.front().substr(0, 12), "engine-info ") << render(other).remedy.front();
}

// No process holds a lock that the file system refuses.
TEST(Message, LockThatTheFileSystemRefuses) {
  for (const auto& [errno_name, remedy] : {std::pair("ESTALE", "mount the network file system"),
                                           {"EIO", "check the system log"},
                                           {"EPERM", "on a file system that grants locks"}}) {
    const std::string text = describe(diagnose(Code::lock_held)
                                          .with(Key::file, "/c/locks/key.lk")
                                          .with(Key::errno_, errno_name)
                                          .with(Key::os_said, "refused"));
    EXPECT_NE(text.find("/c/locks/key.lk cannot be locked: refused"), std::string::npos) << text;
    EXPECT_NE(text.find(remedy), std::string::npos) << text;
    EXPECT_EQ(text.find("fuser"), std::string::npos) << text;
  }
  const std::string held = describe(diagnose(Code::lock_held).with(Key::file, "/c/locks/key.lk"));
  EXPECT_NE(held.find("fuser /c/locks/key.lk"), std::string::npos) << held;
}

TEST(Message, LinkThatLeadsToItself) {
  const std::string text = describe(diagnose(Code::path_leads_to_no_file)
                                        .with(Key::file, "/v/libx.so")
                                        .with(Key::problem, "link loop")
                                        .with(Key::link, "/v/libx.so")
                                        .with(Key::target, "libx.so"));
  EXPECT_NE(text.find("points to libx.so, which leads back to the link"), std::string::npos) << text;
  EXPECT_EQ(text.find("does not exist"), std::string::npos) << text;
}

// Bytes that were wrong when they were published are not repaired by fetching them again.
TEST(Message, FileThatIsAsItWasPublished) {
  for (const char* code : {"EH-F02", "EH-F03", "EH-F04", "EH-F05", "EH-F06", "EH-F07", "EH-F08"}) {
    Diagnosis diagnosis =
        diagnosis_named(code).with(Key::file, "/cache/views/1/libx.so").with(Key::as_published, "yes");
    const std::string text = describe(diagnosis);
    EXPECT_NE(text.find("ask the publisher"), std::string::npos) << text;
    EXPECT_EQ(text.find("--repair"), std::string::npos) << text;
  }
  Diagnosis corrupt =
      diagnose(Code::engine_reports_error).with(Key::status, "ENGINE_CORRUPT").with(Key::message, "checksum");
  EXPECT_NE(describe(corrupt).find("verify --deep --repair"), std::string::npos);
  const std::string text = describe(corrupt.with(Key::as_published, "yes"));
  EXPECT_NE(text.find("ask the publisher"), std::string::npos) << text;
  EXPECT_EQ(text.find("--repair"), std::string::npos) << text;
}

// Neither a folder nor a RUNPATH helps where the loader does not search.
TEST(Message, NeedWithASlash) {
  for (const char* code : {"EH-L01", "EH-L02", "EH-L03"}) {
    const std::string text = describe(diagnosis_named(code)
                                          .with(Key::file, "/v/libx.so")
                                          .with(Key::needed_by, "/v/libx.so")
                                          .with(Key::library, "lib/libb.so", "DT_NEEDED of /v/libx.so")
                                          .with(Key::present_at, "/v/lib/libb.so")
                                          .with(Key::tried, "/lib/libb.so")
                                          .with(Key::current_folder, "/"));
    EXPECT_NE(text.find("libx.so needs lib/libb.so, a path from the current folder"), std::string::npos)
        << text;
    EXPECT_NE(text.find("patchelf --replace-needed lib/libb.so libb.so libx.so"), std::string::npos) << text;
    EXPECT_EQ(text.find("into a folder that the loader searches"), std::string::npos) << text;
    EXPECT_EQ(text.find("-rpath"), std::string::npos) << text;
  }
}

TEST(Message, StaticThreadLocalStorageByTheNeededSize) {
  const auto reported = [](const char* wanted) {
    return describe(
        diagnose(Code::no_static_tls_left).with(Key::file, "/v/libx.so").with(Key::static_tls, wanted));
  };
  EXPECT_NE(reported("200000").find("optional_static_tls=262144"), std::string::npos) << reported("200000");
  EXPECT_NE(reported("2000").find("optional_static_tls=8192"), std::string::npos) << reported("2000");
  EXPECT_NE(reported("131072").find("optional_static_tls=262144"), std::string::npos) << reported("131072");
}

// The size in the remedy is larger than the reserve that was too small.
TEST(Message, StaticThreadLocalStorageThatOthersUsedUp) {
  const auto reported = [](const char* reserve, const char* wanted) {
    Diagnosis diagnosis =
        diagnose(Code::no_static_tls_left).with(Key::file, "/v/libx.so").with(Key::reserve, reserve);
    if (wanted != nullptr) diagnosis.with(Key::static_tls, wanted);
    return describe(diagnosis);
  };
  EXPECT_NE(reported("1048576", "2000").find("optional_static_tls=2097152"), std::string::npos);
  EXPECT_NE(reported("1048576", nullptr).find("optional_static_tls=4194304"), std::string::npos);
  EXPECT_NE(reported("1664", nullptr).find("optional_static_tls=131072"), std::string::npos)
      << reported("1664", nullptr);
}

TEST(Message, StaticThreadLocalStorageByItsAlignment) {
  const std::string text = describe(diagnose(Code::no_static_tls_left)
                                        .with(Key::file, "/v/libx.so")
                                        .with(Key::library, "/v/liby.so")
                                        .with(Key::alignment, "8192")
                                        .with(Key::most_alignment, "64"));
  EXPECT_NE(text.find("liby.so needs static thread-local storage aligned to 8192 bytes"), std::string::npos)
      << text;
  EXPECT_NE(text.find("link the program with /v/liby.so"), std::string::npos) << text;
  EXPECT_EQ(text.find("GLIBC_TUNABLES"), std::string::npos) << text;
}

TEST(Message, CxxSymbolWithItsReadableName) {
  const std::string text = describe(diagnose(Code::symbol_missing)
                                        .with(Key::required_by, "/v/libx.so")
                                        .with(Key::symbol, "_ZN3c106detail5checkEiRKSs")
                                        .with(Key::symbol, "plain"));
  EXPECT_NE(text.find("libx.so needs _ZN3c106detail5checkEiRKSs, plain (c10::detail::check(int, "),
            std::string::npos)
      << text;
}

// An empty value of the variable is a value.
TEST(Message, VariableThatHidesAllDevices) {
  const std::string text = describe(diagnose(Code::no_gpu_visible).with(Key::visible_devices, ""));
  EXPECT_NE(text.find("CUDA_VISIBLE_DEVICES=\"\" leaves no GPU visible"), std::string::npos) << text;
  EXPECT_NE(text.find("unset CUDA_VISIBLE_DEVICES"), std::string::npos) << text;
}

TEST(Message, LibraryThatNoComponentHolds) {
  const std::string text =
      describe(diagnose(Code::run_time_library_missing).with(Key::library, "libstorm_kernels.so.4"));
  EXPECT_NE(text.find("put libstorm_kernels.so.4 into a folder that the loader searches"), std::string::npos)
      << text;
  EXPECT_EQ(text.find("--repair"), std::string::npos) << text;
}

TEST(Message, CrashAtTheEndOfTheProcess) {
  const std::string text =
      describe(diagnose(Code::crash_while_unloading).with(Key::stage, "exit").with(Key::signal, "SIGSEGV"));
  EXPECT_NE(text.find("_exit()"), std::string::npos) << text;
  EXPECT_EQ(text.find("never unloaded"), std::string::npos) << text;
}

TEST(Message, ThreeMissingLibrariesInColumns) {
  Diagnosis diagnosis =
      diagnose(Code::library_missing)
          .with(Key::file, "/cache/views/1/libggml-cuda.so")
          .with(Key::needed_by, "/cache/views/1/libggml-cuda.so", "DT_NEEDED")
          .with(Key::searched, "/cache/views/1", "RUNPATH")
          .with(Key::searched, "", "RUNPATH")
          .with(Key::searched, "/etc/ld.so.cache", "ld.so.cache")
          .with(Key::searched, "/opt/gone", "LD_LIBRARY_PATH, does not exist")
          .with(Key::library, "libcudart.so.13", "DT_NEEDED of /cache/views/1/libggml-cuda.so")
          .with(Key::library, "libcublas.so.13", "DT_NEEDED of /cache/views/1/libggml-cuda.so")
          .with(Key::library, "libown.so", "DT_NEEDED of /cache/views/1/libggml-cuda.so")
          .with(Key::stage, "preflight", "nothing was executed")
          .with(Key::os_said, "libcudart.so.13: cannot open shared object file: No such file or directory");
  diagnosis.within("while opening ggml-0.5.0-cu130-linux-x86_64");
  EXPECT_EQ(
      describe(diagnosis),
      "EH-L01  libggml-cuda.so needs libcudart.so.13, libcublas.so.13, libown.so, and no folder that the "
      "loader searches has them\n"
      "  searched    /cache/views/1, the current folder, /etc/ld.so.cache, /opt/gone (does not exist)\n"
      "  file        /cache/views/1/libggml-cuda.so\n"
      "  while       opening ggml-0.5.0-cu130-linux-x86_64\n"
      "  stage       preflight (nothing was executed)\n"
      "  OS said     libcudart.so.13: cannot open shared object file: No such file or directory\n"
      "  fix         install CUDA runtime 13: probably conda package cuda-cudart=13, "
      "package index "
      "nvidia-cuda-runtime, NVIDIA's package cuda-cudart-13-*; CUDA BLAS 13: probably conda package "
      "libcublas=13, package index nvidia-cublas, NVIDIA's package libcublas-13-*\n"
      "  or          put libcudart.so.13, libcublas.so.13, libown.so into a folder that the loader "
      "searches, or use a build that includes it");
}

TEST(Message, NewerCLibrary) {
  const Diagnosis diagnosis = diagnose(Code::c_library_too_old)
                                  .with(Key::file, "/cache/views/1/libengine_x.so")
                                  .with(Key::needs, "GLIBC_2.38", "DT_VERNEED")
                                  .with(Key::library, "libc.so.6")
                                  .with(Key::path, "/lib/x86_64-linux-gnu/libc.so.6")
                                  .with(Key::have, "GLIBC_2.36", "DT_VERDEF")
                                  .with(Key::required_by, "/cache/views/1/libengine_x.so")
                                  .with(Key::version, "GLIBC_2.38", "DT_VERNEED");
  EXPECT_EQ(describe(diagnosis),
            "EH-L08  libengine_x.so needs GLIBC_2.38; /lib/x86_64-linux-gnu/libc.so.6 has GLIBC_2.36\n"
            "  file        /cache/views/1/libengine_x.so\n"
            "  fix         use a build for older systems (engine-info ENGINE --plan --explain lists them) or "
            "a newer "
            "operating system; never copy another system's C library here");
}

TEST(Message, Crash) {
  Diagnosis diagnosis =
      diagnose(Code::illegal_instruction)
          .with(Key::signal, "SIGILL", "how the probe ended")
          .with(Key::in_library, "/cache/views/1/libggml-cpu-haswell.so", "the probe's crash handler")
          .with(Key::address, "0x7f00deadbeef", "the probe's crash handler")
          .with(Key::instruction, "c5fd6f07", "the probe's crash handler")
          .with(Key::file, "/cache/views/1/libengine_ggml.so")
          .with(Key::stage, "create")
          .with(Key::build, "ggml-0.5.0-cpu-linux-x86_64")
          .with(Key::last_words, "ggml: using haswell kernels", "standard error of the probe");
  diagnosis.within("while opening ggml-0.5.0-cpu-linux-x86_64");
  EXPECT_EQ(
      describe(diagnosis),
      "EH-R01  libggml-cpu-haswell.so ran an instruction (bytes c5fd6f07) that this processor does not have, "
      "at stage create\n"
      "  signal        SIGILL (how the probe ended)\n"
      "  in library    /cache/views/1/libggml-cpu-haswell.so (the probe's crash handler)\n"
      "  address       0x7f00deadbeef (the probe's crash handler)\n"
      "  file          /cache/views/1/libengine_ggml.so\n"
      "  while         opening ggml-0.5.0-cpu-linux-x86_64\n"
      "  last output   ggml: using haswell kernels\n"
      "  fix           use a build for this processor: engine-info ENGINE --plan --explain lists them\n"
      "  or            the build is quarantined; engine-cache quarantine show ggml-0.5.0-cpu-linux-x86_64 "
      "shows why and until when");
}

TEST(Message, NoDriverAndNoGpu) {
  const Diagnosis diagnosis =
      diagnose(Code::driver_not_found)
          .with(Key::file, "/cache/views/1/libengine_x.so")
          .with(Key::library, "libcuda.so.1", "DT_NEEDED of /cache/views/1/libtorch_cuda.so")
          .with(Key::needed_by, "/cache/views/1/libtorch_cuda.so")
          .with(Key::searched, "/etc/ld.so.cache", "ld.so.cache")
          .with(Key::no_gpu, "none found", "the PCI bus")
          .with(Key::stage, "preflight", "nothing was executed");
  EXPECT_EQ(
      describe(diagnosis),
      "EH-G01  libtorch_cuda.so needs libcuda.so.1 of the NVIDIA driver, and this machine has no NVIDIA "
      "GPU\n"
      "  searched    /etc/ld.so.cache\n"
      "  file        /cache/views/1/libengine_x.so\n"
      "  stage       preflight (nothing was executed)\n"
      "  fix         use a cpu build (--flavor cpu): without an NVIDIA GPU there is nothing to install");
}

TEST(Message, LongListOfFoldersIsCut) {
  Diagnosis diagnosis =
      diagnose(Code::library_missing).with(Key::library, "liba.so.1").with(Key::needed_by, "/v/b.so");
  for (int i = 0; i < 30; ++i) diagnosis.with(Key::searched, "/folder/" + std::to_string(i));
  const std::string text = describe(diagnosis);
  EXPECT_NE(text.find("/folder/11 and 18 more"), std::string::npos) << text;
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 24);
}

}  // namespace
}  // namespace enginehost::explain
