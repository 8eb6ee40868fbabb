#include "host/transfer/download.hpp"

#include <algorithm>
#include <condition_variable>
#include <list>
#include <mutex>
#include <system_error>

#include "host/transfer/download_lane.hpp"
#include "host/transfer/meter.hpp"

namespace enginehost::transfer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr std::uint64_t least_part = 1u << 20;  // see Sink::wanted_until
constexpr double worth_it = 1.3;                // so much more must twice the connections bring
constexpr double too_slow = 0.1;                // of what the fastest mirror brought
constexpr milliseconds tick{20};

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

bool is_wrong_bytes(const std::string& code) {
  return code == "EH-N06" || code == "EH-N07" || code == "EH-N08";
}

// Whether the same mirror may well serve later.
bool may_pass(const Diagnosis& diagnosis) {
  if (diagnosis.code == "EH-N01" || diagnosis.code == "EH-N02" || diagnosis.code == "EH-N03") return true;
  if (diagnosis.code != "EH-N04") return false;
  const std::string_view status = diagnosis.value("status");
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
        mirrors_(request.mirrors.size()),
        align_(std::max<std::uint64_t>(sink.alignment(), 1)),
        meter_(progress, Progress::Phase::downloading,
               request.mirrors.empty() ? "" : without_credentials(request.mirrors.front().url)) {
    meter_.expect(request.size);
  }
  Result<DownloadReport> run(const std::optional<CancelToken>& cancel);

 private:
  struct State {
    int strikes = 0;   // how often it was left
    int barren = 0;    // failures since anything arrived
    bool out = false;  // given up
    bool ranges = true;
    bool gave = false;
    int most = INT32_MAX;  // connections it puts up with
    double rate = 0;       // best of one connection
    std::uint64_t bytes = 0;
    std::string etag, url;
  };

  bool usable(std::size_t mirror) const { return !mirrors_[mirror].out; }
  bool another_usable(std::size_t mirror) const;
  int lanes_of(std::size_t mirror) const;
  std::optional<std::size_t> choose_mirror() const;
  std::optional<Range> next_range();
  bool can_split(const Lane& lane) const;
  std::uint64_t left() const;

  void start_lanes();
  std::optional<Diagnosis> collect();
  std::optional<Diagnosis> judge(Lane& lane);
  void give_back(const Range& range);
  void give_up(std::size_t mirror, const Diagnosis& diagnosis, bool out);
  void measure_lanes(Clock::time_point now);
  void grow(Clock::time_point now);
  void shrink_to(std::size_t count);
  DownloadReport report(Clock::time_point began) const;

  const DownloadRequest& request_;
  PartSink& sink_;
  const TransferOptions& options_;
  std::vector<MirrorFailure>& failures_;
  std::vector<State> mirrors_;
  const std::uint64_t align_;
  Meter meter_;

  // Guards what follows against a lane whose server begins anew; lanes touch nothing else.
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Range> pool_;  // what no lane fetches
  std::uint64_t least_missing_ = UINT64_MAX;
  std::uint64_t received_ = 0;  // by lanes that ended
  int most_lanes_ = 0;
  bool closing_ = false;

  std::size_t target_ = 1, before_ = 1;
  bool trial_ = false, refused_ = false, disturbed_ = true;
  double rate_before_ = 0;
  std::vector<double> rates_;
  Clock::time_point window_ = Clock::now();
  std::uint64_t window_at_ = 0;

  std::list<Lane> lanes_;  // last: destroyed first, while what they call is alive
};

bool Download::another_usable(std::size_t mirror) const {
  for (std::size_t i = 0; i < mirrors_.size(); ++i)
    if (i != mirror && usable(i)) return true;
  return false;
}

int Download::lanes_of(std::size_t mirror) const {
  return static_cast<int>(
      std::count_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return lane.mirror() == mirror; }));
}

// The first connection goes to the first mirror; others try the untried, then go where it was fastest.
std::optional<std::size_t> Download::choose_mirror() const {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    const State& mirror = mirrors_[i];
    if (mirror.out || lanes_of(i) >= mirror.most || (!mirror.ranges && !lanes_.empty())) continue;
    if (!best) {
      best = i;
      continue;
    }
    const State& other = mirrors_[*best];
    if (mirror.strikes != other.strikes) {
      if (mirror.strikes < other.strikes) best = i;
      continue;
    }
    if (lanes_.empty() && other.rate == 0 && mirror.rate == 0) continue;
    const auto eager = [&](std::size_t at) {
      const bool untried = mirrors_[at].rate == 0 && lanes_of(at) == 0;
      return untried ? 1e300 : mirrors_[at].rate;
    };
    if (eager(i) > eager(*best)) best = i;
  }
  return best;
}

// In the middle of what a lane has left, or as soon as it would keep everyone waiting.
bool Download::can_split(const Lane& lane) const {
  const std::uint64_t remaining = lane.remaining();
  const std::uint64_t part = std::max(align_, least_part);
  if (remaining < 2 * part) return false;
  if (remaining >= 2 * std::max(options_.smallest_part, part)) return true;
  return static_cast<double>(remaining) > lane.rate * seconds(options_.patience) && lane.rate > 0;
}

std::optional<Range> Download::next_range() {
  if (!pool_.empty()) {
    const Range range = pool_.front();
    pool_.erase(pool_.begin());
    return range;
  }
  Lane* longest = nullptr;
  for (Lane& lane : lanes_)
    if (!lane.ended() && !lane.was_stopped() && can_split(lane) &&
        (longest == nullptr || lane.remaining() > longest->remaining()))
      longest = &lane;
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
  for (const Lane& lane : lanes_) sum += lane.remaining();
  return std::min(sum, request_.size);
}

void Download::start_lanes() {
  while (lanes_.size() < target_) {
    const auto mirror = choose_mirror();
    if (!mirror) return;
    const auto range = next_range();
    if (!range) return;
    Lane::Order order{*mirror,       &request_.mirrors[*mirror], *range,
                      request_.size, mirrors_[*mirror].etag,     options_};
    // Where others may serve, patience with one that fails is short.
    if (another_usable(*mirror)) order.options.retries = std::min(1, options_.retries);
    const auto may_restart = [this]() -> Result<bool> {
      const std::lock_guard lock(mutex_);
      if (closing_ || lanes_.size() != 1) return false;
      TRY(sink_.restart());
      pool_.clear();
      return true;
    };
    try {
      lanes_.emplace_back(std::move(order), sink_, may_restart, [this] { ended_.notify_all(); });
    } catch (const std::system_error&) {
      if (lanes_.empty()) throw;
      // No further thread is to be had: it goes with those that are under way.
      pool_.insert(pool_.begin(), *range);
      give_back(*range);
      target_ = lanes_.size();
      refused_ = true;
      return;
    }
    most_lanes_ = std::max(most_lanes_, static_cast<int>(lanes_.size()));
    disturbed_ = true;
  }
}

void Download::give_up(std::size_t mirror, const Diagnosis& diagnosis, bool out) {
  mirrors_[mirror].out = mirrors_[mirror].out || out;
  ++mirrors_[mirror].strikes;
  MirrorFailure failure{mirror, diagnosis, out};
  if (failure.diagnosis.value("url").empty())
    failure.diagnosis.with("url", without_credentials(request_.mirrors[mirror].url));
  // One word a mirror: the last.
  for (MirrorFailure& known : failures_)
    if (known.mirror == mirror) {
      known = std::move(failure);
      return;
    }
  failures_.push_back(std::move(failure));
}

// A part of which nothing came, to the connection that it was taken from, where that is still under way. One
// that ends just now is found to have left it out.
void Download::give_back(const Range& range) {
  for (Lane& other : lanes_)
    if (!other.ended() && other.end() == range.begin && range.end <= other.asked_until()) {
      other.end_at(range.end);
      std::erase_if(pool_,
                    [&](const Range& part) { return part.begin >= range.begin && part.end <= range.end; });
      return;
    }
}

// A diagnosis ends everything.
std::optional<Diagnosis> Download::judge(Lane& lane) {
  State& mirror = mirrors_[lane.mirror()];
  received_ += lane.received();
  mirror.bytes += lane.received();
  mirror.gave = mirror.gave || lane.received() > 0;
  // One that was fast may never have been under way for long enough to be measured.
  if (lane.received() >= least_part)
    mirror.rate = std::max(mirror.rate, static_cast<double>(lane.received()) /
                                            std::max(seconds(Clock::now() - lane.began), 1e-3));
  const Result<TransferReport>& outcome = lane.outcome();
  if (outcome) {
    mirror.url = outcome->url;
    if (outcome->etag.starts_with('"')) mirror.etag = outcome->etag;
  }
  // What the sink still lacks of the lane's range, whatever the lane believes.
  const Range range = lane.range();
  for (Range missing : sink_.missing()) {
    missing = {std::max(missing.begin, range.begin), std::min(missing.end, range.end)};
    if (missing.begin < missing.end) pool_.push_back(missing);
  }
  std::sort(pool_.begin(), pool_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  std::uint64_t missing = 0;
  for (const Range& part : pool_) missing += part.end - part.begin;
  for (const Lane& other : lanes_)
    if (&other != &lane) missing += other.remaining();
  const bool progress = missing < least_missing_;
  least_missing_ = std::min(least_missing_, missing);
  if (progress) mirror.barren = 0;
  if (outcome || (outcome.error().code == "EH-P10" && lane.was_stopped() && !lane.was_left())) return {};
  const Diagnosis& diagnosis = outcome.error();
  if (lane.was_left()) {
    Diagnosis slow = diagnose("EH-N03");
    slow.with("seconds", std::to_string(options_.patience.count() / 1000))
        .with("received", std::to_string(lane.received()))
        .with("problem", "slow, and another mirror may be faster");
    give_up(lane.mirror(), slow, false);
    return {};
  }
  // A host that policy does not allow: the others may be asked.
  if (diagnosis.code == "EH-P01") {
    give_up(lane.mirror(), diagnosis, true);
    return {};
  }
  // The system gives no more for this connection: those that are under way go on.
  if (diagnosis.code == "EH-P51" && lanes_.size() > 1) {
    if (lane.received() == 0) give_back(range);
    refused_ = true;
    target_ = lanes_.size() - 1;
    return {};
  }
  if (!diagnosis.code.starts_with("EH-N")) return diagnosis;
  if (diagnosis.value("problem") == sends_whole_files) {
    mirror.ranges = false;
    give_back(range);  // that connection is still being sent all of it
    target_ = std::max<std::size_t>(lanes_.size() - 1, 1);
    return {};
  }
  const int others = lanes_of(lane.mirror()) - 1;
  if (may_pass(diagnosis) && others > 0) {  // it has enough of us
    // So that nobody has to ask again: a server may count a connection for a while after it was closed.
    if (lane.received() == 0) give_back(range);
    mirror.most = others;
    refused_ = true;
    target_ = std::max<std::size_t>(lanes_.size() - 1, 1);
    return {};
  }
  ++mirror.barren;
  const int patience = another_usable(lane.mirror()) ? 2 : 1;
  give_up(lane.mirror(), diagnosis,
          is_wrong_bytes(diagnosis.code) || !may_pass(diagnosis) || mirror.barren >= patience);
  return {};
}

std::optional<Diagnosis> Download::collect() {
  for (auto lane = lanes_.begin(); lane != lanes_.end();) {
    if (!lane->ended()) {
      ++lane;
      continue;
    }
    if (auto ends_all = judge(*lane)) return ends_all;
    lane = lanes_.erase(lane);
    disturbed_ = true;
  }
  return {};
}

void Download::measure_lanes(Clock::time_point now) {
  double best = 0;
  for (const State& mirror : mirrors_) best = std::max(best, mirror.rate);
  for (Lane& lane : lanes_) {
    const double time = seconds(now - lane.measured);
    const std::uint64_t position = std::max(lane.position(), lane.measured_at);
    const double rate = static_cast<double>(position - lane.measured_at) / std::max(time, 1e-3);
    if (time >= seconds(options_.rate_window)) {
      lane.rate = rate;
      if (mirrors_[lane.mirror()].rate < rate) mirrors_[lane.mirror()].rate = rate;
    }
    if (time < seconds(options_.patience)) continue;
    bool elsewhere = false;  // a mirror that was not left more often than this one
    for (std::size_t i = 0; i < mirrors_.size(); ++i)
      elsewhere = elsewhere || (i != lane.mirror() && usable(i) &&
                                mirrors_[i].strikes <= mirrors_[lane.mirror()].strikes &&
                                (mirrors_[i].ranges || lane.position() == 0));
    if (elsewhere && rate < too_slow * best + 1) lane.stop(true);
    lane.measured = now;
    lane.measured_at = position;
  }
}

void Download::shrink_to(std::size_t count) {
  std::size_t running = 0;
  for (const Lane& lane : lanes_) running += lane.was_stopped() ? 0u : 1u;
  for (auto lane = lanes_.rbegin(); lane != lanes_.rend() && running > count; ++lane) {
    if (lane->was_stopped()) continue;
    lane->stop(false);
    --running;
  }
}

void Download::grow(Clock::time_point now) {
  if (now - window_ < options_.rate_window) return;
  std::uint64_t received = received_;
  for (const Lane& lane : lanes_) received += lane.received();
  const double rate = static_cast<double>(received - window_at_) / seconds(now - window_);
  window_ = now;
  window_at_ = received;
  if (disturbed_) {  // a connection began or ended within: it says nothing
    disturbed_ = false;
    rates_.clear();
    return;
  }
  rates_.push_back(rate);
  if (rates_.size() < 2) return;
  const double earlier = rates_[rates_.size() - 2];
  if (trial_) {
    trial_ = false;
    if (std::max(rate, earlier) < worth_it * rate_before_) {
      refused_ = true;
      target_ = before_;
      shrink_to(target_);
    }
    return;
  }
  if (refused_ && rate < rate_before_ / 2) refused_ = false;  // times have changed
  const bool steady = std::max(rate, earlier) <= 1.25 * std::min(rate, earlier);
  const double time_left = static_cast<double>(left()) / std::max(rate, 1.0);
  if (refused_ || !steady || time_left < 4 * seconds(options_.rate_window)) return;
  if (target_ >= static_cast<std::size_t>(options_.most_connections) || lanes_.size() < target_) return;
  before_ = target_;
  rate_before_ = std::max(rate, earlier);
  target_ = std::min(2 * target_, static_cast<std::size_t>(options_.most_connections));
  start_lanes();
  trial_ = lanes_.size() > before_;
  if (!trial_) target_ = before_;
}

DownloadReport Download::report(Clock::time_point began) const {
  DownloadReport report;
  report.received = received_;
  report.connections = most_lanes_;
  report.seconds = seconds(Clock::now() - began);
  const State* most = nullptr;
  for (std::size_t i = 0; i < mirrors_.size(); ++i) {
    if (!mirrors_[i].gave) continue;
    report.contributors.push_back(i);
    if (most == nullptr || mirrors_[i].bytes > most->bytes) {
      most = &mirrors_[i];
      report.url = most->url.empty() ? without_credentials(request_.mirrors[i].url) : most->url;
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
    if (cancel && cancel->cancelled()) ends_all = diagnose("EH-P10");
    const bool done = pool_.empty() && lanes_.empty();
    if (!ends_all && !done) start_lanes();
    if (!ends_all && !done && lanes_.empty())  // nobody is left to ask
      ends_all = failures_.empty() ? diagnose("EH-N15") : failures_.back().diagnosis;
    if (ends_all || done) {
      for (Lane& lane : lanes_) lane.stop(false);
      closing_ = true;
      lock.unlock();  // they may be waiting for it
      lanes_.clear();
      if (ends_all) return fail(std::move(*ends_all));
      meter_.at(request_.size, true);
      return report(began);
    }
    const Clock::time_point now = Clock::now();
    measure_lanes(now);
    grow(now);
    meter_.at(request_.size - left());
    ended_.wait_for(lock, tick);
  }
}

}  // namespace

Result<DownloadReport> download(const DownloadRequest& request, PartSink& sink,
                                const TransferOptions& options, std::vector<MirrorFailure>& failures,
                                const ProgressCallback& progress, const std::optional<CancelToken>& cancel) {
  if (options.offline) {
    const std::string url =
        request.mirrors.empty() ? std::string() : without_credentials(request.mirrors.front().url);
    return fail(diagnose("EH-N10").with("url", url));
  }
  return Download(request, sink, options, failures, progress).run(cancel);
}

}  // namespace enginehost::transfer
