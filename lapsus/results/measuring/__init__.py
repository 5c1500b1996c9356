"""The numbers of a report: what each model scored on each track, what noise cost it, and how sure that is."""
