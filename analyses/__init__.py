"""analyses: state graphs, balance and comparisons of rulebooks."""
