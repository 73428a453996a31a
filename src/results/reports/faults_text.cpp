#include "results/reports/faults_text.h"

#include <fmt/format.h>

#include <set>

#include "core/text.h"
#include "results/json_fields.h"

namespace bench {

std::string faults_text(const std::vector<const JobResult*>& jobs, std::size_t indent,
                        const TextStyle& style) {
  std::set<std::string> shown;
  std::string text;
  for (const JobResult* job : jobs)
    for (const Json& fault : job->faults) {
      const std::string line = printable(fmt::format(
          "{} on {}, rank {} of job {}", text_field(fault, "text", "fault"),
          text_field(fault, "device", "unknown device"), integer_field(fault, "rank"), job->job.id));
      if (!shown.insert(line).second) continue;
      const Paint how = field(fault, "fatal") == true ? Paint::red : Paint::yellow;
      text += std::string(indent, ' ') + paint(wrap(line, indent, indent + 2, style), how, style) +
              "\n";
    }
  return text;
}

}  // namespace bench
