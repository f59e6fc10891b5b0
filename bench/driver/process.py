"""A peer's program: it keeps its simulation and answers one line at a time, within limits of time and memory."""

import json
import os
import resource
import select
import subprocess
import time

# Address space of a peer, bytes: one that needs more says so instead of taking the machine with it.
MEMORY = 12 << 30
OUT = f" ({MEMORY >> 30} GiB)"

# One thread each, whatever libraries are inside.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}


class Failed(Exception):
    """Why a peer is out of the race."""


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Peer:
    def __init__(self, command, seconds):
        self.errors = []
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **ONE_THREAD}, preexec_fn=limit)
        self.pending = b""
        self.ready = self.answer(seconds, "not ready")

    def ask(self, line, seconds):
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # the answer tells why
        return self.answer(seconds, f"no answer to `{line.split()[0]}`")

    def answer(self, seconds, what):
        """The next line of JSON; other output of a library is passed over."""
        end = time.monotonic() + seconds
        out, err = self.process.stdout.fileno(), self.process.stderr.fileno()
        open_ends = {out, err}
        while True:
            while b"\n" in self.pending:
                line, self.pending = self.pending.split(b"\n", 1)
                if line.startswith(b"{"):
                    value = json.loads(line)
                    if "error" in value:
                        self.close()
                        raise Failed(value["error"] + OUT if value["error"] == "out of memory" else value["error"])
                    return value
            left = end - time.monotonic()
            if left <= 0:
                self.close()
                raise Failed(f"{what} in {seconds:g} s")
            for end_of_pipe in select.select(list(open_ends), [], [], left)[0]:
                data = os.read(end_of_pipe, 1 << 16)
                if not data:
                    open_ends.discard(end_of_pipe)
                elif end_of_pipe == out:
                    self.pending += data
                else:
                    self.errors += data.decode(errors="replace").splitlines()
            if out not in open_ends and b"\n" not in self.pending:
                code = self.process.wait()
                self.close()
                raise Failed(self.last_words(code))

    def last_words(self, code):
        said = [line.strip() for line in self.errors if line.strip()]
        if any("bad_alloc" in line or "MemoryError" in line or "memory allocation" in line for line in said):
            return "out of memory" + OUT
        return f"ended with code {code}: {said[-1] if said else 'nothing was said'}"[:200]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                pipe.close()
            except OSError:
                pass
