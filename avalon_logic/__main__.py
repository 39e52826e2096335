"""`python -m avalon_logic`, the same as `avalon`."""

import sys

from avalon_logic.cli import main

sys.exit(main())
