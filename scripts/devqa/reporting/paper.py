"""SimpleDevQA's own figures (arXiv 2512.08867v1), as printed, to stand beside one's own."""

# Section 4.3: pairs after each step. Wrong answers that verification found were corrected by hand, so that it lost
# none; of the hard pairs people kept `kept`.
FUNNEL = {"dialogues": 3_000, "pairs": 9_000, "checked": 6_020, "verified": 6_020}
FUNNEL |= {"hard": 3_231, "easy": 2_789, "kept": 2_740}

# Table 3: rows of the benchmark by knowledge domain.
DOMAINS = {
    "APIs & Frameworks": 1_764,
    "Programming language syntax": 541,
    "Algorithms & Data structures": 133,
    "Software Development & Engineering": 92,
    "Database Management & SQL": 92,
    "Computer organization & Architecture": 55,
    "System design": 33,
    "Object-oriented programming": 27,
    "Compiler design": 2,
}
GROUPS = {"syntactic": 2_305, "semantic": 435}
DOMAINS_NOTE = "SimpleDevQA’s Table 3 is shown as printed: its groups add up to 2,740 rows, its domains to 2,739."

# Section 3: dialogues after each step of the study.
STUDY = {"raw": 1_000_000, "topic": 376_888, "filtered": 103_112, "sampled": 8_786}
# Figure 3, by the names of Table 2.
TASKS = {
    "Dev Knowledge QA": 0.396,
    "Code Generation": 0.323,
    "Code Debugging": 0.089,
    "Program Repair": 0.068,
    "Code Translation": 0.017,
    "Code Editing": 0.1,
    "Comment Generation": 0.004,
    "Test Generation": 0.003,
}
# Section 3.2, of knowledge questions; section 3.3, those that meet all three criteria.
CODE_CENTRED = 0.275
SUITABLE = 0.1711
CODE_CENTRED_NOTE = (
    "SimpleDevQA’s shares of section 3.2 are shown as printed: of 3,098 dialogues 851 are centred on code (27.5 %) and "
    "2,870 are not (72.5 %), which does not add up."
)

# Section 3: two annotators of tasks, who settled what they disputed with a third.
ALPHA = 0.908
ACCURACY = 0.924
