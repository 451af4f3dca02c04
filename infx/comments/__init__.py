"""The bot's comments and commit status: pure renderers and planned edits."""
