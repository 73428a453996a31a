#include "runner/launch/secrets.h"

#include <stdlib.h>

#include "core/child_process.h"
#include "core/error.h"
#include "runner/plan/plan_json.h"
#include "tests/runner/test_catalogue.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

const std::string kToken = "hf_AbCdEfGh";
const std::string kPassword = "p\"w";

Plan secret_plan() {
  Suite suite = suite_from_text(
      R"({"suite": "s", "cases": [{"name": "a", "probe": "gemm",
          "env": {"HF_TOKEN": "hf_AbCdEfGh", "PLAIN": "shown"}}]})",
      "s.json", test_catalogue());
  Inventory inventory = this_host_only();
  inventory.launch.env = {{"HTTPS_PROXY", "http://me:p4ssw@proxy:80"}, {"UCX_TLS", "tcp"}};
  return make_plan(suite, inventory, test_catalogue(), {});
}

}  // namespace

TEST_CASE("a hash is the same for the same value, and says nothing else of it") {
  CHECK(secret_hash("abc") == "sha256:ba7816bf8f01cfea");
  CHECK(is_secret_hash(secret_hash("")));
  CHECK_FALSE(is_secret_hash("sha256:xyz"));
  CHECK_FALSE(is_secret_hash("abc"));
}

TEST_CASE("values that look secret become hashes, and come back") {
  const Variables before = {{"HF_TOKEN", kToken},
                            {"db_password", kPassword},
                            {"OMP_PLACES", "cores"},
                            {"EMPTY_KEY", ""},
                            {"PROXY", "http://a:b@c"}};
  Variables env = before;
  Secrets secrets;
  hide_secrets(env, secrets);
  CHECK(env == Variables{{"HF_TOKEN", secret_hash(kToken)},
                         {"db_password", secret_hash(kPassword)},
                         {"OMP_PLACES", "cores"},
                         {"EMPTY_KEY", ""},
                         {"PROXY", secret_hash("http://a:b@c")}});
  Variables again = env;
  hide_secrets(again, secrets);
  CHECK(again == env);
  reveal_secrets(env, secrets);
  CHECK(env == before);
}

TEST_CASE("an external command's environment is hidden and comes back exactly") {
  Job job;
  job.params = {{"environment", {{"API_KEY", "k3y"}, {"SEED", "{seed}"}}},
                {"variables", {{"auth", "word"}}},
                {"argv", {"train.py"}}};
  const Json before = job.params;
  Secrets secrets;
  hide_secrets(job.params.own(), secrets);
  CHECK(job.params["environment"] == Json{{"API_KEY", secret_hash("k3y")}, {"SEED", "{seed}"}});
  CHECK(job.params["variables"] == Json{{"auth", secret_hash("word")}});
  CHECK(with_secrets(job, secrets).params == before);
  CHECK_THROWS_WITH(with_secrets(job, {}), Contains("the value of 'API_KEY' is unknown"));
  CHECK_THROWS_WITH(check_secrets(job, {}), Contains("the value of 'API_KEY' is unknown"));
  CHECK_NOTHROW(check_secrets(job, secrets));
}

TEST_CASE("a plan is stored and shown without secrets") {
  const Plan plan = secret_plan();
  const std::string text = plan_text(plan);
  CHECK_THAT(text, !Contains(kToken) && !Contains("p4ssw"));
  CHECK_THAT(text, Contains(secret_hash(kToken)) && Contains("shown") && Contains("tcp"));
  CHECK(plan.secrets.at(secret_hash(kToken)) == kToken);
  CHECK(with_secrets(plan.entries.at(0).job, plan.secrets).env.at("HF_TOKEN") == kToken);
  CHECK(without_entries(plan).secrets == plan.secrets);
}

TEST_CASE("a resumed run gets its secrets from the environment, or names what is missing") {
  const Plan stored = plan_from_json(parse_json(plan_text(secret_plan()), "plan"), "plan");
  const Job& job = stored.entries.at(0).job;
  unsetenv("HF_TOKEN");
  CHECK_THROWS_WITH(with_secrets(job, secrets_here(stored.secrets)), Contains("'HF_TOKEN'"));
  setenv("HF_TOKEN", "another", 1);
  CHECK_THROWS_WITH(with_secrets(job, secrets_here(stored.secrets)), Contains("'HF_TOKEN'"));
  setenv("HF_TOKEN", kToken.c_str(), 1);
  CHECK(with_secrets(job, secrets_here(stored.secrets)).env.at("HF_TOKEN") == kToken);
  unsetenv("HF_TOKEN");
}

TEST_CASE("a batch job is handed secrets that its ranks do not inherit") {
  const Secrets secrets = {{secret_hash("one"), "one"}, {secret_hash("two"), "two"}};
  {
    const CarriedSecrets carried(secrets);
    const Secrets here = secrets_here({});
    CHECK(here.at(secret_hash("one")) == "one");
    CHECK(here.at(secret_hash("two")) == "two");
    CHECK_FALSE(current_environment().contains("BENCHCTL_SECRET_0"));
  }
  { const CarriedSecrets carried(secrets); }
  CHECK_FALSE(current_environment().contains("BENCHCTL_SECRET_1"));
}

TEST_CASE("a stored command line has no secrets, quoted or not") {
  const Secrets secrets = {{secret_hash("p\"ssw"), "p\"ssw"}, {secret_hash("on"), "on"}};
  CHECK(without_secrets({"run", "--only", R"(a.environment={"KEY": "p\"ssw"})", "x=p\"ssw"},
                        secrets) ==
        Json{"run", "--only", R"(a.environment={"KEY": ")" + secret_hash("p\"ssw") + R"("})",
             "x=" + secret_hash("p\"ssw")});
}
