"""Three machines inside this one, each with its own network, processes, files, home, sshd and tmux; and Slurm on them.

Everything is inside one outer network namespace, and ends with the process that keeps it (`keeper`).
"""
