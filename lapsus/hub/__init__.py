"""From rows to a folder that the Hub and its viewer take, and up to the Hub."""
