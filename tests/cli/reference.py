"""The issue's exact figures, calculated a second time: plain and slow, from the published rules, without a line of vrambench.

Sources: llama.cpp's pools as of 2026-08 (ggml_cuda_pool_leg, ggml_cuda_pool_vmm); a growing request as in llama.cpp #22107;
the driver's pool as measured on an H200 (32 MiB chunks, pending and completed memory).
"""

import math

MIB = 1 << 20


def kv_pair(heads, head_dim, step, to):
    """The bytes of each step's two equal buffers: f16, n_kv padded to 256 cells, the last step cut to end at `to`."""
    ends = list(range(step, to, step)) + [to]
    return [2 * heads * head_dim * (-(-end // 256) * 256) for end in ends]


def over_allocated(size):
    """What the list pool asks of the driver on a miss: 1.05 times in double arithmetic, truncated, rounded up to 256 B."""
    return -(-math.floor(1.05 * size) // 256) * 256


class OutOfMemory(Exception):
    pass


class ListPool:
    """256 slots, best fit with ties to the lowest, never split; `flush` frees every slot and tries once more."""

    def __init__(self, budget=None, block=256, flush=False):
        self.slots = [None] * 256
        self.budget, self.block, self.flush = budget, block, flush
        self.reserved = self.peak = 0    # requested of the driver and not given back
        self.physical = 0                # the same in the device's blocks
        self.mallocs = self.frees = self.flushes = 0

    def _physical(self, size):
        return -(-size // self.block) * self.block

    def _fits(self, size):
        return self.budget is None or self.physical + self._physical(size) <= self.budget

    def _give_back(self, size):
        self.physical -= self._physical(size)
        self.reserved -= size
        self.frees += 1

    def alloc(self, size):
        fitting = [(have - size, slot) for slot, have in enumerate(self.slots) if have is not None and have >= size]
        if fitting:
            slot = min(fitting)[1]
            have, self.slots[slot] = self.slots[slot], None
            return have
        wanted = over_allocated(size)
        if not self._fits(wanted) and self.flush:
            self.flushes += 1
            for slot, have in enumerate(self.slots):
                if have is not None:
                    self._give_back(have)
                    self.slots[slot] = None
        if not self._fits(wanted):
            raise OutOfMemory
        self.physical += self._physical(wanted)
        self.reserved += wanted
        self.peak = max(self.peak, self.reserved)
        self.mallocs += 1
        return wanted

    def free(self, have):
        if None in self.slots:
            self.slots[self.slots.index(None)] = have
        else:
            self._give_back(have)

    def cached(self):
        return [s for s in self.slots if s is not None]


def play_pair(pool, sizes):
    """K then V, V then K freed. The 1-based step that fails, or None."""
    for step, size in enumerate(sizes, 1):
        try:
            k = pool.alloc(size)
            v = pool.alloc(size)
        except OutOfMemory:
            return step
        pool.free(v)
        pool.free(k)
    return None


def warm(pool, groups):
    """Blocks of a group are alive together, and freed last first."""
    for group in groups:
        held = [pool.alloc(size) for size in group]
        for have in reversed(held):
            pool.free(have)


def stack_peak(sizes, granule=2 * MIB, align=128):
    """The mapped bytes of a stack that grows by what is missing, in granules, and never shrinks."""
    mapped = 0
    for size in sizes:
        live = 2 * (-(-size // align) * align)
        mapped += max(0, -(-(live - mapped) // granule)) * granule
    return mapped


def stack_fails_at(sizes, budget, **options):
    """The first step whose growth the budget cannot serve, or None."""
    for step in range(1, len(sizes) + 1):
        if stack_peak(sizes[:step], **options) > budget:
            return step
    return None


class GrowingPool:
    """The driver's pool under kv-pair, when a step's size is a whole number of 32 MiB chunks and the stream never catches up
    by itself. Chunks are pending (freed, the driver does not know that the kernels are done) or completed. A request is
    served by pending chunks where they suffice, else by completed ones, else by completed ones and what is missing from the
    device: pending memory is never joined with new memory. A failed growth keeps what it gathered."""

    CHUNK = 32 * MIB

    def __init__(self, budget, retry=False, sync=False):
        self.capacity = (budget - 2 * MIB) // self.CHUNK    # about 2 MiB must stay free beside a chunk
        self.retry, self.sync = retry, sync
        self.pending = self.completed = self.held = 0
        self.rescues = self.reserved_high = self.used_high = 0

    def _reserved(self):
        return self.pending + self.completed + self.held

    def _try(self, n):
        if self.pending >= n:
            self.pending -= n
        else:
            gathered = min(max(0, n - self.completed), self.capacity - self._reserved())
            self.completed += gathered
            self.reserved_high = max(self.reserved_high, self._reserved() * self.CHUNK)
            if self.completed < n:
                return False
            self.completed -= n
        self.held += n
        self.used_high = max(self.used_high, self.held * self.CHUNK)
        return True

    def _alloc(self, n):
        if self._try(n):
            return True
        if not self.retry:
            return False
        self.completed, self.pending = self.completed + self.pending, 0
        saved = self._try(n)
        self.rescues += saved
        return saved

    def play(self, sizes):
        """The 1-based step that fails, or None."""
        for step, size in enumerate(sizes, 1):
            n, rest = divmod(size, self.CHUNK)
            assert rest == 0, "the calculation holds for whole chunks"
            if not self._alloc(n) or not self._alloc(n):
                return step
            self.pending += self.held
            self.held = 0
            if self.sync:
                self.completed, self.pending = self.completed + self.pending, 0
        return None
