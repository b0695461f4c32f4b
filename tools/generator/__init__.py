"""What tools/ops.py is made of. Each module imports only modules above it.

signature   the grammar of signatures, and what each type of a parameter becomes
op          an op: its signature, its facts and what follows from them
blocks      reads the blocks in src/ops/
cpp         how parameters, results and calls are written in C++
headers     include/tenon/: the public functions and methods
table       src/ops/: the lists of blocks, files and operators
algorithms  src/dispatch/: ops that a function plain::NAME computes
dispatch    src/dispatch/: the definitions of the functions and methods
schemas     src/dispatch/: the ops by name
overloads   the signatures that Python's functions accept
python      src/python/: the tables of Python's functions
dtypes      which dtypes an op accepts and gives, in words
reference   docs/reference.md
"""
