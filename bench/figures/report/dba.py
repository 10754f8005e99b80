"""The figures of the DBA paper."""

FIGURES = []
