"""The driver of the race: it sets the peers up, asks them in turn, and writes what came of it."""
