"""The manifests and scripts of docs/gates/kubernetes: structure, exit codes, labels and taints.

    gates_kubernetes_test.py BENCHCTL
"""

import pathlib
import re
import subprocess
import unittest

import gates_formats
from gates_bench import BENCHCTL, GATES, MISSING, ROOT, SHELLS, GateTest, with_value

try:
    import yaml
except ImportError:
    yaml = None


class InitGate(GateTest):
    SCRIPT = GATES / "kubernetes" / "init-gate"

    def table(self, script, shell):
        for code, text, expected, out in ((0, "pass", 0, "pass"), (1, "hard: gemm", 1, "hard: gemm"), (3, "inconclusive: x", 0, "inconclusive: x"),
                                          (2, "", 0, "inconclusive: "), (137, "", 0, "inconclusive: ")):
            written = self.bench.folder / "written"
            written.unlink(missing_ok=True)
            done = self.bench.run(script, "accept", shell=shell, BENCHCTL_NODE_VERDICT=self.verdict_of(code, text), BENCHCTL_GATE_FILE=str(written))
            if done.returncode != expected or not done.stdout.startswith(out) or not written.exists() or written.read_text() != done.stdout:
                yield (code, done.returncode, done.stdout)

    def test_only_a_failed_node_stops_the_pod(self):
        self.assert_finds(self.table, self.SCRIPT, (('[ "$code" -ne 1 ]', '[ "$code" -eq 0 ]'), ('[ "$code" -ne 1 ]', ":"),
                                                    ('printf \'%s\\n\' "$line"\n', ":\n"), ('>"$BENCHCTL_GATE_FILE"', ">/dev/null")))

    def test_a_missing_script_or_folder_lets_the_pod_start(self):
        done = self.bench.run(self.SCRIPT, "accept", BENCHCTL_NODE_VERDICT=MISSING, BENCHCTL_GATE_FILE="/nonexistent/file")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("inconclusive: "))


class LabelNodes(GateTest):
    SCRIPT = GATES / "kubernetes" / "label-nodes"
    KUBECTL = 'case $1:$2 in get:pods) cat pods ;; get:node) cat "taints-$3" 2>/dev/null || : ;; esac'
    LABEL, TAINT = ["label", "--overwrite", "node"], ["taint", "--overwrite", "node"]

    def label(self, script, pods, taints=(), shell=SHELLS[0]):
        (self.bench.folder / "pods").write_text(pods)
        for node, keys in dict(taints).items():
            (self.bench.folder / f"taints-{node}").write_text(keys)
        self.bench.stand_in("kubectl", self.KUBECTL)
        done = self.bench.run(script, "accept", shell=shell)
        changes = [words for words in self.bench.calls("kubectl") if words[0] != "get"]
        for path in self.bench.folder.glob("taints-*"):
            path.unlink()
        return done.returncode, changes

    def table(self, script, shell):
        label = lambda node, verdict: [*self.LABEL, node, f"benchctl/verdict={verdict}"]
        taint = lambda node: [*self.TAINT, node, "benchctl/failed=true:NoSchedule"]
        untaint = lambda node: ["taint", "node", node, "benchctl/failed:NoSchedule-"]
        ours = {"n1": "benchctl/failed\n"}
        for pods, taints, expected in (
                ("n1|0\n", {}, (0, [label("n1", "pass")])),
                ("n1|0\n", ours, (0, [label("n1", "pass"), untaint("n1")])),
                ("n1|0\n", {"n1": "other/failed\nbenchctl/failed-too\n"}, (0, [label("n1", "pass")])),
                ("n1|1\nn2|0\n", {}, (0, [label("n1", "fail"), taint("n1"), label("n2", "pass")])),
                ("n1|3\n", ours, (3, [label("n1", "inconclusive")])),
                ("n1|137\nn2|1\n", {}, (3, [label("n1", "inconclusive"), label("n2", "fail"), taint("n2")])),
                ("n1|3\nn1|1\nn1|4\n", {}, (0, [label("n1", "fail"), taint("n1")])),
                ("n1|1\nn1|0\n", ours, (0, [label("n1", "pass"), untaint("n1")])),
                ("n1|\n|1\n", {}, (3, [])),
                ("", {}, (3, [])),
                ("-A|1\n", {}, (4, [])),
                ("n1;touch pwned|1\n$(touch pwned)|1\nn2|1\n", {}, (4, [label("n2", "fail"), taint("n2")]))):
            found = self.label(script, pods, taints, shell)
            if found != expected:
                yield (pods, found)

    def test_verdicts_become_labels_and_taints(self):
        self.assert_finds(self.table, self.SCRIPT, (
            ("    1) label fail && taint", "    1 | 3) label fail && taint"), ("grep -qxF", "grep -qF"), ("label pass && untaint", "label pass"),
            ("    *)\n      label inconclusive", "    *)\n      untaint; label inconclusive"), ("      [ \"$result\" -eq 4 ] || result=3\n", ""),
            ('$2 == "0" || $2 == "1" ||', ""), ("  check_name \"$node\" ||", "  : ||")))

    def test_a_hostile_job_or_namespace_is_bad_usage(self):
        self.bench.stand_in("kubectl", self.KUBECTL)
        for words in ([], ["a", "b", "c"], ["a b"], ["--all"], ["a", "-A"], ["a", "b,c"], ["x=y"]):
            done = self.bench.run(self.SCRIPT, *words)
            self.assertEqual((done.returncode, self.bench.calls("kubectl")), (2, []), words)

    def test_a_failing_kubectl_is_reported(self):
        self.bench.stand_in("kubectl", code=1)
        self.assertEqual(self.bench.run(self.SCRIPT, "accept").returncode, 4)
        (self.bench.folder / "pods").write_text("n1|0\nn2|1\n")
        self.bench.stand_in("kubectl", 'case $1:$2:$4 in get:pods:*) cat pods ;; *:n1) exit 1 ;; esac')
        self.assertEqual(self.bench.run(self.SCRIPT, "accept").returncode, 4)
        self.assertIn([*self.TAINT, "n2", "benchctl/failed=true:NoSchedule"], self.bench.calls("kubectl"))

    def test_it_asks_for_the_pods_of_the_job(self):
        self.label(self.SCRIPT, "")
        [words] = self.bench.calls("kubectl")
        self.assertEqual(words[:4], ["get", "pods", "--namespace=benchctl", "--selector=batch.kubernetes.io/job-name=accept"])


@unittest.skipUnless(yaml, "python3's yaml is not installed: manifests are not checked")
class Manifests(unittest.TestCase):
    FILES = sorted((GATES / "kubernetes").glob("*.yaml"))

    def documents(self, name):
        return list(yaml.safe_load_all((GATES / "kubernetes" / name).read_text()))

    def test_each_has_the_structure_of_its_kind(self):
        self.assertGreaterEqual(len(self.FILES), 6)
        for path in self.FILES:
            for document in self.documents(path.name):
                self.assertEqual(gates_formats.of_manifest(document), [], path.name)

    def test_a_fault_in_one_is_found(self):
        pod = ["spec", "template", "spec"]
        for name, faults in {
                "job.yaml": ((["apiVersion"], "v1"), (["kind"], "Jobs"), (["status"], {}), (["metadata", "name"], "A_b"), (["metadata"], {}),
                             ([*pod, "restartPolicy"], "Always"), ([*pod, "containers"], []), ([*pod, "replicas"], 1),
                             ([*pod, "containers", 0, "image"], "registry.invalid/benchctl"), ([*pod, "containers", 0, "args"], [1]),
                             ([*pod, "containers", 0, "resources", "limits", "cpu"], 4), ([*pod, "volumes"], []),
                             (["spec", "podFailurePolicy", "rules", 0, "onExitCodes", "values"], [1, 3]),
                             (["spec", "podFailurePolicy", "rules", 0, "onExitCodes", "containerName"], "other"),
                             (["spec", "podFailurePolicy", "rules", 0, "action"], "FailIndex"), (["spec", "maxFailedIndexes"], 1)),
                "indexed-job.yaml": ((["spec", "completionMode"], "indexed"), (["spec", "completionMode"], "NonIndexed"), ([*pod, "affinity"], {})),
                "init-container.yaml": (([*pod, "initContainers", 0, "name"], "train"), ([*pod, "initContainers", 0, "env", 0, "value"], 5)),
        }.items():
            [sound] = self.documents(name)
            for path, value in faults:
                self.assertNotEqual(gates_formats.of_manifest(with_value(sound, path, value)), [], (name, path))
        claim, nights = self.documents("nights.yaml")
        for document, path, value in ((nights, ["spec", "schedule"], "30 2 * *"), (nights, ["spec", "concurrencyPolicy"], "Allow"),
                                      (claim, ["metadata"], {"name": "x"})):
            self.assertNotEqual(gates_formats.of_manifest(with_value(document, path, value)), [], path)
        role = next(one for one in self.documents("rbac.yaml") if one["kind"] == "ClusterRole")
        self.assertNotEqual(gates_formats.of_manifest(with_value(role, ["rules", 0, "verbs"], ["*"])), [])

    def pods(self):
        for path in self.FILES:
            for document in self.documents(path.name):
                if document["kind"] in ("Job", "CronJob"):
                    job = document["spec"].get("jobTemplate", document)["spec"]
                    yield path.name, job["template"]["spec"]

    def test_scripts_are_in_the_config_map_that_the_page_makes(self):
        page = (GATES / "kubernetes.md").read_text()
        made = {pathlib.Path(path).name: path for path in re.findall(r"--from-file=(docs/\S+)", page)}
        for name, pod in self.pods():
            for container in [*pod.get("initContainers", []), *pod["containers"]]:
                words = [*container.get("command", []), *(one.get("value", "") for one in container.get("env", []))]
                for script in [word for word in words if word.startswith("/gate/")]:
                    self.assertTrue((ROOT / made[pathlib.Path(script).name]).exists(), (name, script))

    def test_options_are_those_of_benchctl(self):
        for name, pod in self.pods():
            for container in [*pod.get("initContainers", []), *pod["containers"]]:
                args = container.get("args", [])
                if args and args[0] in ("accept", "nightly"):
                    known = subprocess.run([BENCHCTL, args[0], "--help"], capture_output=True, text=True, check=True).stdout
                    for option in args[1:]:
                        self.assertRegex(known, rf"{option.partition('=')[0]}\b", name)

    def test_label_nodes_has_the_rights_it_uses(self):
        granted = {(resource, verb) for one in self.documents("rbac.yaml") for rule in one.get("rules", [])
                   for resource in rule["resources"] for verb in rule["verbs"]}
        self.assertEqual(granted, {("pods", "get"), ("pods", "list"), ("nodes", "get"), ("nodes", "patch")})


if __name__ == "__main__":
    unittest.main()
