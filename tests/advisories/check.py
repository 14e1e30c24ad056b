#!/usr/bin/env python3
"""Compares Cargo.lock with what is known of holes in packages: `known.tsv` beside this file, a snapshot of facts from RustSec's
database (https://github.com/rustsec/advisory-db): which advisory is about which package, and which versions have it mended or
never had it. Nothing is fetched.

A version that has a hole fails. What is told and does not fail: packages that nobody maintains, packages that came into
Cargo.lock after the snapshot, and a snapshot older than 60 days.

usage: check.py [LOCK]              LOCK is Cargo.lock of this repository
       check.py --write CLONE       makes the snapshot anew, from a clone of the database, for what is in Cargo.lock
       check.py --self              whether this finds what it has to
"""
import datetime, pathlib, re, subprocess, sys, tomllib

HERE = pathlib.Path(__file__).resolve().parent
LOCK, KNOWN = HERE.parents[1] / "Cargo.lock", HERE / "known.tsv"
DAYS_MAX = 60
# These tell of a package and not of a hole in it.
TOLD_ONLY = {"unmaintained", "notice"}


def parts(version):
    """A version as a tuple that compares as versions do: what comes before a release is less than it."""
    version = version.split("+")[0]
    main, _, before = version.partition("-")
    numbers = [int(number) for number in main.split(".")]
    numbers += [0] * (3 - len(numbers))
    words = [(0, int(word), "") if word.isdigit() else (1, 0, word) for word in before.split(".")] if before else []
    return tuple(numbers), not before, words


def caret(version):
    """The first version that is not compatible with this one."""
    numbers = [int(number) for number in version.split("-")[0].split(".")]
    for place, number in enumerate(numbers):
        if number or place == len(numbers) - 1:
            return ".".join(map(str, [*numbers[:place], number + 1]))


def fits(version, ranges):
    """Whether a version is in one of these ranges, each of comparisons with commas between."""
    return any(all(holds(version, one.strip()) for one in row.split(",")) for row in ranges)


def holds(version, comparison):
    sign, bound = re.fullmatch(r"(>=|<=|>|<|=|\^|)\s*(\S+)", comparison).groups()
    own, other = parts(version), parts(bound)
    if sign in ("^", ""):
        return other <= own < parts(caret(bound))
    return {">=": own >= other, "<=": own <= other, ">": own > other, "<": own < other, "=": own == other}[sign]


def packages(lock):
    """Of what comes from a registry: names and versions."""
    return [(row["name"], row["version"]) for row in tomllib.loads(lock)["package"] if "source" in row]


def known(text):
    head, covers, *rows = text.splitlines()
    date = datetime.date.fromisoformat(re.search(r"\d{4}-\d\d-\d\d", head)[0])
    fields = [row.split("\t") for row in rows if row]
    split = lambda ranges: [one for one in ranges.split(" | ") if one]
    return date, set(covers.split("\t")[1].split()), [(id, name, kind, split(mended), split(never)) for id, name, kind, mended, never in fields]


def check(lock, text, today):
    """What is wrong, and what is only told."""
    date, covered, rows = known(text)
    wrong, told = [], []
    found = packages(lock)
    for id, name, kind, mended, never in rows:
        for own, version in found:
            if own == name and not fits(version, mended) and not fits(version, never):
                line = f"{name} {version}: {id}{f' ({kind})' if kind else ''}; mended in {' | '.join(mended) or 'no version'}"
                (told if kind in TOLD_ONLY else wrong).append(line)
    strangers = sorted({name for name, _ in found} - covered)
    if strangers:
        told.append(f"the snapshot does not cover {', '.join(strangers)}")
    if (today - date).days > DAYS_MAX:
        told.append(f"the snapshot is of {date}, {(today - date).days} days ago: check.py --write CLONE makes it anew")
    return wrong, told, len(rows)


def write(clone):
    git = lambda *words: subprocess.run(["git", "-C", clone, *words], capture_output=True, text=True, check=True).stdout
    date, commit = git("log", "-1", "--format=%cs %H").split()
    names = {name for name, _ in packages(LOCK.read_text())}
    rows = []
    for file in git("ls-tree", "-r", "--name-only", "HEAD", "crates").split():
        if file.split("/")[1] not in names:
            continue
        facts = tomllib.loads(re.search(r"```toml\n(.*?)```", git("show", f"HEAD:{file}"), re.S)[1])
        about, versions = facts["advisory"], facts.get("versions", {})
        if "withdrawn" in about:
            continue
        ranges = [" | ".join(versions.get(key, [])) for key in ("patched", "unaffected")]
        rows.append("\t".join([about["id"], about["package"], about.get("informational", ""), *ranges]))
    head = f"# RustSec's advisories of {date} (commit {commit[:12]}) about packages in Cargo.lock: id, package, kind, mended in, never in"
    KNOWN.write_text("\n".join([head, "covers\t" + " ".join(sorted(names)), *sorted(rows)]) + "\n")
    print(f"{len(rows)} advisories about {len(names)} packages, of {date}")


def self_test():
    day = datetime.date(2026, 3, 1)
    table = "# of 2026-02-01\ncovers\ta b\nR-1\ta\t\t>= 1.2.3 | ^0.9.8\t< 0.5.0\nR-2\tb\tunmaintained\t\t\n"
    lock = lambda *rows: "".join(f'[[package]]\nname = "{name}"\nversion = "{version}"\nsource = "r"\n' for name, version in rows)
    for version, has_hole in [("1.2.2", True), ("1.2.3", False), ("1.2.3-rc.1", True), ("0.9.7", True), ("0.9.9", False), ("0.10.0", True),
                              ("0.4.9", False), ("0.5.0", True), ("2.0.0+build", False), ("1.10.0", False)]:
        wrong, told, _ = check(lock(("a", version)), table, day)
        assert bool(wrong) == has_hole and not told, (version, wrong, told)
    wrong, told, _ = check(lock(("b", "1.0.0"), ("c", "1.0.0")), table, day)
    assert not wrong and len(told) == 2 and "R-2" in told[0] and "does not cover c" in told[1], (wrong, told)
    _, told, _ = check(lock(("a", "2.0.0")), table, day + datetime.timedelta(days=40))
    assert len(told) == 1 and "68 days ago" in told[0], told
    # A real hole of a real package is in the snapshot.
    wrong, _, _ = check(lock(("h2", "0.4.3")), KNOWN.read_text(), day)
    assert any("RUSTSEC-2024-0332" in line for line in wrong), wrong
    print("finds what it has to")


def main():
    if sys.argv[1:2] == ["--self"]:
        return self_test()
    if sys.argv[1:2] == ["--write"]:
        return write(sys.argv[2])
    lock = pathlib.Path(sys.argv[1]) if sys.argv[1:] else LOCK
    wrong, told, count = check(lock.read_text(), KNOWN.read_text(), datetime.date.today())
    for line in told:
        print(f"   note: {line}")
    for line in wrong:
        print(f"   HOLE: {line}")
    print(f"{count} advisories about packages here, {len(wrong)} about versions that are used")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
