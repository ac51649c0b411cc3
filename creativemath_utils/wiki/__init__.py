"""Wiki pages, rendered or raw, to problems: what `aops.parse_page` is made of.

`text` and `titles` are the ground; `html` and `wikitext` (behind `markup`) read a page into lines; `names`, `credits`,
`phrases` and `sections` know what is no mathematics; `rules` decides.
"""
