"""One HTML page about a fitted model: nothing from the network, so it opens anywhere, travels by
mail and prints. `page.write` writes it.
"""
