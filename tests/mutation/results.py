# SPDX-License-Identifier: MIT
"""Results in a folder, one file each, which several workers fill at a time.

A run that is interrupted goes on where it was: what has a result is not done again.
"""

import json
import re


class Results:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        return self.folder / (re.sub(r"[^\w.-]", "-", name) + ".json")

    def get(self, name):
        path = self.path(name)
        return json.loads(path.read_text()) if path.exists() else None

    def put(self, name, result):
        """All of it or nothing, in case of a kill."""
        path = self.path(name)
        partly = path.with_suffix(".partly")
        partly.write_text(json.dumps(result, indent=1))
        partly.rename(path)

    def claim(self, name):
        """Whether it is for this worker to do. run.sh removes the claims of an earlier run."""
        try:
            self.path(name).with_suffix(".claim").touch(exist_ok=False)
        except FileExistsError:
            return False
        return True
