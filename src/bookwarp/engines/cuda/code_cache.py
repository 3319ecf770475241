"""Compiled code on disk: one file a kernel, whole or not read at all."""

import hashlib
import os
import tempfile
from contextlib import suppress
from pathlib import Path

FOLDER_VARIABLE = "BOOKWARP_CACHE_DIR"
_DIGEST_BYTES = 32


def cache_folder() -> Path:
    """Return the folder of compiled code: that of the user, unless BOOKWARP_CACHE_DIR is set."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    if os.name == "nt":
        local = os.environ.get("LOCALAPPDATA")
        user = Path(local) if local else Path.home() / "AppData" / "Local"
    else:
        given = os.environ.get("XDG_CACHE_HOME")
        user = Path(given) if given else Path.home() / ".cache"
    return user / "bookwarp"


class CodeCache:
    """Files that hold the SHA-256 of some code, then the code.

    A file that is damaged counts as absent; a folder that cannot be written keeps nothing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @staticmethod
    def name_of(*made_of: str, suffix: str = "cubin") -> str:
        """Return the name of what is made of these texts and nothing else."""
        hasher = hashlib.sha256()
        for text in made_of:
            data = text.encode()
            hasher.update(len(data).to_bytes(8, "little") + data)
        return f"{hasher.hexdigest()}.{suffix}"

    def read(self, name: str) -> bytes | None:
        """Return the code under a name, or None if there is none that is whole."""
        try:
            data = (self._folder / name).read_bytes()
        except OSError:
            return None
        digest, code = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        return code if hashlib.sha256(code).digest() == digest else None

    def write(self, name: str, code: bytes) -> None:
        """Keep code under a name; another process sees all of it or nothing."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            number, temporary = tempfile.mkstemp(dir=self._folder, prefix=".writing-")
            try:
                with os.fdopen(number, "wb") as file:
                    file.write(hashlib.sha256(code).digest() + code)
                Path(temporary).replace(self._folder / name)
            except BaseException:
                Path(temporary).unlink(missing_ok=True)
                raise
