"""What the bot says on a pull request, and how its comments are kept: pure renderers and planned edits."""
