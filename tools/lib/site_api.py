"""Makes the API reference with Doxygen, and asks that whatever a user may name has words of its own."""
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as xml


def build(root, out):
    """Writes out/reference (HTML) and out/xml. Raises SystemExit with what Doxygen said if it had to warn."""
    if not shutil.which("doxygen"):
        raise SystemExit("site: needs doxygen: run tools/setup")
    text = (root / "include/tyer/version.hpp").read_text()
    version = ".".join(re.findall(r"TYER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))
    out.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(["doxygen", "Doxyfile"], cwd=root, capture_output=True, text=True,
                         env={**os.environ, "TYER_API_OUT": str(out), "TYER_VERSION": version})
    said = (ran.stdout + ran.stderr).strip()
    if ran.returncode or said:
        raise SystemExit(f"site: Doxygen does not understand a comment of a public header:\n{said}")


def has_words(node):
    return any("".join(part.itertext()).strip() for part in node if part.tag in ("briefdescription", "detaileddescription"))


def undocumented(out):
    """Classes, functions of a namespace, enumerations, and every member of an enumeration or of a struct of options."""
    for file in sorted((out / "xml").glob("*.xml")):
        for compound in xml.parse(file).getroot().iter("compounddef"):
            name = compound.findtext("compoundname")
            if not name.startswith("tyer") or "::detail" in name:
                continue
            kind = compound.get("kind")
            if kind in ("class", "struct") and not has_words(compound):
                yield name
            for member in compound.iter("memberdef"):
                wants = (kind == "namespace" and member.get("kind") in ("function", "enum", "typedef")) or name.endswith("_options")
                if wants and not has_words(member):
                    yield f"{name}::{member.findtext('name')}"
