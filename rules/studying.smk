"""What the rules of the study share; no rules.

Needs: SETTINGS.
Gives: STUDY (the section, or None), the files of its tables, scan_recipe() and studied() for rules/study.smk.
"""

from devqa.study.raw import raw_files

STUDY = SETTINGS.study
NO_STUDY = """The configuration has no section `study`: say which dialogues are studied, and which models are asked.
study:
  sources: {wildchat: {path: "data/wildchat/*.parquet"}}
  filter: {model: gpt}
  tasks: {model: gpt}
  suitability: {model: gpt}
docs/study.md explains it."""

STUDIED = {name: source_files(source.path) for name, source in STUDY.sources.items()} if STUDY else {}
# A job for each raw file, told by the file's name: one that comes to them leaves the others as they are.
RAW = {name: raw_files(files) for name, files in STUDIED.items()}
ALL_SCANNED = [f"results/study/scanned/{name}/{file}.parquet" for name, files in RAW.items() for file in files]
STUDY_SHARDS = [f"{number}-of-{STUDY.shards}" for number in range(STUDY.shards)] if STUDY else []
SHOWN = {"text_tokens": STUDY.text_tokens} if STUDY else {}
DIALOGUE_DECISIONS = decisions_file("dialogues")


def scan_recipe(wildcards):
    """The recipe of the job that reads one raw file."""
    raw = RAW[wildcards.source][wildcards.file]
    options = {
        "source": wildcards.source,
        "label": raw.label,
        "limits": SETTINGS.ingest.model_dump(mode="json"),
        "topic": STUDY.topic.model_dump(),
        **STUDY.model_dump(include={"languages", "toxic", "redacted"}),
        **SHOWN,
    }
    return recipe_of("study_scan.py", options, files=[raw.file])(wildcards)


def studied(wildcards):
    """What `rule study` needs, by name."""
    if not STUDY:
        raise WorkflowError(NO_STUDY)
    return {
        "scanned": ALL_SCANNED,
        "unique": rules.study_unique.output.unique,
        "filtered": rules.study_sample.input.filtered,
        "sampled": [rules.study_sample.output.sampled],
        "classified": [rules.study_classify.output.classified],
        "html": rules.study_report.output.html,
        "seeds": rules.study_seeds.output.seeds,
    }
