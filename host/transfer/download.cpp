#include "host/transfer/download.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <system_error>

#include "base/text.hpp"
#include "host/transfer/download_connection.hpp"
#include "host/transfer/progress.hpp"

namespace enginehost::transfer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr std::uint64_t least_part = 1u << 20;  // see Sink::wanted_until
constexpr double worth_it = 1.3;                // least gain that justifies twice the connections
constexpr double too_slow = 0.1;                // of the fastest mirror's rate
constexpr milliseconds tick{20};

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// Returns true if the same mirror may serve later. Wrong bytes are no such failure.
bool is_transient(const Diagnosis& diagnosis) {
  if (diagnosis.code == Code::host_not_found || diagnosis.code == Code::no_connection ||
      diagnosis.code == Code::transfer_stalled || diagnosis.code == Code::proxy_not_reached)
    return true;
  if (diagnosis.code != Code::server_refuses) return false;
  const std::string_view status = diagnosis.value(Key::status);
  return status.starts_with('5') || status == "408" || status == "425" || status == "429";
}

class Download {
 public:
  Download(const DownloadRequest& request, PartSink& sink, const TransferOptions& options,
           std::vector<MirrorFailure>& failures, const ProgressCallback& progress)
      : request_(request),
        sink_(sink),
        options_(options),
        failures_(failures),
        located_(request.mirrors.begin(), request.mirrors.end()),
        mirrors_(request.mirrors.size()),
        align_(std::max<std::uint64_t>(sink.alignment(), 1)),
        meter_(progress, Progress::Phase::downloading,
               request.mirrors.empty() ? "" : without_passwords(request.mirrors.front().name)) {
    meter_.expect(request.size);
  }
  Result<DownloadReport> run(const std::optional<CancelToken>& cancel);

 private:
  struct State {
    int strikes = 0;              // how often it was left
    int failures_since_data = 0;  // failures since anything arrived
    bool out = false;             // given up
    bool ranges = true;
    bool gave = false;
    int most = INT32_MAX;  // largest number of connections that it accepts
    double rate = 0;       // best rate of one connection
    std::uint64_t bytes = 0;
    std::string etag, url;
  };

  bool usable(std::size_t mirror) const { return !mirrors_[mirror].out; }
  bool another_usable(std::size_t mirror) const;
  int connections_of(std::size_t mirror) const;
  std::optional<std::size_t> choose_mirror() const;
  std::optional<Range> next_range();
  bool can_split(const Connection& connection) const;
  std::uint64_t left() const;

  void start_connections();
  std::optional<Diagnosis> collect();
  std::optional<Diagnosis> judge(Connection& connection);
  void give_back(const Range& range);
  void give_up(std::size_t mirror, const Diagnosis& diagnosis, bool out);
  void measure_connections(Clock::time_point now);
  void grow(Clock::time_point now);
  void shrink_to(std::size_t count);
  DownloadReport report(Clock::time_point began) const;

  const DownloadRequest& request_;
  PartSink& sink_;
  const TransferOptions& options_;
  std::vector<MirrorFailure>& failures_;
  std::deque<LocatedMirror> located_;
  std::vector<State> mirrors_;
  const std::uint64_t align_;
  Meter meter_;

  // Guards the members below against a connection whose server begins again. Connections touch nothing else.
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Range> pool_;  // ranges that no connection fetches
  std::uint64_t least_missing_ = UINT64_MAX;
  std::uint64_t received_ = 0;  // by connections that ended
  int most_connections_ = 0;
  bool closing_ = false;

  std::size_t target_ = 1, before_ = 1;
  bool trying_more_ = false, refused_ = false, disturbed_ = true;
  double rate_before_ = 0;
  std::vector<double> rates_;
  Clock::time_point window_ = Clock::now();
  std::uint64_t window_at_ = 0;

  // Last member, so that it is destroyed before the members that connections use.
  std::list<Connection> connections_;
};

bool Download::another_usable(std::size_t mirror) const {
  for (std::size_t i = 0; i < mirrors_.size(); ++i)
    if (i != mirror && usable(i)) return true;
  return false;
}

int Download::connections_of(std::size_t mirror) const {
  return static_cast<int>(
      std::count_if(connections_.begin(), connections_.end(),
                    [&](const Connection& connection) { return connection.mirror() == mirror; }));
}

// The first connection uses the first mirror. Others use untried mirrors first, then the fastest.
std::optional<std::size_t> Download::choose_mirror() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    const State& mirror = mirrors_[i];
    if (mirror.out || connections_of(i) >= mirror.most || (!mirror.ranges && !connections_.empty())) continue;
    if (!best) {
      best = i;
      continue;
    }
    const State& other = mirrors_[*best];
    if (mirror.strikes != other.strikes) {
      if (mirror.strikes < other.strikes) best = i;
      continue;
    }
    if (connections_.empty() && other.rate == 0 && mirror.rate == 0) continue;
    const auto eager = [&](std::size_t at) {
      const bool untried = mirrors_[at].rate == 0 && connections_of(at) == 0;
      return untried ? 1e300 : mirrors_[at].rate;
    };
    if (eager(i) > eager(*best)) best = i;
  }
  return best;
}

// A connection's rest is split if it is large, or if it alone would delay the end.
bool Download::can_split(const Connection& connection) const {
  const std::uint64_t remaining = connection.remaining();
  const std::uint64_t part = std::max(align_, least_part);
  if (remaining < 2 * part) return false;
  if (remaining >= 2 * std::max(options_.smallest_part, part)) return true;
  return static_cast<double>(remaining) > connection.rate * seconds(options_.patience) && connection.rate > 0;
}

std::optional<Range> Download::next_range() {
  if (!pool_.empty()) {
    const Range range = pool_.front();
    pool_.erase(pool_.begin());
    return range;
  }
  Connection* longest = nullptr;
  for (Connection& connection : connections_)
    if (!connection.ended() && !connection.was_stopped() && can_split(connection) &&
        (longest == nullptr || connection.remaining() > longest->remaining()))
      longest = &connection;
  if (longest == nullptr) return {};
  const std::uint64_t end = longest->end();
  const std::uint64_t part = std::max(align_, least_part);
  std::uint64_t middle = longest->position() + longest->remaining() / 2;
  middle = std::max((middle + align_ - 1) / align_ * align_, longest->position() + part);
  middle = (middle + align_ - 1) / align_ * align_;
  if (middle >= end) return {};
  longest->end_at(middle);
  return Range{middle, end};
}

std::uint64_t Download::left() const {
  std::uint64_t sum = 0;
  for (const Range& range : pool_) sum += range.end - range.begin;
  for (const Connection& connection : connections_) sum += connection.remaining();
  return std::min(sum, request_.size);
}

void Download::start_connections() {
  while (connections_.size() < target_) {
    const auto mirror = choose_mirror();
    if (!mirror) return;
    const auto range = next_range();
    if (!range) return;
    Connection::Order order{*mirror,       &located_[*mirror],     *range,
                            request_.size, mirrors_[*mirror].etag, options_};
    // If other mirrors can serve, a failing one is retried at most once.
    if (another_usable(*mirror)) order.options.retries = std::min(1, options_.retries);
    const auto may_restart = [this]() -> Result<bool> {
      const std::lock_guard lock(mutex_);
      if (closing_ || connections_.size() != 1) return false;
      TRY(sink_.restart());
      pool_.clear();
      return true;
    };
    try {
      connections_.emplace_back(std::move(order), sink_, may_restart, [this] { ended_.notify_all(); });
    } catch (const std::exception&) {
      if (connections_.empty()) throw;
      // No further thread can be created, for want of threads or of memory: continue with the running
      // connections.
      pool_.insert(pool_.begin(), *range);
      give_back(*range);
      target_ = connections_.size();
      refused_ = true;
      return;
    }
    most_connections_ = std::max(most_connections_, static_cast<int>(connections_.size()));
    disturbed_ = true;
  }
}

void Download::give_up(std::size_t mirror, const Diagnosis& diagnosis, bool out) {
  mirrors_[mirror].out = mirrors_[mirror].out || out;
  ++mirrors_[mirror].strikes;
  MirrorFailure failure{mirror, diagnosis, out};
  if (failure.diagnosis.value(Key::url).empty())
    failure.diagnosis.with(Key::url, request_.mirrors[mirror].name);
  // Keeps the last diagnosis of each mirror.
  for (MirrorFailure& known : failures_)
    if (known.mirror == mirror) {
      known = std::move(failure);
      return;
    }
  failures_.push_back(std::move(failure));
}

// Returns a range of which nothing arrived to the connection that it was taken from, if that still runs. If
// that connection just ended, its missing range shows up anyway.
void Download::give_back(const Range& range) {
  for (Connection& other : connections_)
    if (!other.ended() && other.end() == range.begin && range.end <= other.asked_until()) {
      other.end_at(range.end);
      std::erase_if(pool_,
                    [&](const Range& part) { return part.begin >= range.begin && part.end <= range.end; });
      return;
    }
}

// Evaluates a connection that ended. A diagnosis ends the download.
std::optional<Diagnosis> Download::judge(Connection& connection) {
  State& mirror = mirrors_[connection.mirror()];
  received_ += connection.received();
  mirror.bytes += connection.received();
  mirror.gave = mirror.gave || connection.received() > 0;
  // A fast connection may have been too short to be measured.
  if (connection.received() >= least_part)
    mirror.rate = std::max(mirror.rate, static_cast<double>(connection.received()) /
                                            std::max(seconds(Clock::now() - connection.began), 1e-3));
  const Result<TransferReport>& outcome = connection.outcome();
  if (outcome) {
    mirror.url = outcome->url;
    if (outcome->etag.starts_with('"')) mirror.etag = outcome->etag;
  }
  // Ranges that the sink lacks, whatever the connection counted.
  const Range range = connection.range();
  for (Range missing : sink_.missing()) {
    missing = {std::max(missing.begin, range.begin), std::min(missing.end, range.end)};
    if (missing.begin < missing.end) pool_.push_back(missing);
  }
  std::sort(pool_.begin(), pool_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uint64_t missing = 0;
  for (const Range& part : pool_) missing += part.end - part.begin;
  for (const Connection& other : connections_)
    if (&other != &connection) missing += other.remaining();
  const bool progress = missing < least_missing_;
  least_missing_ = std::min(least_missing_, missing);
  if (progress) mirror.failures_since_data = 0;
  if (outcome ||
      (outcome.error().code == Code::canceled && connection.was_stopped() && !connection.was_left()))
    return {};
  const Diagnosis& diagnosis = outcome.error();
  if (connection.was_left()) {
    Diagnosis slow = diagnose(Code::transfer_stalled);
    slow.with(Key::seconds, std::to_string(options_.patience.count() / 1000))
        .with(Key::received, std::to_string(connection.received()))
        .with(Key::problem, "slow, and another mirror may be faster");
    give_up(connection.mirror(), slow, false);
    return {};
  }
  // Policy forbids this host; others may be allowed.
  if (diagnosis.code == Code::forbidden_by_policy) {
    give_up(connection.mirror(), diagnosis, true);
    return {};
  }
  // The system has no resources for this connection. The running ones continue.
  if (diagnosis.code == Code::out_of_memory && connections_.size() > 1) {
    if (connection.received() == 0) give_back(range);
    refused_ = true;
    target_ = connections_.size() - 1;
    return {};
  }
  if (area_of(diagnosis.code) != Area::network) return diagnosis;
  if (diagnosis.value(Key::problem) == sends_whole_files) {
    mirror.ranges = false;
    give_back(range);  // that connection still receives the whole file
    target_ = std::max<std::size_t>(connections_.size() - 1, 1);
    return {};
  }
  const int others = connections_of(connection.mirror()) - 1;
  if (is_transient(diagnosis) && others > 0) {  // the mirror allows no more connections
    // A server may count a closed connection for a while, so the running connection fetches the range.
    if (connection.received() == 0) give_back(range);
    mirror.most = others;
    refused_ = true;
    target_ = std::max<std::size_t>(connections_.size() - 1, 1);
    return {};
  }
  ++mirror.failures_since_data;
  const int patience = another_usable(connection.mirror()) ? 2 : 1;
  give_up(connection.mirror(), diagnosis, !is_transient(diagnosis) || mirror.failures_since_data >= patience);
  return {};
}

std::optional<Diagnosis> Download::collect() {
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (!connection->ended()) {
      ++connection;
      continue;
    }
    if (auto ends_all = judge(*connection)) return ends_all;
    connection = connections_.erase(connection);
    disturbed_ = true;
  }
  return {};
}

void Download::measure_connections(Clock::time_point now) {
  double best = 0;
  for (const State& mirror : mirrors_) best = std::max(best, mirror.rate);
  for (Connection& connection : connections_) {
    const double time = seconds(now - connection.measured);
    const std::uint64_t position = std::max(connection.position(), connection.measured_at);
    const double rate = static_cast<double>(position - connection.measured_at) / std::max(time, 1e-3);
    if (time >= seconds(options_.rate_window)) {
      connection.rate = rate;
      if (mirrors_[connection.mirror()].rate < rate) mirrors_[connection.mirror()].rate = rate;
    }
    if (time < seconds(options_.patience)) continue;
    bool elsewhere = false;  // a mirror that was not left more often than this one
    for (std::size_t i = 0; i < mirrors_.size(); ++i)
      elsewhere = elsewhere || (i != connection.mirror() && usable(i) &&
                                mirrors_[i].strikes <= mirrors_[connection.mirror()].strikes &&
                                (mirrors_[i].ranges || connection.position() == 0));
    if (elsewhere && rate < too_slow * best + 1) connection.stop(true);
    connection.measured = now;
    connection.measured_at = position;
  }
}

void Download::shrink_to(std::size_t count) {
  std::size_t running = 0;
  for (const Connection& connection : connections_) running += connection.was_stopped() ? 0u : 1u;
  for (auto connection = connections_.rbegin(); connection != connections_.rend() && running > count;
       ++connection) {
    if (connection->was_stopped()) continue;
    connection->stop(false);
    --running;
  }
}

void Download::grow(Clock::time_point now) {
  if (now - window_ < options_.rate_window) return;
  std::uint64_t received = received_;
  for (const Connection& connection : connections_) received += connection.received();
  const double rate = static_cast<double>(received - window_at_) / seconds(now - window_);
  window_ = now;
  window_at_ = received;
  if (disturbed_) {  // a connection began or ended in the window: it shows nothing
    disturbed_ = false;
    rates_.clear();
    return;
  }
  rates_.push_back(rate);
  if (rates_.size() < 2) return;
  const double earlier = rates_[rates_.size() - 2];
  if (trying_more_) {
    trying_more_ = false;
    if (std::max(rate, earlier) < worth_it * rate_before_) {
      refused_ = true;
      target_ = before_;
      shrink_to(target_);
    }
    return;
  }
  if (refused_ && rate < rate_before_ / 2) refused_ = false;  // the situation changed
  const bool steady = std::max(rate, earlier) <= 1.25 * std::min(rate, earlier);
  const double time_left = static_cast<double>(left()) / std::max(rate, 1.0);
  if (refused_ || !steady || time_left < 4 * seconds(options_.rate_window)) return;
  if (target_ >= static_cast<std::size_t>(options_.most_connections) || connections_.size() < target_) return;
  before_ = target_;
  rate_before_ = std::max(rate, earlier);
  target_ = std::min(2 * target_, static_cast<std::size_t>(options_.most_connections));
  start_connections();
  trying_more_ = connections_.size() > before_;
  if (!trying_more_) target_ = before_;
}

DownloadReport Download::report(Clock::time_point began) const {
  DownloadReport report;
  report.received = received_;
  report.connections = most_connections_;
  report.seconds = seconds(Clock::now() - began);
  const State* most = nullptr;
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    if (!mirrors_[i].gave) continue;
    report.contributors.push_back(i);
    if (most == nullptr || mirrors_[i].bytes > most->bytes) {
      most = &mirrors_[i];
      report.url = most->url.empty() ? without_passwords(request_.mirrors[i].name) : most->url;
    }
  }
  return report;
}

Result<DownloadReport> Download::run(const std::optional<CancelToken>& cancel) {
  const Clock::time_point began = Clock::now();
  std::unique_lock lock(mutex_);
  pool_ = sink_.missing();
  for (;;) {
    std::optional<Diagnosis> ends_all = collect();
    if (cancel && cancel->canceled()) ends_all = diagnose(Code::canceled);
    const bool done = pool_.empty() && connections_.empty();
    if (!ends_all && !done) start_connections();
    if (!ends_all && !done && connections_.empty())  // no mirror is left
      ends_all = failures_.empty() ? diagnose(Code::component_without_source) : failures_.back().diagnosis;
    if (ends_all || done) {
      for (Connection& connection : connections_) connection.stop(false);
      closing_ = true;
      lock.unlock();  // connections may be waiting for it
      connections_.clear();
      if (ends_all) return fail(std::move(*ends_all));
      meter_.at(request_.size, true);
      return report(began);
    }
    const Clock::time_point now = Clock::now();
    measure_connections(now);
    grow(now);
    meter_.at(request_.size - left());
    ended_.wait_for(lock, tick);
  }
}

}  // namespace

Result<DownloadReport> download(const DownloadRequest& request, PartSink& sink,
                                const TransferOptions& options, std::vector<MirrorFailure>& failures,
                                const ProgressCallback& progress, const std::optional<CancelToken>& cancel) {
  return Download(request, sink, options, failures, progress).run(cancel);
}

}  // namespace enginehost::transfer
