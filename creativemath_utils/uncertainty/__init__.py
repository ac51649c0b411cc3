"""How sure a run's numbers are: intervals, paired differences, trends, and the best set of models."""
