"""Write or check the generated pages."""

import sys

from docs.generate.pages import main

sys.exit(main())
