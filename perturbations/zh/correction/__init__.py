"""The counter-measure: what was typed or heard, put right."""
