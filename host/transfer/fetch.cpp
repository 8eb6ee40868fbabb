// Retries, resumes and evaluates single HTTP exchanges; reads local files.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_calls.hpp"
#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/text.hpp"
#include "host/transfer/http_exchange.hpp"
#include "host/transfer/progress.hpp"
#include "host/transfer/server_message.hpp"
#include "host/transfer/transfer.hpp"

namespace enginehost::transfer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
constexpr std::size_t head_bytes = 4096;
constexpr std::uint64_t slow_rate = 16u << 10;  // bytes a second, of a small document
constexpr milliseconds longest_wait{60'000};
// How long to wait for the end of an answer after all expected bytes arrived. A server that sends too much
// does so within this time.
constexpr milliseconds end_patience{500};
// A name that does not resolve, or a port that refuses, rarely recovers within a minute.
constexpr int retries_without_connection = 2;

Diagnosis offline_refusal(std::string_view url) {
  return std::move(diagnose(Code::offline).with(Key::url, url));
}

bool is_strong(std::string_view etag) { return etag.size() > 2 && etag.front() == '"'; }

// An answer with fewer bytes counts as failed, because its server would be asked forever.
constexpr std::uint64_t least_progress = 1024;

milliseconds backoff(const TransferOptions& options, int failures, const HttpAnswer& answer) {
  if (answer.retry_after) return std::min<milliseconds>(*answer.retry_after, longest_wait);
  // Two clients rarely read the same nanosecond; std::random_device may throw.
  thread_local std::minstd_rand random{static_cast<unsigned>(Clock::now().time_since_epoch().count())};
  const double jitter = std::uniform_real_distribution<double>(0.5, 1.5)(random);
  const auto doubled = static_cast<double>(options.first_backoff.count()) * (1 << std::min(failures - 1, 5));
  return std::min(milliseconds(static_cast<std::int64_t>(doubled * jitter)), longest_wait);
}

bool wait(milliseconds time, const std::optional<CancelToken>& cancel) {
  const Clock::time_point end = Clock::now() + time;
  while (Clock::now() < end) {
    if (cancel && cancel->canceled()) return false;
    std::this_thread::sleep_for(std::min(milliseconds{50}, time));
  }
  return !(cancel && cancel->canceled());
}

// Fetches one file from a server into a sink.
class Fetch {
 public:
  Fetch(HttpClient& client, const UrlRequest& request, Sink& sink, const TransferOptions& options,
        const ProgressCallback& progress, const std::optional<CancelToken>& cancel)
      : request_(request),
        sink_(sink),
        options_(options),
        cancel_(cancel),
        client_(client),
        meter_(progress, Progress::Phase::downloading, without_passwords(request.url)),
        decode_(!request.expected_size) {
    meter_.expect(request.expected_size);
    etag_ = request.etag;
    if (request.time_limit.count() != 0) time_.emplace(request.time_limit, request.longest_time);
  }

  Result<TransferReport> run();

 private:
  Result<void> begin(const HttpAnswer& answer);
  Result<void> take(std::string_view bytes);
  Result<void> look_at_the_clock();
  Diagnosis wrong_length(std::uint64_t actual) const;
  bool complete_by_416(const HttpAnswer& answer) const;
  bool should_retry(const HttpOutcome& outcome);

  const UrlRequest& request_;
  Sink& sink_;
  const TransferOptions& options_;
  const std::optional<CancelToken>& cancel_;
  HttpClient& client_;
  Meter meter_;
  TransferReport report_;

  std::uint64_t position_ = 0, best_ = 0, asked_ = 0;
  std::optional<std::uint64_t> total_;
  std::optional<std::uint64_t> refused_length_;  // the answer's length is wrong: only its head is read
  std::string etag_;
  std::uint64_t skip_ = 0;
  bool restart_ = false, http1_only_ = false;
  bool decode_;           // see HttpRequest::decode
  std::string encoding_;  // of the last answer
  bool enough_ = false;   // the sink has all that it wanted
  // The last byte of a file of known size, held back until the answer ends. An answer that is too long thus
  // never leaves a whole file in the sink, however its packets arrive.
  std::optional<char> last_byte_;
  std::optional<Clock::time_point>
      all_came_;  // when all expected bytes had arrived, while the answer goes on
  int failures_ = 0;
  const Clock::time_point began_ = Clock::now();
  std::optional<DocumentTime> time_;
};

Result<void> Fetch::look_at_the_clock() {
  meter_.at(position_);
  if (all_came_ && Clock::now() - *all_came_ > std::min(end_patience, options_.stall_limit / 2)) {
    enough_ = true;
    return fail(diagnose(Code::canceled));  // as in take()
  }
  return time_ ? time_->check(request_.url, report_.received) : Result<void>();
}

Diagnosis Fetch::wrong_length(std::uint64_t actual) const {
  const auto title = title_of_page(report_.head);
  Diagnosis diagnosis = diagnose(title ? Code::web_page_in_place_of_file : Code::fetched_length_wrong);
  diagnosis.with(Key::url, report_.url);
  if (title) diagnosis.with(Key::title, *title, "the first bytes");
  if (!report_.content_type.empty()) diagnosis.with(Key::content_type, report_.content_type, "Content-Type");
  if (!encoding_.empty()) diagnosis.with(Key::content_encoding, encoding_, "Content-Encoding");
  diagnosis.with(Key::expected, std::to_string(request_.expected_size.value_or(request_.limit)))
      .with(Key::actual, std::to_string(actual));
  if (!request_.expected_size)
    diagnosis.with(Key::problem, "longer than is allowed for a file of unknown size");
  if (!title) add_what_came(diagnosis, report_.head, actual);
  return diagnosis;
}

// Decides by the headers whether the server continues, starts again, or sends something else.
Result<void> Fetch::begin(const HttpAnswer& answer) {
  report_.url = without_passwords(answer.url);
  report_.content_type = answer.content_type;
  report_.etag = answer.etag;
  encoding_ = answer.encoding;
  all_came_.reset();
  last_byte_.reset();
  if (answer.status < 200 || answer.status > 299) return {};  // the exchange reports this failure
  if (answer.status != 200 && answer.status != 206)
    return fail(diagnose(Code::server_refuses)
                    .with(Key::url, report_.url)
                    .with(Key::status, std::to_string(answer.status)));
  // A file that is compressed itself (.tar.gz) may come with this header and its own length. Any other length
  // is that of a file which was compressed on the way. No part of such an answer is a part of the file.
  const bool is_part = answer.status == 206;
  if (!encoding_.empty() &&
      (decode_ ? is_part : (is_part ? answer.range.total : answer.length) != request_.expected_size)) {
    restart_ = !std::exchange(decode_, true);
    return fail(diagnose(Code::file_compressed_on_the_way)
                    .with(Key::url, report_.url)
                    .with(Key::content_encoding, encoding_, "Content-Encoding"));
  }
  // Some servers continue with status 200. The offset decides, and finally the digest.
  const bool continues = answer.status == 206 || (asked_ > 0 && answer.range.start == asked_);
  const bool whole_asked = asked_ == 0 && sink_.wanted_until() == UINT64_MAX;
  if (continues && (whole_asked || !answer.range.start || *answer.range.start > asked_)) {
    restart_ = true;  // not the requested part: the next attempt requests the whole file
    return fail(diagnose(Code::no_connection)
                    .with(Key::url, report_.url)
                    .with(Key::problem, "the server continued at another place")
                    .with(Key::expected, std::to_string(asked_))
                    .with(Key::actual, std::to_string(answer.range.start.value_or(0))));
  }
  if (continues && asked_ > 0 && !etag_.empty() && is_strong(answer.etag) && answer.etag != etag_) {
    restart_ = true;  // another file than the one that was begun, despite If-Range
    return fail(diagnose(Code::no_connection)
                    .with(Key::url, report_.url)
                    .with(Key::problem, "the file changed meanwhile"));
  }
  // Without an ETag and a known size, a different total shows that the file was replaced.
  if (continues && asked_ > 0 && answer.range.total && total_ && *answer.range.total != *total_) {
    restart_ = true;
    total_.reset();
    return fail(diagnose(Code::no_connection)
                    .with(Key::url, report_.url)
                    .with(Key::problem, "the file changed meanwhile"));
  }
  total_ = continues ? answer.range.total : answer.length;
  if (decode_ && !encoding_.empty()) total_.reset();  // the length of the compressed bytes
  if (is_strong(answer.etag)) etag_ = answer.etag;
  refused_length_.reset();
  if (total_ && (request_.expected_size ? *total_ != *request_.expected_size : *total_ > request_.limit))
    refused_length_ = total_;
  if (continues && asked_ > 0 && refused_length_) {  // another file than the one that was begun
    restart_ = true;
    return fail(wrong_length(*total_));
  }
  skip_ = continues ? asked_ - *answer.range.start : 0;  // the answer begins before the requested offset
  position_ = continues ? asked_ : 0;
  if (!continues) report_.head.clear();
  if (continues) report_.resumed_at = std::max(report_.resumed_at, asked_);
  if (!request_.expected_size && total_) meter_.expect(total_);
  if (refused_length_) return {};
  return sink_.start(position_);
}

Result<void> Fetch::take(std::string_view bytes) {
  const std::uint64_t skipped = std::min<std::uint64_t>(skip_, bytes.size());
  skip_ -= skipped;
  bytes.remove_prefix(skipped);
  if (position_ == report_.head.size() && report_.head.size() < head_bytes)
    report_.head.append(bytes.substr(0, head_bytes - report_.head.size()));
  if (refused_length_) {
    position_ += bytes.size();
    if (position_ < head_bytes && position_ < *refused_length_) return {};
    return fail(wrong_length(*refused_length_));
  }
  const std::uint64_t wanted = sink_.wanted_until();
  const bool enough = bytes.size() >= wanted - std::min(wanted, position_);
  if (enough) bytes = bytes.substr(0, wanted - std::min(wanted, position_));
  const std::uint64_t limit = request_.expected_size.value_or(request_.limit);
  const std::uint64_t behind = position_ + bytes.size();
  bytes = bytes.substr(0, limit - position_);
  std::string_view taken = bytes;
  if (!bytes.empty() && position_ + bytes.size() == request_.expected_size) {
    last_byte_ = bytes.back();
    taken.remove_suffix(1);
  }
  if (!taken.empty()) TRY(sink_.write(taken));
  if (behind > limit) return fail(wrong_length(behind));
  position_ += bytes.size();
  report_.received += bytes.size();
  meter_.at(position_);
  if (position_ == request_.expected_size) all_came_ = Clock::now();
  enough_ = enough;
  if (enough_) return fail(diagnose(Code::canceled));  // ends the exchange; run() treats it as success
  return {};
}

// "Range not satisfiable" for a file as long as the held bytes means that it was complete.
bool Fetch::complete_by_416(const HttpAnswer& answer) const {
  return answer.status == 416 && asked_ > 0 && answer.range.total == asked_ &&
         (!request_.expected_size || *request_.expected_size == asked_);
}

bool Fetch::should_retry(const HttpOutcome& outcome) {
  if (restart_ || (outcome.answer.status == 416 && asked_ > 0)) {
    restart_ = true;
    return ++failures_ <= options_.retries;
  }
  if (outcome.retry_with_http1 && !http1_only_) {
    http1_only_ = true;
    return true;
  }
  if (!outcome.transient) return false;
  if (position_ >= best_ + least_progress) failures_ = 0;
  best_ = std::max(best_, position_);
  const Code code = outcome.diagnosis->code;
  const bool connected = outcome.body_bytes > 0 || outcome.answered || best_ > 0;
  const bool hopeless = !connected && (code == Code::host_not_found || code == Code::no_connection ||
                                       code == Code::transfer_stalled || code == Code::no_secure_connection ||
                                       code == Code::proxy_not_reached);
  return ++failures_ <=
         (hopeless ? std::min(retries_without_connection, options_.retries) : options_.retries);
}

Result<TransferReport> Fetch::run() {
  best_ = position_ = sink_.held();
  for (;;) {
    ++report_.attempts;
    HttpRequest request;
    request.url = request_.url;  // always the original, because a redirect's target may expire within minutes
    request.accept = request_.accept;
    request.authorization = request_.authorization;
    request.http1_only = http1_only_;
    asked_ = restart_ ? 0 : sink_.held();
    restart_ = false;
    request.range_start = asked_;
    const std::uint64_t wanted = sink_.wanted_until();
    request.decode = decode_;
    if (!decode_ && request_.expected_size && wanted < *request_.expected_size) request.range_end = wanted;
    if (request.range_start > 0 || request.range_end) request.if_range = etag_;
    const HttpOutcome outcome = client_.exchange(
        request, [this](const HttpAnswer& answer) { return begin(answer); },
        [this](std::string_view bytes) { return take(bytes); }, [this] { return look_at_the_clock(); });
    if (complete_by_416(outcome.answer)) position_ = asked_;
    // After the last byte a broken connection does not matter; the digest verifies the bytes.
    const bool cut_behind_the_end = all_came_ && outcome.transient;
    const bool whole = complete_by_416(outcome.answer) || !outcome.diagnosis || enough_ || cut_behind_the_end;
    if (whole && refused_length_) return fail(wrong_length(*refused_length_));
    // A server may send less than the requested range. The rest is requested next.
    const bool shorter = whole && !enough_ && outcome.answer.range.start && position_ > asked_ &&
                         position_ < std::min(request_.expected_size.value_or(0), sink_.wanted_until());
    if (shorter && (position_ - asked_ >= least_progress || ++failures_ <= options_.retries)) continue;
    if (whole && request_.expected_size &&
        position_ != std::min(*request_.expected_size, sink_.wanted_until()))
      return fail(wrong_length(position_));
    if (whole) {
      if (last_byte_) TRY(sink_.write(std::string_view(&*last_byte_, 1)));
      report_.size = position_;
      report_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
      meter_.at(position_, true);
      return std::move(report_);
    }
    const bool again = outcome.diagnosis->code != Code::canceled && should_retry(outcome);
    const milliseconds pause =
        again && failures_ > 0 ? backoff(options_, failures_, outcome.answer) : milliseconds{0};
    if (!again || (time_ && time_->left(report_.received) <= pause)) {
      Diagnosis diagnosis = *outcome.diagnosis;
      if (diagnosis.value(Key::url).empty()) diagnosis.with(Key::url, request_.url);
      if (report_.attempts > 1) diagnosis.with(Key::attempts, std::to_string(report_.attempts));
      return fail(std::move(diagnosis));
    }
    if (pause.count() > 0 && !wait(pause, cancel_))
      return fail(diagnose(Code::canceled).with(Key::url, request_.url));
  }
}

class TextSink : public Sink {
 public:
  std::uint64_t held() const override { return text.size(); }
  Result<void> start(std::uint64_t offset) override {
    text.resize(std::min<std::size_t>(text.size(), offset));
    return {};
  }
  Result<void> write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  std::string text;
};

Result<void> check_request(const UrlRequest& request, const TransferOptions& options) {
  if (options.offline) return fail(offline_refusal(request.url));
  if (is_url(request.url)) return {};
  return fail(diagnose(Code::redirect_refused)
                  .with(Key::url, request.url)
                  .with(Key::problem, "neither http nor https"));
}

}  // namespace

std::optional<std::uint64_t> leading_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [after, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || after == text.data()) return {};
  return value;
}

ContentRange read_content_range(std::string_view value) {
  ContentRange range;
  if (!value.starts_with("bytes ")) return range;
  value.remove_prefix(6);
  range.start = leading_number(value);
  if (const std::size_t slash = value.find('/'); slash != std::string_view::npos)
    range.total = leading_number(value.substr(slash + 1));
  return range;
}

milliseconds DocumentTime::left(std::uint64_t received) const {
  const milliseconds earned(received * 1000 / slow_rate);
  return std::min(limit_ + earned, longest_) -
         std::chrono::duration_cast<milliseconds>(Clock::now() - began_);
}

Result<void> DocumentTime::check(std::string_view url, std::uint64_t received) const {
  if (left(received).count() > 0) return {};
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - began_);
  return fail(diagnose(Code::transfer_stalled)
                  .with(Key::url, url)
                  .with(Key::document_seconds, std::to_string(passed.count()))
                  .with(Key::received, std::to_string(received)));
}

Result<TransferReport> fetch_url(const UrlRequest& request, Sink& sink, const TransferOptions& options,
                                 const ProgressCallback& progress, const std::optional<CancelToken>& cancel) {
  TRY(check_request(request, options));
  HttpClient client(options, cancel);
  return Fetch(client, request, sink, options, progress, cancel).run();
}

Result<std::optional<std::uint64_t>> ask_size(std::string_view url, const TransferOptions& options,
                                              const std::optional<CancelToken>& cancel) {
  if (options.offline) return fail(offline_refusal(url));
  HttpClient client(options, cancel);
  HttpRequest request;
  request.url = url;
  request.head_only = true;
  const HttpOutcome outcome = client.exchange(
      request, [](const HttpAnswer&) { return Result<void>(); },
      [](std::string_view) { return Result<void>(); });
  // A server that refuses HEAD reports no size.
  if (outcome.diagnosis && outcome.diagnosis->code == Code::server_refuses)
    return std::optional<std::uint64_t>();
  if (outcome.diagnosis) return fail(*outcome.diagnosis);
  if (!outcome.answer.encoding.empty()) return std::optional<std::uint64_t>();
  return outcome.answer.length;
}

Result<std::string> fetch_text(std::string_view url, const TransferOptions& options, std::uint64_t limit,
                               std::string_view accept, const std::optional<CancelToken>& cancel,
                               std::optional<milliseconds> longest_time) {
  if (options.offline) return fail(offline_refusal(url));
  HttpClient client(options, cancel);
  return fetch_text_over(client, url, options, limit, accept, cancel, longest_time);
}

Result<std::string> fetch_text_over(HttpClient& client, std::string_view url, const TransferOptions& options,
                                    std::uint64_t limit, std::string_view accept,
                                    const std::optional<CancelToken>& cancel,
                                    std::optional<milliseconds> longest_time) {
  TextSink sink;
  UrlRequest request;
  request.url = url;
  request.limit = limit;
  request.accept = accept;
  request.time_limit = options.document_limit;
  if (longest_time) request.longest_time = *longest_time;
  TRY(check_request(request, options));
  TRY(Fetch(client, request, sink, options, {}, cancel).run().map([](const TransferReport&) {}));
  return std::move(sink.text);
}

Result<TransferReport> fetch_file(const std::filesystem::path& file,
                                  std::optional<std::uint64_t> expected_size, Sink& sink,
                                  const ProgressCallback& progress,
                                  const std::optional<CancelToken>& cancel) {
  const auto began = std::chrono::steady_clock::now();
  TRY_ASSIGN(const FileDescriptor opened, open_to_read(file, Code::source_file_not_readable));
  calls::Status status{};
  if (calls::fstat(opened.get(), &status) != 0)
    return fail(diagnose_errno(Code::source_file_not_readable, errno).with(Key::file, path_text(file)));
  if (!S_ISREG(status.st_mode))
    return fail(diagnose(Code::source_file_not_readable)
                    .with(Key::file, path_text(file))
                    .with(Key::problem, "not a regular file"));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const auto wrong_length = [&](std::uint64_t actual) {
    Diagnosis diagnosis = diagnose(Code::fetched_length_wrong);
    diagnosis.with(Key::file, path_text(file))
        .with(Key::expected, std::to_string(*expected_size))
        .with(Key::actual, std::to_string(actual));
    std::string head(head_bytes, '\0');
    const ssize_t got = calls::pread(opened.get(), head.data(), head.size(), 0);
    add_what_came(diagnosis, std::string_view(head).substr(0, got > 0 ? static_cast<std::size_t>(got) : 0),
                  actual);
    return fail(std::move(diagnosis));
  };
  if (expected_size && size != *expected_size) return wrong_length(size);
  std::uint64_t position = sink.held() <= size ? sink.held() : 0;
  TRY(sink.start(position));
  TransferReport report;
  report.url = path_text(file);
  report.attempts = 1;
  report.resumed_at = position;
  Meter meter(progress, Progress::Phase::downloading, path_text(file));
  meter.expect(size);
  std::vector<char> buffer(1u << 20);
  while (position < sink.wanted_until()) {
    if (cancel && cancel->canceled()) return fail(diagnose(Code::canceled).with(Key::file, path_text(file)));
    const ssize_t got =
        calls::pread(opened.get(), buffer.data(), buffer.size(), static_cast<calls::Offset>(position));
    if (got < 0)
      return fail(diagnose_errno(Code::source_file_not_readable, errno).with(Key::file, path_text(file)));
    if (got == 0) break;
    std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    // The file grows while it is read, or has no real size.
    if (expected_size && bytes.size() > *expected_size - position)
      return wrong_length(position + bytes.size());
    bytes = bytes.substr(0, sink.wanted_until() - position);
    if (position < head_bytes) report.head.append(bytes.substr(0, head_bytes - position));
    TRY(sink.write(bytes));
    position += bytes.size();
    report.received += bytes.size();
    meter.at(position);
  }
  if (expected_size && position < std::min(*expected_size, sink.wanted_until()))
    return wrong_length(position);
  report.size = size;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  meter.at(position, true);
  return report;
}

}  // namespace enginehost::transfer
