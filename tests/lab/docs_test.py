"""The commands in docs/lab.md work in the order shown."""

import re
import shlex
import tempfile
import unittest

from lab_test_case import Lab, ROOT, main

BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Docs(unittest.TestCase):
    def test_every_block_runs_to_its_end(self):
        blocks = BLOCK.findall((ROOT / "docs" / "lab.md").read_text())
        self.assertGreaterEqual(len(blocks), 2)
        for block in blocks:
            with self.subTest(block=block), tempfile.TemporaryDirectory(prefix="benchctl-lab-test-") as folder:
                lab = Lab(f"{folder}/lab")
                try:
                    for line in block.splitlines():
                        program, *words = shlex.split(line, comments=True)
                        self.assertEqual(program, "scripts/lab")
                        lab.say(*words, cwd=ROOT)
                    self.assertFalse(lab.folder.exists(), "the block does not end with down")
                finally:
                    lab.say("down")


if __name__ == "__main__":
    main("--slurm")
