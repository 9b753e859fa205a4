"""Settings of save() and load(), in `config`."""

from retrograd.utils.serialization import config as config
