"""The figures of the kBF papers."""

from figure import Figure, Finding, Plot


def encoding_bits(data):
    n, (greedy,) = data.points("greedy search")[-1]
    best, ours = data.last("lower bound"), data.last("algebraic (ours)")
    return Finding(f"For {n:.0f} values the search takes {greedy:.0f} bits, where {best:.0f} is the "
                   f"bound; the gap grows with the number of values, so 2¹⁴ codes do not fit in 30 "
                   f"bits. Codes (x, x³) take {ours:.0f}.", agrees=False)


FIGURES = [
    Figure("kbf-02", "Figure 2", "Bits of an encoding",
           claim="A greedy search finds codes for 2¹⁴ values in 30 bits, two above the bound.",
           plots=[Plot("values", "bits", log="x")],
           finding=encoding_bits,
           ours=("algebraic (ours)",)),
]
