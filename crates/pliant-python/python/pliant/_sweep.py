"""Parameter studies: a function at every point of a grid, here, in processes or on a cluster."""

from __future__ import annotations

import concurrent.futures
import itertools
import multiprocessing
import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from ._errors import PliantWarning

Result = TypeVar("Result")

#: How often a point is begun whose worker is killed.
TRIES = 4


def _points(grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(grid, Mapping):
        lists = [list(values) for values in grid.values()]
        return [dict(zip(grid.keys(), values, strict=True)) for values in itertools.product(*lists)]
    return [dict(point) for point in grid]


def sweep(
    function: Callable[..., Result],
    grid: Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]],
    on: str | None = None,
    workers: int | None = None,
) -> list[tuple[dict[str, Any], Result]]:
    """Calls ``function(**point)`` at every point of a grid; gives points with their results, in the order of the grid.

    ``grid``: names to values, all of which are combined, or a list of points. ``on``: None here, "processes" in processes of this machine,
    "ray" on the Ray cluster that is running (or one started here), and in processes, with a warning, where Ray is not installed. The results are
    the same. If a worker is killed, its points are computed again, each at most four times. An error of the
    function ends the sweep. Functions, points and results are pickled; mechanisms and models
    are, by their files. ``workers``: how many processes, as many as there are cores if not given; a Ray cluster has its own.

    >>> def mass(size): return pliant.gallery.chain(size).mass
    >>> len(pliant.sweep(mass, {"size": [1, 2, 3]}))
    3
    """
    points = _points(grid)
    if on is None:
        return [(point, function(**point)) for point in points]
    if on == "ray":
        try:
            import ray  # type: ignore[import-untyped,import-not-found,unused-ignore]
        except ImportError:
            warnings.warn("on: Ray is not installed; processes of this machine are used instead", PliantWarning, stacklevel=2)
            on = "processes"
    if on == "processes":
        return list(zip(points, _in_processes(function, points, workers), strict=True))
    if on == "ray":
        if not ray.is_initialized():
            ray.init(ignore_reinit_error=True)
        task: Any = ray.remote(max_retries=TRIES - 1)(lambda point: function(**point))
        results = []
        for point, flying in zip(points, [task.remote(point) for point in points], strict=True):
            try:
                results.append((point, ray.get(flying)))
            except ray.exceptions.WorkerCrashedError as error:
                raise BrokenProcessPool(f"a worker was killed {TRIES} times at the point {point}") from error
        return results
    raise ValueError(f'on: expected None, "processes" or "ray", got {on!r}')


def _in_processes(function: Callable[..., Result], points: list[dict[str, Any]], workers: int | None) -> list[Result]:
    count = workers if workers is not None else os.cpu_count() or 1
    results: dict[int, Result] = {}
    failed: dict[int, BaseException] = {}
    breaks = [0] * len(points)
    left = deque(range(len(points)))
    while left and not failed:
        # Not forked: threads of this process may hold locks. No more is submitted than runs at once: a killed worker takes all of it along.
        pool = concurrent.futures.ProcessPoolExecutor(count, multiprocessing.get_context("spawn"))
        flying: dict[concurrent.futures.Future[Result], int] = {}
        try:
            while flying or (left and not failed):
                while left and not failed and len(flying) < count:
                    flying[pool.submit(function, **points[left[0]])] = left[0]
                    left.popleft()
                for future in concurrent.futures.wait(flying, return_when=concurrent.futures.FIRST_COMPLETED).done:
                    error = future.exception()
                    if isinstance(error, BrokenProcessPool):
                        raise error
                    i = flying.pop(future)
                    if error is None:
                        results[i] = future.result()
                    else:
                        failed[i] = error
        except BrokenProcessPool as error:
            for future, i in sorted(flying.items(), key=lambda own: own[1], reverse=True):
                if future.done() and future.exception() is None:
                    results[i] = future.result()
                    continue
                left.appendleft(i)
                breaks[i] += 1
                if breaks[i] == TRIES:
                    raise BrokenProcessPool(f"a worker was killed {TRIES} times at the point {points[i]}") from error
        finally:
            pool.shutdown(cancel_futures=True)
    if failed:  # the error of the first point, whichever comes first
        raise failed[min(failed)]
    return [results[i] for i in range(len(points))]
