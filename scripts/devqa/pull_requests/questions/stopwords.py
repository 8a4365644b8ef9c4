"""Words that say nothing about what a question is about, and words that say nothing at all."""

# Function words of English, and what questions begin with. Negations are none: they turn a fact over.
_WORDS = """
a about above after again all also am an and any are as at be became because become been before being below between
both but by can could did do does doing done down during each either else ever every few for from further get gets
given gives had has have having he her here hers him his how however i if in into is it its itself just kind let like
made make makes many may me might more most much must my of off on once one only onto or other our out over own per
same shall she should since so some such take takes than that the their them then there these they thing things this
those through thus to too two under until up upon us use used uses using very via was we were what whatever when where
whether which while who whom whose why will with within would yes you your
"""
STOP_WORDS = frozenset(_WORDS.split())

# Of the others a fact may consist: one, all, before.
_FILLING = "a an the is are was were be been do does did has have had it its that this"
FILLING = frozenset(_FILLING.split())
