"""Apply decisions on GitHub: write comments and statuses, dispatch runs and push commits."""
