"""What everything else rests on: it imports nothing else of lapsus."""
