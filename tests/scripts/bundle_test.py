"""Checksums and SBOM of a bundle: all that goes along is named, and what was changed afterwards is noticed."""

import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("bundle", str(ROOT / "scripts" / "bundle"))
bundle = importlib.util.module_from_spec(importlib.util.spec_from_loader("bundle", loader))
loader.exec_module(bundle)
PROGRAM = pathlib.Path(sys.argv.pop(1))


@unittest.skipUnless(shutil.which("dpkg-query"), "packages are Debian's")
class Bundle(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        for name in ("bin", "lib"):
            (self.folder / name).mkdir()
        shutil.copy(PROGRAM, self.folder / "bin")
        self.libraries = dict(bundle.needed_libraries(PROGRAM))
        for name, path in self.libraries.items():
            shutil.copy(path.resolve(), self.folder / "lib" / name)
        bundle.write_sbom(self.folder, "1.2", self.libraries, [pathlib.Path("/usr/include/nlohmann/json.hpp")])
        bundle.write_sums(self.folder)

    def test_every_library_is_named_with_its_package_version_and_licence(self):
        sbom = json.loads((self.folder / bundle.SBOM).read_text())
        self.assertEqual((sbom["bomFormat"], sbom["specVersion"]), ("CycloneDX", "1.5"))
        self.assertEqual(sbom["metadata"]["component"]["version"], "1.2")
        named = {one["name"]: one for one in sbom["components"]}
        self.assertEqual(named.keys(), self.libraries.keys() | {"json.hpp"})
        one = named["libcrypto.so.3"]
        version = bundle.output_of("dpkg-query", "--show", "--showformat=${Version}", "libssl3")
        self.assertEqual(one["version"], version)
        self.assertTrue(one["purl"].startswith(f"pkg:deb/debian/libssl3@{version}?arch="), one["purl"])
        self.assertEqual(one["licenses"], [{"license": {"name": "Apache-2.0"}}])
        self.assertIn("nlohmann-json3-dev", named["json.hpp"]["purl"])

    def test_the_sums_are_those_of_sha256sum_and_all_is_well(self):
        subprocess.run(["sha256sum", "--check", "--quiet", bundle.SUMS], cwd=self.folder, check=True)
        self.assertEqual(bundle.faults(self.folder), [])

    def test_what_is_changed_added_or_removed_is_noticed(self):
        library = self.folder / "lib" / "libcrypto.so.3"
        library.write_bytes(library.read_bytes() + b"x")
        (self.folder / "lib" / "libmore.so").write_bytes(b"more")
        (self.folder / "bin" / PROGRAM.name).unlink()
        self.assertEqual(bundle.faults(self.folder),
                         ["lib/libmore.so is not in SHA256SUMS", f"bin/{PROGRAM.name} is missing",
                          "lib/libcrypto.so.3 is not what SHA256SUMS says", "libcrypto.so.3 is not what sbom.cdx.json says",
                          "libmore.so is not in sbom.cdx.json"])

    @unittest.skipUnless(shutil.which("ompi_info"), "there is no Open MPI")
    def test_the_open_mpi_in_it_starts_processes_wherever_it_lies(self):
        mpi = bundle.add_mpi(self.folder, self.libraries)
        self.assertIn("mpi/libexec/orted", mpi)
        self.assertTrue(any(name.endswith("mca_btl_tcp.so") for name in mpi))
        self.assertFalse(any(name.endswith("mca_btl_openib.so") for name in mpi))  # needs libibverbs
        bundle.write_sbom(self.folder, "1.2", self.libraries, [], mpi)
        bundle.write_sums(self.folder)
        self.assertEqual(bundle.faults(self.folder), [])
        elsewhere = self.folder.parent / (self.folder.name + " elsewhere")
        shutil.move(self.folder, elsewhere)
        self.addCleanup(shutil.rmtree, elsewhere)
        self.folder.mkdir()
        done = subprocess.run([elsewhere / "mpi/bin/mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "2", "sh", "-c", "echo rank $OPAL_PREFIX"],
                              env={"PATH": "/bin"}, capture_output=True, text=True)
        self.assertEqual(done.stdout, f"rank {elsewhere}/mpi\n" * 2, done.stderr)

    def test_the_same_files_give_the_same_text(self):
        before = (self.folder / bundle.SBOM).read_text()
        bundle.write_sbom(self.folder, "1.2", dict(reversed(self.libraries.items())), [pathlib.Path("/usr/include/nlohmann/json.hpp")])
        self.assertEqual((self.folder / bundle.SBOM).read_text(), before)


if __name__ == "__main__":
    unittest.main()
