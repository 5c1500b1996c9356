"""The counter-measure: words that were typed or heard wrong are corrected."""
