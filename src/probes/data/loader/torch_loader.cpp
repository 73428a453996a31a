#include "probes/data/loader/torch_loader.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "core/child_process.h"
#include "core/error.h"
#include "core/json.h"
#include "core/locations.h"
#include "core/text.h"
#include "devices/host_clock.h"
#include "probes/external/supervised.h"

namespace bench::data {
namespace {

constexpr double kToStartS = 120.0;  // Python, PyTorch and the first batches, on a busy host
constexpr std::size_t kMostText = 1 << 16;
constexpr int kTickMs = 100;

std::vector<std::string> command_of(const TorchWish& wish) {
  return {wish.python,
          (data_root() / "scripts" / "torch_loader.py").string(),
          wish.data,
          "--pipeline",
          wish.pipeline,
          "--batch-size",
          std::to_string(wish.options.batch_size),
          "--num-workers",
          std::to_string(wish.options.num_workers),
          "--prefetch-factor",
          std::to_string(wish.options.prefetch_factor),
          "--sequence",
          std::to_string(wish.sequence),
          "--size",
          std::to_string(wish.size),
          "--seconds",
          fmt::format("{}", wish.time.value)};
}

/// Appends the available output, up to the limit.
void take_text(const Descriptor& from, std::string& into) {
  std::array<char, 4096> bytes;
  ssize_t got = 0;
  while ((got = ::read(from.get(), bytes.data(), bytes.size())) > 0 || (got < 0 && errno == EINTR))
    if (got > 0 && into.size() < kMostText)
      into.append(bytes.data(), static_cast<std::size_t>(got));
}

TorchRate run_script(const std::vector<std::string>& argv, Seconds most_time) {
  external::ExternalCommand command{.argv = argv, .env = current_environment()};
  external::Supervised child(command, external::supervisor_program());
  std::string out, err;
  std::optional<external::CommandEnd> end;
  bool late = false;
  const double begun = steady_now().value;
  while (!(end = child.look())) {
    std::array<pollfd, 3> ends{{{child.output().get(), POLLIN, 0},
                                {child.error().get(), POLLIN, 0},
                                {child.status().get(), POLLIN, 0}}};
    ::poll(ends.data(), ends.size(), kTickMs);
    take_text(child.output(), out);
    take_text(child.error(), err);
    if (!late && steady_now().value - begun > most_time.value) {
      late = true;
      child.stop();
    }
  }
  take_text(child.output(), out);
  take_text(child.error(), err);
  if (late)
    return {.reason = fmt::format("{} {} was killed after {}", printable(argv[0]),
                                  printable(argv[1]), format(most_time))};
  if (end->clean()) return read_torch_answer(last_line(out));
  const std::string output = last_line(err);
  return {.reason = fmt::format("{} {}: {}{}", printable(argv[0]), printable(argv[1]), end->text(),
                                output.empty() ? "" : "; output: " + output)};
}

}  // namespace

TorchRate read_torch_answer(const std::string& text) {
  TorchRate rate;
  try {
    const Json answer = parse_json(text, "output of scripts/torch_loader.py");
    const double found = answer.at("samples_per_cpu_second").get<double>();
    if (!(found > 0.0)) throw Error(ErrorKind::input, fmt::format("rate {}", found));
    rate.version = printable(answer.at("pytorch").get<std::string>());
    rate.samples_per_cpu_second = found;
  } catch (const std::exception& error) {
    rate.reason = "scripts/torch_loader.py reported no rate: " + printable(error.what());
  }
  return rate;
}

TorchRate run_torch_loader(const TorchWish& wish) {
  if (wish.pipeline != "jpeg_folder" && wish.pipeline != "tokens")
    return {.reason = "PyTorch has no built-in loader for the pipeline " + wish.pipeline +
                      ": only jpeg_folder and tokens are compared"};
  try {
    return run_script(command_of(wish), {2.0 * wish.time.value + kToStartS});
  } catch (const Error& error) {
    return {.reason = error.what()};
  }
}

}  // namespace bench::data
