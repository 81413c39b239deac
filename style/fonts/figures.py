"""Leaves of a font's tabular figures those of digits: `figures.py FROM TO`."""

import sys

from fontTools.ttLib import TTFont

DIGITS = "zero one two three four five six seven eight nine".split()

font = TTFont(sys.argv[1])
table = font["GSUB"].table
for record in table.FeatureList.FeatureRecord:
    if record.FeatureTag != "tnum":
        continue
    for lookup in (table.LookupList.Lookup[index] for index in record.Feature.LookupListIndex):
        for part in lookup.SubTable:
            part = getattr(part, "ExtSubTable", part)
            part.mapping = {key: to for key, to in part.mapping.items() if key in DIGITS}
font.save(sys.argv[2])
