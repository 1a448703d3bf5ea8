"""Measures the package against bare NumPy, files written by hand, and the same model in Rust: CPU seconds, bytes,
latencies, and the speed of an import.

Usage: python python/bench/league.py [ROUNDS [LEAGUE]]

LEAGUE is the program of `examples/league`, built with `cargo build --release`.

The model is a league of 272 games over 20,000 worlds: the margin of each game, and three outcomes that follow from it.
Each figure is the median over the rounds, in turns within one process; CPU time includes all threads.
"""

import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import manyworlds as mw

WORLDS, GAMES = 20_000, [(home, away) for home in range(17) for away in range(16)]


def outcomes(margin):
    return {"margin": margin, "home_won": margin > 0, "close": np.abs(margin) <= 3, "beyond": np.abs(margin)}


class League(mw.Model):
    def catalogue(self, p):
        kinds = {"margin": mw.number("points"), "home_won": mw.flag(), "close": mw.flag(), "beyond": mw.number("points")}
        return mw.Catalogue({"game": kinds}, [f"game-{g:03}" for g in range(len(GAMES))])

    def simulate(self, p, worlds, emit):
        rating = np.zeros((32, len(worlds)))
        for g, (home, away) in enumerate(GAMES):
            margin = np.rint(worlds.stream(g).normal(2.5 + rating[home] - rating[away], 13))
            emit(f"game-{g:03}", **outcomes(margin))


def bare(keep=None):
    """The same arithmetic, with NumPy's generator, and nothing stored."""
    rng, rating = np.random.default_rng(1), np.zeros((32, WORLDS))
    for g, (home, away) in enumerate(GAMES):
        found = outcomes(np.rint(rng.normal(2.5 + rating[home] - rating[away], 13)))
        if keep is not None:
            keep[f"game-{g:03}"] = found


def by_hand(folder):
    """The same, written with pyarrow: a column for each outcome of each game, in the smallest types."""
    keep = {}
    bare(keep)
    small = {"margin": np.int16, "beyond": np.int16, "home_won": bool, "close": bool}
    columns = {f"{g}_{name}": values.astype(small[name]) for g, of in keep.items() for name, values in of.items()}
    pq.write_table(pa.table(columns), folder / "league.parquet", compression="zstd")


def cpu(work):
    started = time.process_time()
    work()
    return time.process_time() - started


def in_rust(program, folder, seed):
    """CPU seconds of the same model in Rust, as the program reports them."""
    done = subprocess.run([program, folder, str(WORLDS), str(seed)], capture_output=True, check=True, text=True)
    return float(done.stdout.split()[1])


def imported(folder):
    """Values per CPU second of an import of a wide Parquet file: 100,000 worlds of 200 outcomes."""
    rng, file = np.random.default_rng(1), folder / "wide.parquet"
    columns = {f"x{n:03}": np.rint(rng.normal(0, 13, 100_000)) for n in range(100)}
    columns |= {f"y{n:03}": rng.normal(0, 13, 100_000) for n in range(50)}
    columns |= {f"z{n:03}": rng.random(100_000) < 0.5 for n in range(50)}
    pq.write_table(pa.table(columns), file)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "manyworlds", "import", "wide", str(file), "--data", str(folder / "imported")]
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shutil.rmtree(folder / "imported")
    return 200 * 100_000 / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def size(folder):
    return sum(file.stat().st_size for file in folder.rglob("*.parquet"))


def latency(ask, times=300):
    ask()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        ask()
        taken.append(time.perf_counter() - started)
    return statistics.median(taken) * 1e3


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    folder = Path(tempfile.mkdtemp())
    taken = {"bare NumPy": [], "mw.run": [], "by hand, pyarrow and zstd": [], "the same model in Rust": []}
    for turn in range(rounds):
        if len(sys.argv) > 2:
            taken["the same model in Rust"].append(in_rust(sys.argv[2], folder / "rust", turn))
        taken["bare NumPy"].append(cpu(bare))
        taken["mw.run"].append(cpu(lambda: mw.run(League(), WORLDS, turn, "league", folder / "mw", replace=True)))
        taken["by hand, pyarrow and zstd"].append(cpu(lambda: by_hand(folder)))
    for what, seconds in taken.items():
        if seconds:
            print(f"{what:<28} {statistics.median(seconds):.3f} CPU-s")
    print(f"{'bytes':<28} {size(folder / 'mw' / 'sim' / 'outcomes') // rounds} and {(folder / 'league.parquet').stat().st_size} by hand")
    big = mw.run(League(), 100_000, 1, "big", folder / "big")
    game = big["game-000"]
    legs = [f"game-{g:03}:margin > {g}" for g in range(5)]
    print(f"{'array, 100,000 worlds, warm':<28} {latency(lambda: game.worlds('margin')):.4f} ms")
    print(f"{'five conditions, warm':<28} {latency(lambda: big.probability(*legs)):.4f} ms")
    imports = [sys.executable, "-c", "import time; t = time.perf_counter(); import manyworlds; print(time.perf_counter() - t)"]
    seconds = [float(subprocess.run(imports, capture_output=True, check=True, text=True).stdout) for _ in range(rounds)]
    print(f"{'import manyworlds':<28} {statistics.median(seconds) * 1e3:.0f} ms")
    speed = statistics.median(imported(folder) for _ in range(rounds)) / 1e6
    print(f"{'import':<28} {speed:.0f} million values per CPU-s")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
