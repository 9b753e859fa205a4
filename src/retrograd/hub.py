"""Models from folders and from GitHub: a module `hubconf` in them says how they are made."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from urllib.parse import urlparse
from urllib.request import Request, urlopen

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")  # model-<hash>.pt
MODULE_HUBCONF = "hubconf.py"
READ_DATA_CHUNK = 128 * 1024
_hub_dir: str | None = None


def get_dir() -> str:
    """Where downloads are kept: $TORCH_HOME/hub, else ~/.cache/torch/hub."""
    if _hub_dir is not None:
        return _hub_dir
    cache = os.getenv("XDG_CACHE_HOME", "~/.cache")
    return os.path.join(os.path.expanduser(os.getenv("TORCH_HOME", os.path.join(cache, "torch"))), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Keeps downloads elsewhere."""
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


# -- repositories -------------------------------------------------------------------


@contextlib.contextmanager
def _on_path(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _hubconf(folder: str) -> ModuleType:
    file = os.path.join(folder, MODULE_HUBCONF)
    if not os.path.exists(file):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), file)
    spec = importlib.util.spec_from_file_location(MODULE_HUBCONF, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with _on_path(folder):
        spec.loader.exec_module(module)
    return module


def _folder(repo: str | os.PathLike[str], source: str, force_reload: bool, trust_repo: Any, verbose: bool) -> str:
    source = source.lower()
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    return os.fspath(repo) if source == "local" else _downloaded(os.fspath(repo), force_reload, trust_repo, verbose)


def _downloaded(repo: str, force_reload: bool, trust_repo: Any, verbose: bool) -> str:
    """The folder of a GitHub repository, "owner/name[:ref]", which is fetched unless it is there."""
    found = re.fullmatch(r"([\w.-]+)/([\w.-]+)(?::(.+))?", repo)
    if found is None:
        raise ValueError(f"not a repository: {repo!r}. Expected 'owner/name' or 'owner/name:ref'")
    owner, name, ref = found[1], found[2], found[3] or "main"
    folder = os.path.join(get_dir(), f"{owner}_{name}_{ref.replace('/', '_')}")
    if os.path.exists(folder) and not force_reload:
        if verbose:
            sys.stderr.write(f"Using cache found in {folder}\n")
        return folder
    if trust_repo in (False, "check") and sys.stdin.isatty():
        answer = input(f"The repository {owner}/{name} does not belong to the list of trusted repositories. Run code of it (y/N)? ")
        if answer.strip().lower() not in ("y", "yes"):
            raise RuntimeError("Untrusted repository.")
    os.makedirs(get_dir(), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=get_dir()) as temporary:
        archive = os.path.join(temporary, "repository.zip")
        download_url_to_file(f"https://github.com/{owner}/{name}/zipball/{ref}", archive, progress=verbose)
        with zipfile.ZipFile(archive) as files:
            files.extractall(os.path.join(temporary, "files"))
        (inside,) = os.listdir(os.path.join(temporary, "files"))
        if os.path.exists(folder):
            shutil.rmtree(folder)
        shutil.move(os.path.join(temporary, "files", inside), folder)
    return folder


def _entry(module: ModuleType, model: str) -> Callable[..., Any]:
    if not isinstance(model, str):
        raise ValueError("Invalid input: model should be a string of function name")
    missing = [name for name in getattr(module, "dependencies", []) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    entry = getattr(module, model, None)
    if not callable(entry):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return entry


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: Any = None,
    verbose: bool = True,
    source: str = "github",
) -> Any:
    """The names of models of a repository."""
    module = _hubconf(_folder(github, source, force_reload, trust_repo, verbose))
    return [name for name in dir(module) if callable(getattr(module, name)) and not name.startswith("_")]


def help(
    github: str, model: str, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = None, source: str = "github"
) -> str | None:
    """What a repository says of a model."""
    return _entry(_hubconf(_folder(github, source, force_reload, trust_repo, True)), model).__doc__


def load(
    repo_or_dir: str | os.PathLike[str],
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """A model of a repository, or of a folder with source="local": what its hubconf makes of the arguments."""
    folder = _folder(repo_or_dir, source, force_reload, trust_repo, verbose)
    with _on_path(folder):
        return _entry(_hubconf(folder), model)(*args, **kwargs)


# -- files ----------------------------------------------------------------------------


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> None:
    """Fetches a file, and checks that the SHA-256 of its content begins as it should."""
    dst = os.path.expanduser(dst)
    digest = hashlib.sha256()
    with urlopen(Request(url, headers={"User-Agent": "torch.hub"})) as answer:
        partial = tempfile.NamedTemporaryFile(dir=os.path.dirname(dst) or ".", delete=False)  # noqa: SIM115 - it outlives the block that writes it
        try:
            with partial:
                while data := answer.read(READ_DATA_CHUNK):
                    partial.write(data)
                    digest.update(data)
            if hash_prefix is not None and not digest.hexdigest().startswith(hash_prefix):
                raise RuntimeError(f'invalid hash value (expected "{hash_prefix}", got "{digest.hexdigest()}")')
            shutil.move(partial.name, dst)
        finally:
            if os.path.exists(partial.name):
                os.remove(partial.name)


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> dict[str, Any]:
    """What a file at a URL holds; the file is kept in `model_dir`, else in $TORCH_HOME/hub/checkpoints."""
    from retrograd.serialization import load as load_file

    model_dir = os.path.join(get_dir(), "checkpoints") if model_dir is None else model_dir
    os.makedirs(model_dir, exist_ok=True)
    name = file_name or os.path.basename(urlparse(url).path)
    file = os.path.join(model_dir, name)
    if not os.path.exists(file):
        sys.stderr.write(f'Downloading: "{url}" to {file}\n')
        found = HASH_REGEX.search(name) if check_hash else None
        download_url_to_file(url, file, found[1] if found else None, progress)
    return load_file(file, map_location=map_location, weights_only=weights_only)
