#include "host/open/device_check.hpp"

#include "host/explain/explain.hpp"

namespace enginehost::open {
namespace {

Result<load::Device> find_device(const std::vector<load::Device>& offered, const std::string& wanted) {
  for (const load::Device& device : offered)
    if (wanted.empty() || device.is_meant_by(wanted)) return device;
  Diagnosis failure = diagnose("EH-S09").with("device", wanted.empty() ? "any" : wanted, "request");
  for (const load::Device& device : offered) failure.with("offered", device.text(), "the engine");
  return fail(std::move(failure));
}

// Creates a new engine of the same plugin and checks the device in it.
Result<load::DeviceCheck> open_again(Opened& opened, const load::Device& device,
                                     const load::CallOptions& options, std::mutex* readers) {
  load::EngineOptions again = opened.engine_options;
  again.health = opened.engine->health();
  again.call = options;
  TRY_ASSIGN(std::unique_ptr<load::Engine> engine, load::Engine::create(opened.plugin, std::move(again)));
  TRY_ASSIGN(const std::vector<load::Device> devices, engine->devices());
  TRY_ASSIGN(const load::Device same, find_device(devices, device.text()));
  TRY_ASSIGN(load::DeviceCheck check, load::check_device(*engine, same, options));
  check.reopened = true;
  std::unique_lock<std::mutex> alone;
  if (readers != nullptr) alone = std::unique_lock(*readers);
  opened.retired.push_back(std::move(opened.engine));
  opened.engine = std::move(engine);  // opened.devices stays: applications hold its strings
  opened.engine->health()->takes_place(opened.engine->number());
  return check;
}

}  // namespace

Result<load::DeviceCheck> check_device(Opened& opened, const std::string& device,
                                       const load::CallOptions& options, std::mutex* readers) {
  TRY_ASSIGN(const load::Device wanted, find_device(opened.devices, device));
  load::Health& health = *opened.engine->health();
  auto check = load::check_device(*opened.engine, wanted, options);
  if (!check && health.is_lost(wanted.text())) {
    auto again = open_again(opened, wanted, options, readers);
    if (again)
      check = std::move(again);
    else
      check.error().with("reopening", explain::one_line(again.error()), "a new engine of the same plugin");
  }
  if (check) health.back(wanted.text());
  return check;
}

}  // namespace enginehost::open
