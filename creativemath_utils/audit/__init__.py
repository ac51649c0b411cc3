"""What the published tables can be made of: counts behind percentages, the search for wrong cells, sentences checked.

`published.audit` puts it together; the modules follow one another: recovery, consistency, reconcile, then blame,
tallies, readings, and sentences.
"""
