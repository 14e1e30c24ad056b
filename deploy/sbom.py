#!/usr/bin/env python3
"""Writes what a binary is made of, as CycloneDX 1.5 (JSON): every package that is compiled into it, with version, licence,
checksum and what it depends on. It is the same for the same Cargo.lock and features.

usage: sbom.py [--features LIST] [--no-default-features] > sbom.cdx.json
       sbom.py --check FILE        says whether a file has what such a list has to have
"""
import argparse, hashlib, json, pathlib, subprocess, sys, tomllib, uuid

TOP = pathlib.Path(__file__).resolve().parents[1]


def metadata(asked):
    words = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host()]
    words += ["--no-default-features"] if asked.no_default_features else []
    words += ["--features", asked.features] if asked.features else []
    return json.loads(subprocess.run(words, cwd=TOP, capture_output=True, text=True, check=True).stdout)


def host():
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return next(line.split(": ")[1] for line in told.splitlines() if line.startswith("host: "))


def compiled(nodes, root):
    """What is reached from the root by dependencies that are neither of tests nor of builds."""
    reached, left = {}, [root]
    while left:
        own = left.pop()
        if own in reached:
            continue
        normal = [one["pkg"] for one in nodes[own]["deps"] if any(kind["kind"] is None for kind in one["dep_kinds"])]
        reached[own] = normal
        left += normal
    return reached


def component(package, checksums):
    name, version = package["name"], package["version"]
    row = {"type": "library", "bom-ref": f"pkg:cargo/{name}@{version}", "name": name, "version": version,
           "purl": f"pkg:cargo/{name}@{version}"}
    if package.get("license"):
        row["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if (name, version) in checksums:
        row["hashes"] = [{"alg": "SHA-256", "content": checksums[name, version]}]
    if package.get("repository"):
        row["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return row


def bom(asked):
    told, lock = metadata(asked), (TOP / "Cargo.lock").read_bytes()
    packages = {package["id"]: package for package in told["packages"]}
    nodes = {node["id"]: node for node in told["resolve"]["nodes"]}
    root = next(id for id, package in packages.items() if package["name"] == "clearance")
    reached = compiled(nodes, root)
    checksums = {(row["name"], row["version"]): row["checksum"] for row in tomllib.loads(lock.decode())["package"] if "checksum" in row}
    rows = {id: component(packages[id], checksums) for id in reached}
    rows[root]["type"] = "application"
    by_ref = lambda row: row["bom-ref"]
    depends = [{"ref": by_ref(rows[id]), "dependsOn": sorted({by_ref(rows[other]) for other in others})} for id, others in reached.items()]
    seed = hashlib.sha256(lock + f"{asked.features} {asked.no_default_features}".encode()).hexdigest()
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, seed)}",
        "metadata": {"component": rows[root]},
        "components": sorted((row for id, row in rows.items() if id != root), key=by_ref),
        "dependencies": sorted(depends, key=lambda row: row["ref"]),
    }


def wrong(told):
    """What is missing in such a list."""
    refs = {row["bom-ref"] for row in told["components"]} | {told["metadata"]["component"]["bom-ref"]}
    if (told["bomFormat"], told["specVersion"]) != ("CycloneDX", "1.5"):
        yield "the format"
    for row in told["components"]:
        if not row.get("licenses"):
            yield f"{row['name']}: the licence"
        if not row.get("hashes") and not row["name"].startswith("clearance"):
            yield f"{row['name']}: the checksum"
    for row in told["dependencies"]:
        yield from (f"{row['ref']}: what it depends on, {one}" for one in row["dependsOn"] if one not in refs)
    for name in ("tonic", "prost", "tokio", "rayon"):
        if not any(row["name"] == name for row in told["components"]):
            yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--features", default="")
    parser.add_argument("--no-default-features", action="store_true")
    parser.add_argument("--check")
    asked = parser.parse_args()
    if asked.check:
        told = json.loads(pathlib.Path(asked.check).read_text())
        missing = list(wrong(told))
        for line in missing:
            print(f"   LACKS: {line}")
        print(f"{len(told['components'])} packages")
        sys.exit(1 if missing else 0)
    json.dump(bom(asked), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
