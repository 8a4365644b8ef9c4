"""How many of each stratum a sample takes."""

from collections.abc import Mapping


def allotted(strata: Mapping[str, int], size: int) -> dict[str, int]:
    """How many of each stratum's members are drawn: `size` in all, or everyone where there are no more.

    In proportion, by largest remainders; where `size` allows it, a stratum that would have none gets one from that
    which is most above its share. The strata have at least one member each.
    """
    total = sum(strata.values())
    size = min(size, total)
    parts = {name: size * count // total for name, count in strata.items()}
    by_remainder = sorted(strata, key=lambda name: (-(size * strata[name] % total), name))
    for name in by_remainder[: size - sum(parts.values())]:
        parts[name] += 1
    if size >= len(strata):
        for name in sorted(name for name, part in parts.items() if not part):
            giving = [other for other, part in parts.items() if part > 1]
            parts[max(giving, key=lambda other: (parts[other] * total - size * strata[other], other))] -= 1
            parts[name] = 1
    return parts
