#include "base/child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __APPLE__
#include <sys/event.h>
#else
#include <sys/syscall.h>
#endif

#include <cerrno>
#include <thread>

#include "base/environment.hpp"
#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"

namespace enginehost {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds abort_grace{1000};
constexpr std::chrono::milliseconds kill_grace{2000};
constexpr std::chrono::milliseconds poll_step{50};
constexpr std::chrono::milliseconds last_words{200};

// Calls that POSIX does not define.
//
// inherit_only: lets the child inherit only the descriptors below `first` that the actions so far give it.
// take_pending: takes one pending signal of the set, which this thread blocks; does not wait for one.
// watch_for_end: returns a descriptor that polls as readable when the child has ended. The wait then ends at
// once, even if grandchildren keep the pipes open. Returns none if the kernel or a sandbox refuses; the next
// poll then notices the end.
#ifdef __APPLE__

// macOS has no pipe2: between the two calls another thread may start a program that inherits the pipe.
// Children of EngineHost do not inherit it, because of POSIX_SPAWN_CLOEXEC_DEFAULT.
bool open_closing_pipe(int (&ends)[2]) {
  if (::pipe(ends) != 0) return false;
  for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
  return true;
}

// posix_spawnattr_setflags(2): this flag closes every descriptor that no file action created.
void inherit_only(int, posix_spawn_file_actions_t&, posix_spawnattr_t& attributes) {
  short flags = 0;
  posix_spawnattr_getflags(&attributes, &flags);
  posix_spawnattr_setflags(&attributes, static_cast<short>(flags | POSIX_SPAWN_CLOEXEC_DEFAULT));
}

void take_pending(const sigset_t& signals) {
  sigset_t pending;
  sigpending(&pending);
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigismember(&signals, signal) == 1 && sigismember(&pending, signal) == 1) {
      int taken = 0;
      sigwait(&signals, &taken);
      return;
    }
}

// A kqueue(2) is a descriptor that can be polled.
FileDescriptor watch_for_end(pid_t child) {
  FileDescriptor queue(::kqueue());
  struct kevent end {};
  end.ident = static_cast<uintptr_t>(child);
  end.filter = EVFILT_PROC;
  end.flags = EV_ADD | EV_ENABLE;
  end.fflags = NOTE_EXIT;
  if (!queue.valid() || ::kevent(queue.get(), &end, 1, nullptr, 0, nullptr) != 0) return {};
  return queue;
}

#else

bool open_closing_pipe(int (&ends)[2]) { return ::pipe2(ends, O_CLOEXEC) == 0; }

void inherit_only(int first, posix_spawn_file_actions_t& actions, posix_spawnattr_t&) {
  posix_spawn_file_actions_addclosefrom_np(&actions, first);
}

void take_pending(const sigset_t& signals) {
  const timespec at_once{};
  sigtimedwait(&signals, nullptr, &at_once);
}

// Linux 5.3, pidfd_open(2).
FileDescriptor watch_for_end([[maybe_unused]] pid_t child) {
#ifdef SYS_pidfd_open
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
#else
  return {};
#endif
}

#endif

struct Pipe {
  FileDescriptor read_end, write_end;
};

// Returns 0 or an errno.
int open_pipe(Pipe& pipe) {
  int ends[2];
  if (!open_closing_pipe(ends)) return errno;
  pipe.read_end = FileDescriptor(ends[0]);
  pipe.write_end = FileDescriptor(ends[1]);
  return 0;
}

std::vector<std::string> environment_of(const std::vector<std::string>& changes) {
  std::vector<std::string> result;
  for (char** entry = environment_entries(); *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    bool changed = false;
    for (const std::string& change : changes)
      changed |= std::string_view(change).substr(0, change.find('=')) == name;
    if (!changed) result.emplace_back(*entry);
  }
  for (const std::string& change : changes)
    if (change.find('=') != std::string::npos) result.push_back(change);
  return result;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The attributes and actions for posix_spawn; destroyed with the object.
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// One stream of the child: its source, its buffer, and which end is kept if it is too long.
struct Stream {
  FileDescriptor from;
  std::string* into;
  std::size_t keep_bytes;
  bool keep_last;
};

// Reads the available bytes; false once the stream has ended.
bool drain(Stream& stream) {
  char buffer[16384];
  const ssize_t got = calls::read(stream.from.get(), buffer, sizeof buffer);
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  if (got == 0) return false;
  stream.into->append(buffer, static_cast<std::size_t>(got));
  if (stream.into->size() > stream.keep_bytes) {
    if (stream.keep_last)
      stream.into->erase(0, stream.into->size() - stream.keep_bytes);
    else
      stream.into->resize(stream.keep_bytes);
  }
  return true;
}

// Writes the input without blocking. Closes the pipe when everything is written or the reader is gone.
// SIGPIPE cannot be disabled per descriptor, so it is blocked on this thread around the write. A SIGPIPE that
// the write caused is taken; one that was pending before belongs to the host.
void feed(FileDescriptor& to, std::string_view& input) {
  sigset_t pipe_signal, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  sigset_t pending;
  sigpending(&pending);
  const ssize_t written = calls::write(to.get(), input.data(), input.size());
  const bool broken = written < 0 && errno == EPIPE;
  if (broken && sigismember(&pending, SIGPIPE) == 0) take_pending(pipe_signal);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (written > 0) input.remove_prefix(static_cast<std::size_t>(written));
  if (broken || input.empty()) to.close();
}

// Returns whether the child has ended. It stays a zombie until it is reaped, so that its number, which is
// also its group's, cannot be reused before the group is signaled. If the host ignores SIGCHLD, there is no
// zombie (ECHILD): the child has ended, with an unknown status.
bool has_ended(pid_t child) {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0)
    return errno == ECHILD;
  return info.si_pid == child;
}

// Returns whether a child that has ended was ended by a signal. It stays a zombie.
bool was_killed(pid_t child) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == child && info.si_code != CLD_EXITED;
}

void reap(pid_t child, ChildOutcome& outcome) {
  int status = 0;
  outcome.status_lost = ::waitpid(child, &status, 0) != child;
  if (outcome.status_lost) return;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
}

}  // namespace

Result<ChildOutcome> run_child(const ChildRequest& request) {
  const auto cannot_start = [&](int error_number) {
    Diagnosis diagnosis = diagnose_errno(code_of_start_error(error_number), error_number);
    diagnosis.with(Key::program, request.argv.empty() ? "" : request.argv.front());
    if (diagnosis.code == Code::out_of_memory)
      add_limits(diagnosis, error_number == ENOMEM ? Scarce::memory : Scarce::threads);
    return fail(std::move(diagnosis));
  };
  if (request.argv.empty()) return cannot_start(EINVAL);
  Pipe input, output, error, channel;  // indexed by the child's descriptor; unused ones stay closed
  Pipe* const pipes[] = {&input, &output, &error, &channel};
  const bool wanted[] = {true, !request.discard_output, true, request.private_channel};
  SpawnSetup setup;
  FileDescriptor moved[4];
  for (int number = 0; number < 4; ++number) {
    if (!wanted[number]) continue;
    if (const int failed = open_pipe(*pipes[number]); failed != 0) return cannot_start(failed);
    // The child's end is moved to a high number first, so that no dup2 to 0…3 overwrites it before it is
    // used.
    FileDescriptor& theirs = number == 0 ? pipes[number]->read_end : pipes[number]->write_end;
    moved[number] = FileDescriptor(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, 10));
    if (!moved[number].valid())
      return cannot_start(errno == EINVAL ? EMFILE : errno);  // no free number above 10
    theirs.close();
    posix_spawn_file_actions_adddup2(&setup.actions, moved[number].get(), number);
  }
  if (!request.folder.empty()) posix_spawn_file_actions_addchdir_np(&setup.actions, request.folder.c_str());
  if (request.discard_output) posix_spawn_file_actions_addopen(&setup.actions, 1, "/dev/null", O_WRONLY, 0);
  // A host may have opened files without O_CLOEXEC; a child that cannot be killed must not keep them open.
  inherit_only(request.private_channel ? 4 : 3, setup.actions, setup.attributes);

  // Input that fits into the pipe is available to the child at once.
  std::string_view unwritten = request.input;
  ::fcntl(input.write_end.get(), F_SETFL, O_NONBLOCK);
  feed(input.write_end, unwritten);

  std::vector<std::string> argv = request.argv, environment = environment_of(request.environment);
  pid_t child = 0;
  const auto begin = Clock::now();
  if (const int failed = ::posix_spawnp(&child, argv[0].c_str(), &setup.actions, &setup.attributes,
                                        pointers_to(argv).data(), pointers_to(environment).data());
      failed != 0)
    return cannot_start(failed);
  for (FileDescriptor& descriptor : moved) descriptor.close();

  ChildOutcome outcome;
  std::vector<Stream> streams;
  if (output.read_end.valid())
    streams.push_back({std::move(output.read_end), &outcome.output,
                       request.output_bytes.value_or(request.keep_bytes), false});
  streams.push_back({std::move(error.read_end), &outcome.error, request.keep_bytes, true});
  if (channel.read_end.valid())
    streams.push_back({std::move(channel.read_end), &outcome.channel, request.channel_bytes, false});

  // When the child has ended, its grandchildren may still hold the pipes or fill them forever. Available
  // bytes are read for a short time.
  const FileDescriptor watch = watch_for_end(child);
  auto give_up_at = begin + request.deadline;
  bool aborted = false, killed = false, ended = false;
  for (;;) {
    // poll ignores negative descriptors: the input's after everything is written, and the watch's if there is
    // none.
    std::vector<pollfd> waits{{input.write_end.get(), POLLOUT, 0}, {ended ? -1 : watch.get(), POLLIN, 0}};
    const std::size_t first_stream = waits.size();
    for (const Stream& stream : streams) waits.push_back({stream.from.get(), POLLIN, 0});
    const bool nothing_wakes = streams.empty() && !input.write_end.valid() && !watch.valid();
    const int wait_ms = ended ? 0 : static_cast<int>(nothing_wakes ? 1 : poll_step.count());
    ::poll(waits.data(), static_cast<nfds_t>(waits.size()), wait_ms);
    if (input.write_end.valid() && waits[0].revents != 0) feed(input.write_end, unwritten);
    bool data = false;
    for (std::size_t i = streams.size(); i-- > 0;)
      if (waits[first_stream + i].revents != 0) {
        data = true;
        if (!drain(streams[i])) streams.erase(streams.begin() + static_cast<std::ptrdiff_t>(i));
      }
    const auto now = Clock::now();
    if (ended && (streams.empty() || !data || now >= give_up_at)) break;
    if (!ended && has_ended(child)) {
      ended = true;
      give_up_at = now + last_words;
    }
    if (ended) continue;
    if (request.cancel && request.cancel->canceled() && !outcome.canceled) {
      outcome.canceled = true;
      aborted = true;  // no caller waits for its output any more
      give_up_at = now;
    }
    if (now < give_up_at) continue;
    if (!aborted) {
      outcome.timed_out = aborted = true;
      ::kill(-child, SIGABRT);
      give_up_at = now + abort_grace;
    } else if (!killed) {
      killed = true;
      ::kill(-child, request.ends_descendants ? SIGTERM : SIGKILL);
      if (request.ends_descendants) ::kill(-child, SIGCONT);  // a stopped one would end nothing
      give_up_at = now + kill_grace;
    } else {
      outcome.survived_kill = true;
      if (request.ends_descendants) ::kill(-child, SIGKILL);
      break;
    }
  }
  if (ended) {
    // Its remaining children. One that was killed may have left a process that ends the others.
    ::kill(-child, request.ends_descendants && was_killed(child) ? SIGTERM : SIGKILL);
    reap(child, outcome);
  }
  outcome.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  return outcome;
}

std::string signal_name(int signal) {
#ifdef __APPLE__
  // The system's table has the names in lower case and without "SIG".
  if (signal > 0 && signal < NSIG && sys_signame[signal] != nullptr) {
    std::string name = "SIG";
    for (const char* at = sys_signame[signal]; *at != '\0'; ++at)
      name += *at >= 'a' && *at <= 'z' ? static_cast<char>(*at - 'a' + 'A') : *at;
    return name;
  }
#else
  if (const char* name = ::sigabbrev_np(signal)) return "SIG" + std::string(name);
#endif
  return "signal " + std::to_string(signal);
}

}  // namespace enginehost
