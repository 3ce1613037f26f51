"""Who talks to whom: factors and the graph compiled from them."""
