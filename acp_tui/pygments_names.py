"""The names that themes use for the token types of Pygments."""

from __future__ import annotations

TOKEN_NAMES = {
    "Comment": "comment",
    "Comment.Hashbang": "comment",
    "Comment.Preproc": "decorator",
    "Error": "error",
    "Generic.Deleted": "deleted",
    "Generic.Error": "error",
    "Generic.Heading": "heading",
    "Generic.Inserted": "inserted",
    "Generic.Prompt": "decorator",
    "Generic.Subheading": "heading",
    "Keyword": "keyword",
    "Keyword.Constant": "constant",
    "Keyword.Type": "type",
    "Literal": "number",
    "Literal.Date": "constant",
    "Literal.Number": "number",
    "Literal.String": "string",
    "Literal.String.Doc": "comment",
    "Name": "name",
    "Name.Attribute": "attribute",
    "Name.Builtin": "builtin",
    "Name.Class": "class",
    "Name.Constant": "constant",
    "Name.Decorator": "decorator",
    "Name.Exception": "class",
    "Name.Function": "function",
    "Name.Tag": "tag",
    "Name.Variable": "variable",
    "Operator": "operator",
    "Operator.Word": "keyword",
    "Punctuation": "punctuation",
}
"""The name that themes use for each token type. A type that is not listed has the name of its parent type."""
