"""What Kubernetes and node-problem-detector ask of the files in docs/gates, as far as it can be checked without their schemas.

Each function returns what is wrong with a document, as a list of sentences.
"""

import re

HEAD = {"apiVersion", "kind", "metadata"}
KINDS = {  # kind: (apiVersion, further keys)
    "Job": ("batch/v1", {"spec"}),
    "CronJob": ("batch/v1", {"spec"}),
    "PersistentVolumeClaim": ("v1", {"spec"}),
    "ServiceAccount": ("v1", {"automountServiceAccountToken"}),
    "Role": ("rbac.authorization.k8s.io/v1", {"rules"}),
    "ClusterRole": ("rbac.authorization.k8s.io/v1", {"rules"}),
    "RoleBinding": ("rbac.authorization.k8s.io/v1", {"subjects", "roleRef"}),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io/v1", {"subjects", "roleRef"}),
}
CLUSTER_WIDE = {"ClusterRole", "ClusterRoleBinding"}
JOB = {"activeDeadlineSeconds", "backoffLimit", "backoffLimitPerIndex", "completionMode", "completions", "maxFailedIndexes",
       "parallelism", "podFailurePolicy", "template", "ttlSecondsAfterFinished"}
CRON_JOB = {"concurrencyPolicy", "failedJobsHistoryLimit", "jobTemplate", "schedule", "startingDeadlineSeconds",
            "successfulJobsHistoryLimit"}
POD = {"affinity", "automountServiceAccountToken", "containers", "dnsPolicy", "hostNetwork", "initContainers", "nodeSelector",
       "restartPolicy", "serviceAccountName", "tolerations", "volumes"}
CONTAINER = {"args", "command", "env", "image", "name", "resources", "securityContext", "terminationMessagePolicy", "volumeMounts"}
NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
CRON_FIELDS = re.compile(r"(\S+ ){4}\S+")


def unknown(where, value, known):
    return [f"{where}: unknown key {key}" for key in sorted(set(value) - known)]


def of_container(where, container, volumes, names):
    wrong = unknown(where, container, CONTAINER)
    wrong += [f"{where}: no {key}" for key in ("name", "image") if not container.get(key)]
    if "/" in container.get("image", ""):
        wrong.append(f"{where}: the image names a registry")
    if container.get("name") in names:
        wrong.append(f"{where}: the name is taken")
    names.add(container.get("name"))
    wrong += [f"{where}: {key} is not a list of words" for key in ("command", "args")
              if not all(isinstance(word, str) for word in container.get(key, []))]
    wrong += [f"{where}: the value of {one['name']} is not a text" for one in container.get("env", [])
              if not isinstance(one.get("value", ""), str)]
    wrong += [f"{where}: no volume {mount['name']}" for mount in container.get("volumeMounts", []) if mount["name"] not in volumes]
    if "cpu" in container.get("resources", {}).get("limits", {}):
        wrong.append(f"{where}: a CPU limit is a quota, which benchctl would find")
    if container.get("securityContext", {}).get("privileged"):
        wrong.append(f"{where}: privileged")
    return wrong


def of_pod(where, template):
    pod, wrong = template.get("spec", {}), []
    wrong += unknown(where, template, {"metadata", "spec"}) + unknown(where, pod, POD)
    if pod.get("restartPolicy") != "Never":
        wrong.append(f"{where}: restartPolicy is not Never, so a failed gate would be repeated in place")
    volumes, names = {volume["name"] for volume in pod.get("volumes", [])}, set()
    for container in [*pod.get("initContainers", []), *pod.get("containers", [])]:
        wrong += of_container(f"{where}: {container.get('name')}", container, volumes, names)
    if not pod.get("containers"):
        wrong.append(f"{where}: no containers")
    return wrong


def of_failure_policy(where, job):
    wrong, rules = [], job.get("podFailurePolicy", {}).get("rules", [])
    names = {one["name"] for one in job["template"]["spec"].get("containers", [])} if "template" in job else set()
    for rule in rules:
        if rule.get("action") not in ("FailJob", "FailIndex", "Ignore", "Count"):
            wrong.append(f"{where}: unknown action {rule.get('action')}")
        if rule.get("action") == "FailIndex" and "backoffLimitPerIndex" not in job:
            wrong.append(f"{where}: FailIndex needs backoffLimitPerIndex")
        codes = rule.get("onExitCodes")
        if codes and (codes.get("operator") != "In" or codes.get("values") != [1] or codes.get("containerName") not in names):
            wrong.append(f"{where}: only exit code 1 of a container of the pod may be final")
        if codes is None and "onPodConditions" not in rule:
            wrong.append(f"{where}: a rule without a condition")
    return wrong


def of_job(where, job):
    wrong = unknown(where, job, JOB) + of_pod(where, job.get("template", {})) + of_failure_policy(where, job)
    indexed = job.get("completionMode") == "Indexed"
    if job.get("completionMode", "NonIndexed") not in ("Indexed", "NonIndexed"):
        wrong.append(f"{where}: unknown completionMode")
    for key in ("backoffLimitPerIndex", "maxFailedIndexes"):
        if key in job and not indexed:
            wrong.append(f"{where}: {key} needs completionMode Indexed")
    if indexed and "completions" not in job:
        wrong.append(f"{where}: Indexed needs completions")
    if indexed and "podAntiAffinity" not in job.get("template", {}).get("spec", {}).get("affinity", {}):
        wrong.append(f"{where}: several pods could share a node")
    return wrong


def of_cron_job(where, spec):
    wrong = unknown(where, spec, CRON_JOB)
    if not CRON_FIELDS.fullmatch(spec.get("schedule", "")):
        wrong.append(f"{where}: the schedule needs five fields")
    if spec.get("concurrencyPolicy") != "Forbid":
        wrong.append(f"{where}: two nights could run at once")
    return wrong + of_job(where, spec.get("jobTemplate", {}).get("spec", {}))


def of_rules(where, rules):
    wrong = []
    for rule in rules:
        wrong += unknown(where, rule, {"apiGroups", "resources", "verbs"})
        if "*" in [*rule.get("apiGroups", []), *rule.get("resources", []), *rule.get("verbs", [])]:
            wrong.append(f"{where}: grants everything")
    return wrong


def of_manifest(document):
    """What is wrong with one Kubernetes document."""
    kind = document.get("kind")
    if kind not in KINDS:
        return [f"unknown kind {kind}"]
    version, keys = KINDS[kind]
    wrong = unknown(kind, document, HEAD | keys)
    wrong += [f"{kind}: no {key}" for key in sorted((HEAD | keys - {"automountServiceAccountToken"}) - set(document))]
    if document.get("apiVersion") != version:
        wrong.append(f"{kind}: apiVersion is not {version}")
    metadata = document.get("metadata", {})
    if not NAME.fullmatch(metadata.get("name", "")):
        wrong.append(f"{kind}: {metadata.get('name')} is not a name")
    if ("namespace" in metadata) == (kind in CLUSTER_WIDE):
        wrong.append(f"{kind}: namespace")
    if kind == "Job":
        wrong += of_job(kind, document.get("spec", {}))
    if kind == "CronJob":
        wrong += of_cron_job(kind, document.get("spec", {}))
    return wrong + of_rules(kind, document.get("rules", []))


GLOBAL = {"invoke_interval", "timeout", "max_output_length", "concurrency", "enable_message_change_based_condition_update",
          "skip_initial_status"}
RULE = {"type", "condition", "reason", "path", "args", "timeout", "invoke_interval"}
SECONDS = {"s": 1, "m": 60, "h": 3600}


def seconds(text):
    """A duration of Go in one unit, which is enough here; None if it is something else."""
    match = re.fullmatch(r"(\d+)([smh])", text or "")
    return int(match[1]) * SECONDS[match[2]] if match else None


def of_monitor(config):
    """What node-problem-detector would refuse or silently ignore in the configuration of a custom plug-in monitor."""
    wrong = unknown("config", config, {"plugin", "pluginConfig", "source", "metricsReporting", "conditions", "rules"})
    plugin = config.get("pluginConfig", {})
    wrong += unknown("pluginConfig", plugin, GLOBAL)
    if config.get("plugin") != "custom":
        wrong.append("plugin is not custom")
    if not config.get("source"):
        wrong.append("no source")
    interval, limit = seconds(plugin.get("invoke_interval", "30s")), seconds(plugin.get("timeout", "5s"))
    if not interval or not limit:
        return [*wrong, "pluginConfig: bad duration"]
    if plugin.get("max_output_length", 80) > 80:
        wrong.append("pluginConfig: a message may have 80 characters")
    conditions = {one.get("type") for one in config.get("conditions", [])}
    for one in config.get("conditions", []):
        wrong += unknown("condition", one, {"type", "reason", "message"})
        wrong += [f"condition: no {key}" for key in ("type", "reason", "message") if not one.get(key)]
    for rule in config.get("rules", []):
        wrong += unknown("rule", rule, RULE)
        if rule.get("type") not in ("permanent", "temporary"):
            wrong.append(f"rule: unknown type {rule.get('type')}")
        if rule.get("type") == "permanent" and rule.get("condition") not in conditions:
            wrong.append("rule: its condition has no default")
        if not re.fullmatch(r"[A-Za-z]+", rule.get("reason", "")):
            wrong.append("rule: the reason is not one word")
        if not rule.get("path", "").startswith("/"):
            wrong.append("rule: the path is not absolute")
        own = seconds(rule.get("timeout", "5s"))
        if own is None or own > limit:
            wrong.append("rule: its timeout is longer than that of all")
    return wrong if config.get("rules") else [*wrong, "no rules"]
