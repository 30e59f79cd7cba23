"""The tools of LLMC for agents, by the Model Context Protocol."""
