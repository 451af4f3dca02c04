"""Pages with charts: one HTML file that needs no network."""
