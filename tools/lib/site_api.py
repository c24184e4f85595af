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
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    ran = subprocess.run(["doxygen", "Doxyfile"], cwd=root, capture_output=True, text=True,
                         env={**os.environ, "TYER_API_OUT": str(out), "TYER_VERSION": version})
    said = (ran.stdout + ran.stderr).strip()
    if ran.returncode or said:
        raise SystemExit(f"site: Doxygen does not understand a comment of a public header:\n{said}")


def has_words(node):
    return any("".join(part.itertext()).strip() for part in node if part.tag in ("briefdescription", "detaileddescription"))


def undocumented(out):
    """Classes, functions of a namespace, options and error codes; plain data may speak for itself."""
    for file in sorted((out / "xml").glob("*.xml")):
        for compound in xml.parse(file).getroot().iter("compounddef"):
            name = compound.findtext("compoundname")
            if not name.startswith("tyer") or "::detail" in name:
                continue
            kind = compound.get("kind")
            if kind == "class" and not has_words(compound):
                yield name
            wants = [m for m in compound.iter("memberdef")
                     if kind == "namespace" and m.get("kind") == "function" or name.endswith("_options")]
            told = {m.findtext("name") for m in wants if has_words(m)}  # one overload speaks for the others
            yield from sorted({f"{name}::{m.findtext('name')}" for m in wants if m.findtext("name") not in told})
            for value in compound.iterfind(".//memberdef[name='errc']/enumvalue"):
                if not has_words(value):
                    yield f"{name}::errc::{value.findtext('name')}"
