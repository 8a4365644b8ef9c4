"""Reports for people: HTML pages and the figures behind them."""
