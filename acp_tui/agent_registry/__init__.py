"""The public list of agents, and the installation of agents from it.

Everything in the list and in what is downloaded is untrusted: an id, a name, a command or a member of an
archive may be made to write or run something elsewhere. Imports only what is below `cli` and `ui`.
"""
