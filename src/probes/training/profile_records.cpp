#include "probes/training/profile_records.h"

namespace bench {
namespace {

using training::StepProfile;

/// One column of a table: a member of each row.
template <class Row, class Value>
Json column_of(const std::vector<Row>& rows, Value Row::*member) {
  Json values = Json::array();
  for (const Row& row : rows) values.push_back(row.*member);
  return values;
}

Json operations_of(const StepProfile& profile) {
  using Row = training::ProfiledOperation;
  Json phases = Json::array();
  for (const Row& row : profile.operations) phases.push_back(to_string(row.phase));
  return {{"operation", column_of(profile.operations, &Row::operation)},
          {"module", column_of(profile.operations, &Row::module)},
          {"phase", phases},
          {"shape", column_of(profile.operations, &Row::shape)},
          {"flops", column_of(profile.operations, &Row::flops)},
          {"bytes", column_of(profile.operations, &Row::bytes)},
          {"calls", column_of(profile.operations, &Row::calls)},
          {"seconds", column_of(profile.operations, &Row::seconds)},
          {"low", column_of(profile.operations, &Row::low)}};
}

Json activities_of(const StepProfile& profile) {
  using Row = training::ProfiledActivity;
  return {{"activity", column_of(profile.activities, &Row::activity)},
          {"seconds", column_of(profile.activities, &Row::seconds)}};
}

Json gaps_of(const StepProfile& profile) {
  using Row = training::ProfiledGap;
  return {{"after", column_of(profile.gaps, &Row::after)},
          {"before", column_of(profile.gaps, &Row::before)},
          {"seconds", column_of(profile.gaps, &Row::seconds)},
          {"longest", column_of(profile.gaps, &Row::longest)}};
}

Json owners_of(const StepProfile& profile) {
  using Row = training::ProfiledOwner;
  return {{"owner", column_of(profile.owners, &Row::owner)},
          {"label", column_of(profile.owners, &Row::label)},
          {"tensors", column_of(profile.owners, &Row::tensors)},
          {"bytes", column_of(profile.owners, &Row::bytes)}};
}

Json steps_of(const StepProfile& profile) {
  using Row = StepProfile::Step;
  return {{"step", column_of(profile.steps, &Row::number)},
          {"seconds", column_of(profile.steps, &Row::seconds)},
          {"recorded", column_of(profile.steps, &Row::recorded)}};
}

Json resident_of(const StepProfile& profile) {
  using Row = StepProfile::Resident;
  return {{"step", column_of(profile.resident, &Row::step)},
          {"bytes", column_of(profile.resident, &Row::bytes)}};
}

Json spans_of(const StepProfile& profile) {
  using Row = training::ProfiledSpan;
  return {{"step", column_of(profile.spans, &Row::step)},
          {"thread", column_of(profile.spans, &Row::thread)},
          {"row", column_of(profile.spans, &Row::row)},
          {"begin", column_of(profile.spans, &Row::begin)},
          {"seconds", column_of(profile.spans, &Row::seconds)}};
}

/// The names that negative rows of spans stand for.
Json activity_names() {
  Json names = Json::array();
  for (std::size_t i = 0; i < training::kActivities; ++i)
    names.push_back(to_string(static_cast<training::Activity>(i)));
  return names;
}

}  // namespace

void write_profile(State& state, const StepProfile& profile) {
  state.chunk("profile_steps", steps_of(profile));
  state.chunk("profile_operations", operations_of(profile));
  state.chunk("profile_activities", activities_of(profile));
  state.chunk("profile_gaps", gaps_of(profile));
  state.chunk("profile_memory", {{"bytes", profile.memory}});
  state.chunk("profile_owners", owners_of(profile));
  state.chunk("profile_resident", resident_of(profile));
  state.chunk("profile_spans", spans_of(profile));
  state.facts("profile", {{"threads", profile.threads},
                          {"micro_batches", profile.micro_batches},
                          {"step_seconds", profile.step_seconds},
                          {"unattributed", profile.unattributed},
                          {"off_processor", profile.off_processor},
                          {"activities", activity_names()}});
}

}  // namespace bench
