#!/usr/bin/env python3
"""The kernels compile for gfx1100 too: a compile check only. Debian's 5.2.3 has no device library for that family; one is made from
gfx1030's by changing the number of the architecture in it. What comes out must never run.

    gfx1100_test.py      exit code 77 where the tools of Debian's hipcc are not there"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

BITCODE = pathlib.Path("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode")
TOOLS = ["clang++-15", "llvm-dis-15", "llvm-as-15"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]


def main():
    missing = [t for t in TOOLS if not shutil.which(t)] + [str(p) for p in [BITCODE / "oclc_isa_version_1030.bc"] if not p.exists()]
    if missing:
        print("SKIPPED: there is no", ", ".join(missing))
        return 77
    with tempfile.TemporaryDirectory(prefix="vrambench-gfx1100-") as folder:
        library = pathlib.Path(folder) / "bitcode"
        shutil.copytree(BITCODE, library)
        text = subprocess.run(["llvm-dis-15", library / "oclc_isa_version_1030.bc", "-o", "-"], capture_output=True, check=True).stdout
        if text.count(b"10300") != 1:
            sys.exit("the device library of gfx1030 is not as expected: the number of the architecture is not in it once")
        subprocess.run(["llvm-as-15", "-o", library / "oclc_isa_version_1100.bc"], input=text.replace(b"10300", b"11000"), check=True)
        return subprocess.run(
            ["clang++-15", "-x", "hip", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "--rocm-path=/usr",
             f"--hip-device-lib-path={library}", "--offload-arch=gfx1100", f"-I{SOURCE}", "-DVRAMBENCH_VENDOR=hip",
             '-DVRAMBENCH_VENDOR_NAMES="device/vendors/hip.hpp"', '-DVRAMBENCH_VENDOR_KERNELS="device/vendors/hip_kernels.hpp"',
             "-c", SOURCE / "device" / "kernels.cu", "-o", pathlib.Path(folder) / "kernels.o"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
