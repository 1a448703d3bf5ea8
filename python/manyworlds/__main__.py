"""`python -m manyworlds` is the command `manyworlds`."""

import sys

from ._command import main

sys.exit(main())
