#!/usr/bin/env python3
"""Runs a fuzz target that `./dev fuzz` has built.

fuzz.py list                           prints each target and its first comment
fuzz.py names TARGET|all .cpp|.py      prints the names of the targets written in that language, for ./dev
fuzz.py run TARGET --seconds N | --cases N
                                       continues with the corpus in build/fuzz/TARGET, at first the seeds
The last line of a run has its figures. Each failing case is minimised, and the command that repeats it is printed; the
exit code is then 1. Ctrl-C ends a run early.
"""
import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = ROOT / "tests" / "fuzz"
PROGRAMS = ROOT / "build" / "asan"
HOME = ROOT / "build" / "fuzz"
# Larger allocations fail, as on a machine without memory; the library must then give a clear error.
SANITIZERS = {
    "ASAN_OPTIONS": "allocator_may_return_null=1:max_allocation_size_mb=256:detect_stack_use_after_return=0:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
    "TENON_LOAD_LIMIT": str(64 << 20),
}


def targets():
    return {path.stem.removesuffix("_fuzz"): path for path in sorted(SOURCES.glob("*_fuzz.*"))}


def first_comment(path):
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return re.search(r'"""(.*?)\n', text).group(1)
    lines = [line.removeprefix("// ") for line in text.splitlines()]
    return " ".join(lines[: next(i for i, line in enumerate(lines) if line.startswith("#"))])


def write_seeds(target, folder):
    """Seeds are the files in seeds/TARGET and the lines of seeds/TARGET.txt. Returns the folders that contain them."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = SOURCES / "seeds" / f"{target}.txt"
    if lines.exists():
        for number, line in enumerate(lines.read_text(encoding="utf-8").splitlines()):
            (folder / str(number)).write_text(line, encoding="utf-8")
    return [str(folder), *filter(os.path.isdir, [str(SOURCES / "seeds" / target)])]


def run_libfuzzer(target, limits):
    home = HOME / target
    corpus, found, scratch = home / "corpus", home / "found", home / "scratch"
    for folder in (corpus, found, scratch):
        folder.mkdir(parents=True, exist_ok=True)
    program = str(PROGRAMS / f"fuzz_{target}")
    environment = os.environ | SANITIZERS | {"TMPDIR": str(scratch)}
    before = set(found.iterdir())
    command = [program, *limits, "-timeout=20", "-rss_limit_mb=3000", "-print_final_stats=1", "-print_funcs=0", "-verbosity=1", f"-artifact_prefix={found}/"]
    dictionary = SOURCES / f"{target}.dict"
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    # Ctrl-C also reaches libFuzzer and ends it; this program ignores Ctrl-C and then prints the figures.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = home / "log"
    with open(log, "w", encoding="utf-8") as out:
        process = subprocess.run(
            [*command, str(corpus), *write_seeds(target, home / "seeds")],
            cwd=scratch, env=environment, stderr=out, stdin=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    text = log.read_text(encoding="utf-8", errors="replace")
    cases = re.search(r"number_of_executed_units: (\d+)", text)
    speed = re.search(r"average_exec_per_sec: +(\d+)", text)
    new = sorted(set(found.iterdir()) - before)
    print(f"{target}: {cases.group(1) if cases else 'unknown number of'} cases, {speed.group(1) if speed else '?'} a second, "
          f"{len(list(corpus.iterdir()))} in the corpus, {'found ' + str(len(new)) if new else 'clean'}")  # fmt: skip
    if new:
        print("\n".join(line for line in text.splitlines() if not re.match(r"#\d+|INFO:|stat::|Dictionary|\tNEW|.*failed to allocate", line))[:6000])
    for path in new:
        minimise(program, path, environment)
    interrupted = process.returncode == 72
    if process.returncode and not new and not interrupted:
        print(text[-6000:])
        print(f"{target}: ended with status {process.returncode}; see {log}")
    return 1 if new or (process.returncode and not interrupted) else 0


def minimise(program, path, environment):
    smallest = path.with_name(path.name + ".smallest")
    subprocess.run([program, "-minimize_crash=1", "-max_total_time=20", f"-exact_artifact_path={smallest}", str(path)],
                   env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)  # fmt: skip
    print(f"repeat it: ./dev fuzz {path.parent.parent.name} --file {smallest if smallest.exists() else path}")


def run_python(path, arguments, others):
    command = [str(ROOT / ".venv" / "bin" / "python"), str(path), *others]
    for name in ("seconds", "cases", "seed"):
        if getattr(arguments, name):
            command += [f"--{name}", str(getattr(arguments, name))]
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return subprocess.run(command).returncode


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list")
    names = commands.add_parser("names")
    names.add_argument("target")
    names.add_argument("ending")
    run = commands.add_parser("run")
    run.add_argument("target")
    run.add_argument("--seconds", type=int)
    run.add_argument("--cases", type=int)
    run.add_argument("--seed", type=int)
    run.add_argument("--file")
    arguments, others = parser.parse_known_args()
    if arguments.command == "list":
        for target, path in targets().items():
            print(f"{target:<12} {first_comment(path)}")
        return 0
    if arguments.command == "names":
        for name, path in targets().items():
            if arguments.target in (name, "all") and path.suffix == arguments.ending:
                print(name)
        return 0
    if targets()[arguments.target].suffix == ".py":
        return run_python(targets()[arguments.target], arguments, others)
    if others:
        parser.error(f"unknown: {others}")
    if arguments.file:
        program = str(PROGRAMS / f"fuzz_{arguments.target}")
        return subprocess.run([program, arguments.file], env=os.environ | SANITIZERS).returncode
    limits = [f"-max_total_time={arguments.seconds}"] if arguments.seconds else []
    limits += [f"-runs={arguments.cases}"] if arguments.cases else []
    limits += [f"-seed={arguments.seed}"] if arguments.seed else []
    return run_libfuzzer(arguments.target, limits or ["-max_total_time=60"])


if __name__ == "__main__":
    sys.exit(main())
