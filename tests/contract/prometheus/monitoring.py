"""The queries of docs/monitoring: of the dashboard and of the alerts."""
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "docs" / "monitoring"
OF_THE_EXPORTER = re.compile("tyer_(locks|exporter)_|tyer_engine_up")


def dashboard_queries() -> list[str]:
    """As Grafana sends them, with all of its variables chosen."""
    panels = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    queries = [t["expr"] for p in panels for t in p.get("targets", [])]
    for name, value in {"$__rate_interval": "1m", "$group": ".*", "$job": ".*"}.items():
        queries = [q.replace(name, value) for q in queries]
    return queries


def legends_that_may_be_empty() -> list[str]:
    """Locks without a group, and all locks together, have an empty label: of a legend with nothing else Grafana makes "Value"."""
    panels = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
    legends = [t["legendFormat"] for p in panels for t in p.get("targets", [])]
    return [one for one in legends if re.sub("{{(group|begins_with)}}", "", one).strip() == ""]


def alerts() -> list[str]:
    return re.findall(r"- alert: (\w+)", (FOLDER / "alerts.yml").read_text())


def names(of_the_exporter: bool) -> set[str]:
    """The metrics that dashboard and alerts look at, without what a histogram adds."""
    text = (FOLDER / "alerts.yml").read_text() + " ".join(dashboard_queries())
    found = {re.sub("_seconds_(bucket|sum|count)$", "_seconds", n) for n in re.findall(r"\btyer_\w+", text)}
    return {n for n in found if bool(OF_THE_EXPORTER.match(n)) == of_the_exporter}


def missing(page: str, of_the_exporter: bool) -> list[str]:
    shown = set(re.findall(r"^# TYPE (\w+) ", page, re.MULTILINE))
    return [f"docs/monitoring looks at {n}, which is not there" for n in sorted(names(of_the_exporter) - shown)]
