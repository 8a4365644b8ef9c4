"""The one exception that people are meant to read."""


class UserError(Exception):
    """Something that the user can mend: the message names the file, key or row and what to do.

    Scripts print the message without a traceback and end with exit code 1 (see `devqa.job`); the
    Snakefile turns it into Snakemake's own `WorkflowError`.
    """
