"""Make decisions true on GitHub: comments, statuses, dispatches and pushes."""
