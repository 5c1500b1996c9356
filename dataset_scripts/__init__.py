"""One builder file per benchmark family; units are found by looking at the folder."""
