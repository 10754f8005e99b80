"""The papers, in the order of the report, each with its figures."""

import dataclasses

import dba
import fbf
import kbf
from figure import Figure


@dataclasses.dataclass(frozen=True)
class Paper:
    short: str
    title: str
    where: str  # it was published
    job: str  # what Bloomery makes of it
    figures: list[Figure]


PAPERS = [
    Paper("kBF", "kBF: Towards Approximate and Bloom Filter based Key-Value Storage for Cloud "
          "Computing Systems",
          "IEEE Transactions on Cloud Computing; an earlier version at INFOCOM 2014",
          "the map, which stores a value for each key", kbf.FIGURES),
    Paper("FBF", "Idempotent Distributed Counters using a Forgetful Bloom Filter",
          "thesis, University of Illinois 2015",
          "the window, which knows what was seen lately, and counters that count once",
          fbf.FIGURES),
    Paper("DBA", "Efficiently Representing Membership for Variable Large Data Sets",
          "IEEE Transactions on Parallel and Distributed Systems 2014",
          "the index, which finds the subsets that may contain an element", dba.FIGURES),
]


def all_figures():
    return [figure for paper in PAPERS for figure in paper.figures]
