"""JSON Schemas of every file that infx reads, for `infx.schema` and for editors."""
