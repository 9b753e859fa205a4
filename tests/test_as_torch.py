"""The package as `torch`: `retrograd run`, install_as_torch() and the shim, each in processes of their own."""

import json
import os
import pathlib
import subprocess
import sys
import venv

import pytest

import retrograd
from retrograd.cli import shim
from retrograd.torch_version import TorchVersion

SOURCE = os.path.dirname(os.path.dirname(retrograd.__file__))
ENVIRONMENT = {**os.environ, "PYTHONPATH": SOURCE}


def run(folder, text, *, python=sys.executable, launcher=("-m", "retrograd", "run"), environment=ENVIRONMENT):
    (folder / "program.py").write_text(text)
    command = [python, *launcher, "program.py"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def shimmed(tmp_path_factory):
    """The interpreter of an environment with nothing in it but the shim."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    python = str(folder / "bin" / "python")
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "retrograd.pth").write_text(SOURCE + "\n")
    assert shim.main(["install", "--python", python]) == 0
    return python, packages


# A way is the first line of a program, and how the program is started.
WAYS = {
    "run": ("", {}),
    "install": ("import retrograd\nretrograd.install_as_torch()\n", {"launcher": ()}),
    "install late": (
        "import retrograd, retrograd.nn.functional, retrograd.optim\nretrograd.max(retrograd.ones(2), 0)\nretrograd.install_as_torch()\n",
        {"launcher": ()},
    ),
    "shim": ("", {"launcher": ()}),
}


@pytest.fixture(params=WAYS)
def way(request, tmp_path):
    opening, options = WAYS[request.param]
    if request.param == "shim":
        python, _ = request.getfixturevalue("shimmed")
        options = {**options, "python": python, "environment": {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}}

    def go(text):
        return run(tmp_path, opening + text, **options)

    return go


def test_one_package_under_two_names(way):
    way(
        "import sys, importlib, torch, torch.nn.functional as F, torch.utils._pytree\n"
        "from torch.utils.data import DataLoader\nfrom torch import nn, optim\nimport retrograd, retrograd.nn.functional, retrograd.utils.data\n"
        "assert torch is retrograd and F is retrograd.nn.functional and DataLoader is retrograd.utils.data.DataLoader\n"
        "for name, module in list(sys.modules.items()):\n"
        "    if name == 'torch' or name.startswith('torch.'):\n"
        "        assert sys.modules['retrograd' + name[5:]] is module and module.__name__ == name == module.__spec__.name, name\n"
        "        assert module.__package__ == module.__spec__.parent, name\n"
        "assert importlib.reload(torch) is torch is importlib.reload(retrograd) and importlib.reload(nn) is torch.nn\n"
        "assert torch.__name__ == 'torch' and torch.torch is torch and repr(torch).startswith(\"<module 'torch' from\")\n"
    )


def test_names_say_torch(way):
    way(
        "import pickle, inspect, typing, torch, torch.nn as nn\n"
        "x = torch.ones(2, requires_grad=True)\n"
        "assert type(x).__module__ == torch.Tensor.__module__ == torch.Size.__module__ == torch.dtype.__module__ == torch.add.__module__ == 'torch'\n"
        "assert repr(nn.Linear) == \"<class 'torch.nn.modules.linear.Linear'>\" and repr(torch.Tensor) == \"<class 'torch.Tensor'>\"\n"
        "assert repr(torch.optim.Adam) == \"<class 'torch.optim.adam.Adam'>\" and torch.no_grad.__module__ == 'torch.autograd.grad_mode'\n"
        "assert torch.typename(nn.Linear(1, 1)) == 'torch.nn.modules.linear.Linear' and torch.typename(x) == 'torch.FloatTensor'\n"
        "assert type(torch.max(x, 0)).__module__ == 'torch.return_types' and type(torch.min(x, 0)).__module__ == 'torch.return_types'\n"
        "assert torch._foreach_add.__module__ == 'torch' and torch.linalg.eigh.__module__ == 'torch.linalg'\n"
        "for thing in (x, nn.Linear(2, 2), torch.max(x.detach(), 0), torch.float32, torch.Size([1]), torch.add, nn.functional.relu, torch.optim.SGD, "
        "torch.device('cpu'), torch.linalg.LinAlgError('a')):\n"
        "    data = pickle.dumps(thing)\n    assert b'retrograd' not in data, thing\n    assert type(pickle.loads(data)) is type(thing)\n"
        "assert inspect.getfile(nn.Module) == inspect.getmodule(nn.Module).__file__ and 'class Linear' in inspect.getsource(nn.Linear)\n"
        "assert 'training' in typing.get_type_hints(nn.Module)\n"
    )


@pytest.mark.parametrize("way", ["run", "shim"], indirect=True)
def test_checks_of_libraries_are_satisfied(way):
    way(
        "import importlib.metadata, importlib.util\n"
        "assert importlib.util.find_spec('torch').name == 'torch' and importlib.util.find_spec('torch.nn') and importlib.util.find_spec('torch.nope') is None\n"
        "assert importlib.metadata.version('torch') == '2.13.0' == importlib.metadata.metadata('torch')['Version']\n"
        "import torch\n"
        "assert torch.__version__ >= '2.9' and torch.__version__ >= (2, 9) and torch.__version__.startswith('2.13.0') and torch.__version__ < '2.14'\n"
        "assert torch.version.__version__ == torch.__version__ and torch.version.cuda is torch.version.hip is None and torch.version.debug is False\n"
        "assert isinstance(torch.version.git_version, str)\n"
        "assert importlib.util.find_spec('torch') is torch.__spec__ and importlib.util.find_spec('torch.nope') is None\n"
    )


@pytest.mark.parametrize("way", ["run"], indirect=True)
def test_modules_can_be_walked_and_their_examples_run(way):
    way(
        "import doctest, pkgutil, torch\n"
        "found = {m.name for m in pkgutil.walk_packages(torch.__path__, 'torch.', onerror=lambda name: 1 / 0)}\n"
        "assert {'torch.nn', 'torch.nn.modules.linear', 'torch.utils.data.dataloader', 'torch.optim.sgd'} <= found\n"
        "import torch.utils._pytree as tree\n"
        "result = doctest.testmod(tree)\nassert result.attempted and not result.failed\n"
    )


@pytest.mark.parametrize("way", ["run", "shim"], indirect=True)
def test_a_name_that_is_not_there_is_named_with_what_is_near(way):
    shown = way(
        "import torch, torch.nn as nn\n"
        "def say(f):\n    try:\n        f()\n    except (AttributeError, ImportError) as error:\n        print(type(error).__mro__[-4].__name__, error)\n"
        "say(lambda: torch.zerros)\nsay(lambda: nn.Conv9d)\nsay(lambda: torch.DataLoader)\nsay(lambda: torch.optim.sgd.SDG)\n"
        "def f():\n    from torch import onez\nsay(f)\n"
        "def f():\n    from torch.nn import Liner\nsay(f)\n"
        "def f():\n    import torch.nn.functionl\nsay(f)\n"
        "def f():\n    try:\n        from torch.linalg import eigg\n    except ImportError as error:\n        raise ImportError(str(error).replace(error.path, 'FILE'))\nsay(f)\n"
        "def names():\n    import pickle\n    try:\n        import torch.nope\n    except ModuleNotFoundError as error:\n        module = error.name\n"
        "    try:\n        from torch import nope\n    except ImportError as error:\n"
        "        return module, error.name, str(pickle.loads(pickle.dumps(error))) == str(error)\nprint(names())\n"
        # A module that is being imported is found, although its package does not have it yet.
        "import sys, types\nsys.modules['torch.half_there'] = types.SimpleNamespace(word='half')\nfrom torch import half_there\nprint(half_there.word)\n"
        "assert not hasattr(torch, 'nope') and not hasattr(nn, 'nope') and getattr(torch.nn.functional, 'nope', 3) == 3\n"
    ).splitlines()
    assert shown[0].startswith("AttributeError module 'torch' has no attribute 'zerros'. Near it: ") and "torch.zeros" in shown[0]
    assert "module 'torch.nn' has no attribute 'Conv9d'" in shown[1] and "torch.nn.Conv1d" in shown[1]
    assert "torch.utils.data.DataLoader" in shown[2]
    assert "torch.optim.sgd.SGD" in shown[3]
    assert shown[4].startswith("ImportError cannot import name 'onez' from 'torch' (") and "__init__.py). Near it: torch.ones" in shown[4]
    assert "cannot import name 'Liner' from 'torch.nn' (" in shown[5] and "Near it: torch.nn.Linear" in shown[5]
    assert shown[6] == "ImportError No module named 'torch.nn.functionl'. Near it: torch.nn.functional"
    assert shown[7] == "ImportError cannot import name 'eigg' from 'torch.linalg' (FILE). Near it: torch.linalg.eig, torch.linalg.eigh"
    assert shown[8] == "('torch.nope', 'torch', True)" and shown[9] == "half"


@pytest.mark.parametrize("way", ["run"], indirect=True)
def test_an_import_that_fails_leaves_nothing_half_done(way):
    way(
        "import sys, torch, pathlib\nhere = pathlib.Path('parts')\nhere.mkdir(exist_ok=True)\n"
        "torch.__path__.append(str(here))\n(here / 'broken_part.py').write_text('import torch\\n1 / 0\\n')\n"
        "for name in ('torch.broken_part', 'retrograd.broken_part') * 2:\n"
        "    try:\n        __import__(name)\n    except ZeroDivisionError:\n        pass\n    else:\n        raise SystemExit('imported')\n"
        "    assert not [m for m in sys.modules if 'broken_part' in m]\n"
    )


@pytest.mark.parametrize("way", ["run"], indirect=True)
def test_threads_meet_whole_modules(way):
    way(
        "import threading, torch\nfailures = []\nstart = threading.Barrier(2)\n"
        "def work(i):\n    start.wait()\n    try:\n"
        "        if i:\n            import torch.nn as nn\n        else:\n            nn = torch.nn\n        nn.Linear, nn.functional.relu\n"
        "    except Exception as error:\n        failures.append(error)\n"
        "threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]\n"
        "[t.start() for t in threads]\n[t.join() for t in threads]\nassert not failures, failures\n"
    )


@pytest.mark.parametrize("way", ["run", "install", "shim"], indirect=True)
def test_threads_that_import_under_both_names_do_not_wait_for_each_other(way):
    """One loads a package, slowly, and something new from it; the other, meanwhile, a module of the package by its other name."""
    way(
        "import faulthandler, pathlib, sys, threading, time, torch, importlib\nfaulthandler.dump_traceback_later(60, exit=True)\n"
        "here = pathlib.Path('parts')\ntorch.__path__.append(str(here))\n"
        "for first, second in (('retrograd', 'torch'), ('torch', 'retrograd'), ('torch', 'torch'), ('retrograd', 'retrograd')):\n"
        "    name = f'slow_{first}_{second}'\n    (here / name).mkdir(parents=True)\n"
        "    (here / name / '__init__.py').write_text(f'import time\\ntime.sleep(0.5)\\nimport torch.{name}.other\\n')\n"
        "    for part in ('other', 'inner'):\n        (here / name / f'{part}.py').write_text('word = __name__\\n')\n"
        "    importlib.invalidate_caches()\n    found = {}\n"
        "    def load(module):\n        found[module] = importlib.import_module(module)\n"
        "    threads = [threading.Thread(target=load, args=(module,)) for module in (f'{first}.{name}', f'{second}.{name}.inner')]\n"
        "    threads[0].start()\n    time.sleep(0.2)\n    threads[1].start()\n    [t.join() for t in threads]\n"
        "    assert len(found) == 2 and sys.modules[f'torch.{name}.inner'].word == f'torch.{name}.inner', (name, found)\n"
        "    assert sys.modules[f'torch.{name}'] is sys.modules[f'retrograd.{name}'] and sys.modules[f'torch.{name}'].other.word\n"
    )


WORKERS = """
import multiprocessing, subprocess, sys, torch

def work(x, q):
    import torch
    q.put((torch.__name__, type(x).__module__, (x * 2).tolist()))

if __name__ == "__main__":
    for method in ("spawn", "forkserver", "fork"):
        context = multiprocessing.get_context(method)
        q = context.Queue()
        process = context.Process(target=work, args=(torch.ones(2), q))
        process.start()
        assert q.get(timeout=60) == ("torch", "torch", [2.0, 2.0])
        process.join()
    child = subprocess.run([sys.executable, "-c", "import torch, retrograd; print(torch is retrograd)"], capture_output=True, text=True)
    assert child.stdout == "True\\n", child.stderr
"""


def test_processes_that_a_program_starts(tmp_path, shimmed):
    run(tmp_path, WORKERS)
    run(tmp_path, WORKERS, python=shimmed[0], launcher=(), environment={k: v for k, v in os.environ.items() if k != "PYTHONPATH"})


def test_pickles_pass_between_the_names(tmp_path):
    run(tmp_path, "import pickle, torch\npickle.dump([torch.ones(2), torch.nn.Linear(1, 1)], open('theirs', 'wb'))\n")
    run(
        tmp_path,
        "import pickle, retrograd\npickle.dump([retrograd.ones(2), retrograd.nn.Linear(1, 1)], open('ours', 'wb'))\nretrograd.install_as_torch()\n"
        "a, b = pickle.load(open('theirs', 'rb')), pickle.load(open('ours', 'rb'))\nassert list(map(type, a)) == list(map(type, b))\n",
        launcher=(),
    )


def test_pytorch_that_is_imported_stays(tmp_path):
    (tmp_path / "torch.py").write_text("")
    run(
        tmp_path,
        "import torch, retrograd\ntry:\n    retrograd.install_as_torch()\nexcept RuntimeError as error:\n    assert 'PyTorch is imported already' in str(error)\n"
        "else:\n    raise SystemExit(1)\nassert retrograd.Tensor.__module__ == 'retrograd' and 'retrograd.nn' not in str(torch)\n",
        launcher=(),
    )


# -- the shim ----------------------------------------------------------------------


def test_pytest_runs_with_the_shim(tmp_path, shimmed):
    python, _ = shimmed
    places = {
        os.path.dirname(os.path.dirname(sys.modules[name].__file__))
        for name in ("pytest", "pluggy", "iniconfig", "packaging", "_pytest")
        if name in sys.modules
    }
    libraries = tmp_path / "libraries"
    libraries.mkdir()
    for place in places:
        for name in ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py.py"):
            if (pathlib.Path(place) / name).exists() and not (libraries / name).exists():
                (libraries / name).symlink_to(pathlib.Path(place) / name)
    (tmp_path / "test_theirs.py").write_text(
        "import pytest\ntorch = pytest.importorskip('torch', minversion='2.0')\n"
        "@pytest.mark.parametrize('n', [1, 2])\ndef test_sum(n):\n    assert torch.ones(n).sum() == n and torch.__name__ == 'torch'\n"
    )
    environment = {**{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}, "PYTHONPATH": str(libraries)}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_theirs.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def contents(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_install_status_remove(tmp_path, capsys):
    target = ["--target", str(tmp_path)]
    (tmp_path / "numpy").mkdir()
    before = contents(tmp_path)
    assert shim.main(["status", *target]) == 1 and "neither PyTorch nor the shim" in capsys.readouterr().out
    assert shim.main(["remove", *target]) == 1 and "there is no shim" in capsys.readouterr().err
    assert shim.main(["install", *target]) == 0 and shim.main(["install", *target]) == 0  # a second time renews it
    assert shim.main(["status", f"--target={tmp_path}"]) == 0 and "is installed" in capsys.readouterr().out
    names = [line.split(",")[0] for line in (tmp_path / "torch-2.13.0.dist-info" / "RECORD").read_text().splitlines()]
    assert sorted(names) == [name for name in contents(tmp_path) if (tmp_path / name).is_file()]
    environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join((str(tmp_path), SOURCE))}
    subprocess.run([sys.executable, "-c", "import torch; torch.ones(1)"], env=environment, check=True)  # leaves a __pycache__
    assert shim.main(["remove", *target]) == 0
    assert contents(tmp_path) == before


def test_a_real_pytorch_is_not_covered(tmp_path, capsys):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("__version__ = '2.13.0'\n")
    before = contents(tmp_path)
    assert shim.main(["install", "--target", str(tmp_path)]) == 1
    assert "PyTorch is installed" in capsys.readouterr().err and contents(tmp_path) == before
    assert shim.main(["status", "--target", str(tmp_path)]) == 1 and "PyTorch is installed, not the shim" in capsys.readouterr().out
    assert shim.main(["remove", "--target", str(tmp_path)]) == 1 and contents(tmp_path) == before


def test_files_of_others_stay(tmp_path, capsys):
    shim.main(["install", "--target", str(tmp_path)])
    (tmp_path / "torch" / "notes.txt").write_text("mine")
    assert shim.main(["remove", "--target", str(tmp_path)]) == 0 and "holds files of others" in capsys.readouterr().out
    assert contents(tmp_path) == ["torch", "torch/notes.txt"]
    assert shim.main(["install", "--target", str(tmp_path)]) == 1 and contents(tmp_path) == ["torch", "torch/notes.txt"]


@pytest.mark.parametrize(
    "arguments", [["destroy"], ["install", "--python"], ["install", "--where", "x"], ["install", "--target", "a", "b"], ["status", "x"]]
)
def test_arguments_that_cannot_be_read(arguments, capsys):
    assert shim.main(arguments) == 2 and "cannot read" in capsys.readouterr().err


@pytest.mark.parametrize("python", ["/no/such/python", "/bin/false"])
def test_an_interpreter_that_is_none(python, capsys):
    assert shim.main(["install", "--python", python]) == 1 and python in capsys.readouterr().err


def test_pip_takes_it_away(tmp_path, shimmed):
    pytest.importorskip("pip")
    folder = tmp_path / "environment"
    venv.create(folder, with_pip=False, symlinks=True)
    python = str(folder / "bin" / "python")
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "retrograd.pth").write_text(SOURCE + "\n")
    before = contents(packages)
    assert shim.main(["install", "--python", python]) == 0
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    subprocess.run([python, "-c", "import torch"], env=environment, check=True)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python]
    listed = subprocess.run([*pip, "list", "--format", "json"], env=environment, capture_output=True, text=True, timeout=120, check=True)
    assert {"name": "torch", "version": "2.13.0"} in json.loads(listed.stdout)
    subprocess.run([*pip, "check"], env=environment, timeout=120, check=True)
    subprocess.run([*pip, "uninstall", "-y", "torch"], env=environment, timeout=120, check=True)
    assert contents(packages) == before


# -- versions ------------------------------------------------------------------------


def test_versions_compare_as_versions():
    v = TorchVersion("2.13.0+cpu")
    assert (
        v > "2.9" and v >= "2.13.0a0" and v > "2.13.0" and v < "2.13.1.dev20" and v > "2.13.0.dev20260101" and v > "2.0" and not v < "2.0"
    )
    assert (
        v > (2, 12)
        and v > (2, 13)
        and v > ("2", "12")
        and v > [2, 1]
        and v != "2.13.0"
        and v == "2.13+cpu"
        and v == TorchVersion("2.13.0+cpu")
    )
    assert TorchVersion("1.2rc1") < "1.2" and TorchVersion("1.2.post1") > "1.2" and TorchVersion("1.2a1") > TorchVersion("1.2.dev3")
    assert not v > "abc" and v != None and hash(v) == hash("2.13.0+cpu") and type(v[:4]) is str  # noqa: E711
    for other in (2, 2.1, None):
        with pytest.raises(TypeError, match="not supported between instances of 'TorchVersion'"):
            v > other  # noqa: B015
