# Recipe for Spack. From a checkout:
#   spack repo add packaging/spack && spack dev-build benchctl@0.1.0
from spack.package import *


class Benchctl(CMakePackage, CudaPackage):
    """Cluster benchmarks with physical limits and honest verdicts, and MLPerf-style time to train."""

    license("Apache-2.0")

    version("0.1.0")

    variant("mpi", default=True, description="Measure several ranks and hosts")
    variant("onednn", default=True, description="GEMMs of oneDNN")
    variant("openblas", default=True, description="GEMMs of OpenBLAS")
    variant("blis", default=False, description="GEMMs of BLIS")
    variant("jpeg", default=True, description="Decode JPEG in the data loader")
    variant("curl", default=True, description="Measure object stores")
    variant("pcre2", default=True, description="Measure the preparation of text")
    variant("yaml", default=True, description="Read descriptions of systems of MLPerf Storage")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("nlohmann-json")
    depends_on("cli11@2.1:")
    depends_on("fmt")
    depends_on("sqlite")
    depends_on("sqlitecpp")
    depends_on("openssl")
    depends_on("zlib-api")
    depends_on("hwloc")
    depends_on("mpi", when="+mpi")
    depends_on("onednn", when="+onednn")
    depends_on("openblas threads=openmp", when="+openblas")
    depends_on("blis threads=openmp", when="+blis")
    depends_on("libjpeg-turbo", when="+jpeg")
    depends_on("curl@7.61:", when="+curl")
    depends_on("pcre2+jit", when="+pcre2")
    depends_on("yaml-cpp", when="+yaml")
    depends_on("cuda@12.4:", when="+cuda")
    depends_on("nccl", when="+cuda")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("BENCH_TESTS", False),
            self.define("BENCH_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define_from_variant("BENCH_MPI", "mpi"),
            self.define_from_variant("BENCH_WITH_ONEDNN", "onednn"),
            self.define_from_variant("BENCH_WITH_OPENBLAS", "openblas"),
            self.define_from_variant("BENCH_WITH_BLIS", "blis"),
            self.define_from_variant("BENCH_WITH_JPEG", "jpeg"),
            self.define_from_variant("BENCH_WITH_CURL", "curl"),
            self.define_from_variant("BENCH_WITH_PCRE2", "pcre2"),
            self.define_from_variant("BENCH_WITH_YAML", "yaml"),
        ]
        architectures = self.spec.variants["cuda_arch"].value if self.spec.satisfies("+cuda") else ()
        if architectures and architectures[0] != "none":
            args.append(self.define("BENCH_CUDA_ARCHITECTURES", list(architectures)))
        return args
