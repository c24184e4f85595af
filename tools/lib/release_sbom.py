"""The SBOM of a release: SPDX 2.3, from packaging/dependencies.json. The same sources make the same bytes."""

from __future__ import annotations

import json
import os
import subprocess
import uuid

# Engines that are built unless somebody asks for less; what the others need is optional.
BUILT_BY_DEFAULT = {"redis", "etcd", "tools"}
TOOLS = os.path.join(os.environ.get("TYER_DEPS") or "/opt/tyer", "release", "bin")


PATH = "packaging/dependencies.json"


def read(text: str) -> list[dict]:
    return json.loads(text)["dependencies"]


def _package(identifier: str, name: str, version: str, license_name: str, url: str) -> dict:
    return {
        "SPDXID": identifier,
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "homepage": url,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": license_name,
        "copyrightText": "NOASSERTION",
    }


def _dependency(entry: dict) -> tuple[dict, dict]:
    identifier = "SPDXRef-" + entry["name"]
    version = f">= {entry['least']}" if entry["least"] else "any"
    package = _package(identifier, entry["name"], version, entry["license"], entry["url"])
    package["comment"] = f"{entry['kind']}; for: {', '.join(entry['components'])}"
    if BUILT_BY_DEFAULT & set(entry["components"]):
        relation = {"spdxElementId": "SPDXRef-tyer", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": identifier}
    else:
        relation = {"spdxElementId": identifier, "relationshipType": "OPTIONAL_DEPENDENCY_OF", "relatedSpdxElement": "SPDXRef-tyer"}
    return package, relation


def document(needed: list[dict], *, version: str, commit: str, when: str, archive: str, sha256: str) -> str:
    """needed: as read() gives it; when: the commit's time in UTC, as 2026-01-31T12:00:00Z; archive: the name of the file whose checksum is given."""
    tyer = _package("SPDXRef-tyer", "tyer", version, "Apache-2.0", "NOASSERTION")
    del tyer["homepage"]
    tyer["licenseConcluded"] = "Apache-2.0"
    tyer["packageFileName"] = archive
    tyer["checksums"] = [{"algorithm": "SHA256", "checksumValue": sha256}]
    tyer["sourceInfo"] = f"git commit {commit}"
    tyer["primaryPackagePurpose"] = "LIBRARY"
    tyer["externalRefs"] = [{
        "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:generic/tyer@{version}",
    }]
    pairs = [_dependency(entry) for entry in needed]
    name = f"tyer-{version}"
    made = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": f"https://spdx.org/spdxdocs/{name}-{uuid.uuid5(uuid.NAMESPACE_URL, commit)}",
        "creationInfo": {"created": when, "creators": [f"Tool: tyer-release-{version}"]},
        "packages": [tyer, *(package for package, _ in pairs)],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-tyer"},
            *(relation for _, relation in pairs),
        ],
    }
    return json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def validator() -> str | None:
    program = os.path.join(TOOLS, "pyspdxtools")
    return program if os.path.exists(program) else None


def validate(path: str) -> None:
    """RuntimeError with the validator's words if it is not SPDX 2.3."""
    done = subprocess.run([validator(), "--infile", path, "--version", "SPDX-2.3"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the SBOM is not valid:\n{done.stdout}{done.stderr}")
