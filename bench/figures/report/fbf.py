"""The figures of the FBF thesis."""

FIGURES = []
