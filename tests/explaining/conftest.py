"""Explanations: `known_cases` lies beside the tests, whatever way pytest imports them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
