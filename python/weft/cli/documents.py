"""What commands print with --json of runs and results."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.execute.driver import Outcome
    from weft.experiment.experiment import Experiment
    from weft.results import Results


def run_document(
    experiment: "Experiment", outcome: "Outcome", results: "Results | None", page: Path | None
) -> dict[str, Any]:
    """What became of an experiment, and its results."""
    return {
        "name": experiment.name,
        "directory": str(outcome.directory),
        "planned": outcome.planned,
        "resumed": outcome.resumed,
        "unfinished": {run.name: message for run, message in outcome.unfinished},
        "failed": {run.name: message for run, message in outcome.failed},
        "warnings": outcome.warnings,
        "report": str(page) if page else None,
        "cells": results.table().to_dicts() if results else [],
        "analyses": _analyses_document(results) if results else [],
        "published": results.published.to_dicts() if results else [],
    }


def results_document(results: "Results") -> dict[str, Any]:
    """The results of a folder, with what is lacking."""
    return {
        "directory": str(results.directory),
        "warnings": results.warnings,
        "cells": results.table().to_dicts(),
        "analyses": _analyses_document(results),
        "published": results.published.to_dicts(),
        "runs": list(results.manifests.values()),
        "failed": results.failures.to_dicts(),
        "lacking": results.lacking,
    }


def _analyses_document(results: "Results") -> list[dict[str, Any]]:
    from weft.analysis import analyse

    return [
        {
            "title": answer.question.title,
            "where": answer.question.where,
            "refused": answer.refused,
            "sentences": answer.sentences,
            "rows": answer.rows,
        }
        for answer in analyse(results)
    ]
