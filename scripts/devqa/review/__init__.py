"""People's decisions: the page on which they are taken, and what follows from them (SimpleDevQA, sections 3 and 4.3).

Tables of the workflow become tasks; decisions are kept in one SQLite file and written as Parquet, which the workflow
takes as input.
"""
