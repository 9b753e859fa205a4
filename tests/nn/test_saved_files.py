"""Files on a disk: written whole or not at all, read whole or not at all, and the settings around both."""

import collections
import importlib
import io
import mmap
import os
import pathlib
import pickle
import random
import stat
import subprocess
import sys
import threading
import warnings
import zipfile

import pytest

import retrograd
from retrograd import _archives, serialization
from retrograd.utils.serialization import config
from tests.nn.training_runs import OPTIMIZERS, SCHEDULERS, optimizer_run, schedule, scheduler_run, train

FILES = pathlib.Path(__file__).with_name("files")
formats = pytest.mark.parametrize("new", [True, False], ids=["zip", "legacy"])


def saved(value, **options):
    file = io.BytesIO()
    retrograd.save(value, file, **options)
    file.seek(0)
    return file


def changed(file, change):
    """The archive with members changed: change(name, data) -> data, or None to leave the member out."""
    out = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = change(name.partition("/")[2], old.read(name))
            if data is not None:
                new.writestr(name, data)
    out.seek(0)
    return out


# -- files that PyTorch wrote -----------------------------------------------------------


@pytest.mark.parametrize("name", ["kinds.pt", "kinds_legacy.pt"])
@pytest.mark.parametrize("weights_only", [True, False])
def test_stored_kinds(name, weights_only):
    loaded = retrograd.load(FILES / name, weights_only=weights_only)
    assert loaded["sparse"].layout is retrograd.sparse_coo and loaded["sparse"].is_coalesced()
    assert loaded["compressed"].layout is retrograd.sparse_csr and retrograd.equal(loaded["compressed"].to_dense(), retrograd.eye(3))
    assert loaded["conjugate"].is_conj() and loaded["conjugate"].tolist() == [1 - 2j]
    assert loaded["negative"].is_neg() and loaded["negative"].tolist() == [-2.0]
    assert loaded["meta"].is_meta and loaded["meta"].shape == (3,)
    loaded["storage"][1] = 7.0
    assert loaded["base"].tolist() == [0.0, 7.0, 2.0, 3.0, 4.0, 5.0]
    assert [t.dtype for t in loaded["unsigned"]] == [retrograd.uint16, retrograd.uint32, retrograd.uint64]
    assert [t.tolist() for t in loaded["unsigned"]] == [[1, 40000]] * 3
    assert [t.dtype for t in loaded["eighths"]] == [retrograd.float8_e4m3fn, retrograd.float8_e5m2]
    assert [t.float().tolist() for t in loaded["eighths"]] == [[0.5, 2.0]] * 2
    generator = retrograd.Generator()
    generator.set_state(loaded["generator"])
    assert generator.initial_seed() == 3
    assert loaded["layouts"] == [retrograd.strided, retrograd.sparse_coo] and loaded["buffer"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_training_that_pytorch_began(kind):
    model_state, state, end = retrograd.load(FILES / "training.pt")["optimizers"][kind]
    model, optimizer = optimizer_run(retrograd, kind)
    model.load_state_dict(model_state)
    optimizer.load_state_dict(state)
    train(retrograd, model, optimizer, 3)
    for name, value in model.state_dict().items():
        assert value.flatten().tolist() == pytest.approx(end[name].flatten().tolist(), rel=1e-7)


@pytest.mark.parametrize("kind", SCHEDULERS)
def test_schedules_that_pytorch_began(kind):
    state, scheduler_state, rest = retrograd.load(FILES / "training.pt")["schedulers"][kind]
    optimizer, scheduler = scheduler_run(retrograd, kind)
    optimizer.load_state_dict(state)
    scheduler.load_state_dict(scheduler_state)
    assert schedule(optimizer, scheduler, 6) == rest


def test_files_without_checksums(tmp_path):
    assert retrograd.load(FILES / "no_checksums.pt")["a"].tolist() == [0, 1, 2]
    with config.patch("save.compute_crc32", False):
        assert not serialization.get_crc32_options()
        file = saved({"a": retrograd.arange(3)})
    assert serialization.get_crc32_options()
    assert {info.CRC for info in zipfile.ZipFile(file).infolist()} == {0}
    file.seek(0)
    assert retrograd.load(file)["a"].tolist() == [0, 1, 2]


# -- exchange ---------------------------------------------------------------------------

directions = pytest.mark.parametrize(("writer", "reader"), [("retrograd", "torch"), ("torch", "retrograd")])


@pytest.mark.needs_torch
@directions
@pytest.mark.parametrize("kind", OPTIMIZERS)
def test_training_goes_on_in_the_other_library(writer, reader, kind):
    writer, reader = importlib.import_module(writer), importlib.import_module(reader)
    model, optimizer = optimizer_run(writer, kind)
    train(writer, model, optimizer, 3)
    file = io.BytesIO()
    writer.save([model.state_dict(), optimizer.state_dict()], file)
    file.seek(0)
    model_state, state = reader.load(file)
    train(writer, model, optimizer, 3)
    other, other_optimizer = optimizer_run(reader, kind)
    other.load_state_dict(model_state)
    other_optimizer.load_state_dict(state)
    train(reader, other, other_optimizer, 3)
    for ours, theirs in zip(model.state_dict().values(), other.state_dict().values(), strict=True):
        assert ours.flatten().tolist() == pytest.approx(theirs.flatten().tolist(), rel=1e-7)
    groups, others = optimizer.state_dict()["param_groups"], other_optimizer.state_dict()["param_groups"]
    assert [list(group.items()) for group in groups] == [list(group.items()) for group in others]
    names = lambda o: {index: sorted(values) for index, values in o.state_dict()["state"].items()}
    assert names(optimizer) == names(other_optimizer)


@pytest.mark.needs_torch
@directions
@pytest.mark.parametrize("kind", SCHEDULERS)
def test_schedules_go_on_in_the_other_library(writer, reader, kind):
    writer, reader = importlib.import_module(writer), importlib.import_module(reader)
    optimizer, scheduler = scheduler_run(writer, kind)
    schedule(optimizer, scheduler, 3)
    file = io.BytesIO()
    writer.save([optimizer.state_dict(), scheduler.state_dict()], file)
    file.seek(0)
    state, scheduler_state = reader.load(file)
    other, other_scheduler = scheduler_run(reader, kind)
    other.load_state_dict(state)
    other_scheduler.load_state_dict(scheduler_state)
    assert schedule(optimizer, scheduler, 6) == schedule(other, other_scheduler, 6)


@pytest.mark.needs_torch
@formats
def test_pytorch_reads_every_kind(oracle, new):
    """What PyTorch stored, read by us and written again, read by PyTorch."""
    again = saved(retrograd.load(FILES / "kinds.pt"), _use_new_zipfile_serialization=new)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of storages that are typed
        loaded, wanted = oracle.load(again), oracle.load(FILES / "kinds.pt")
        assert list(loaded) == list(wanted)
        for name, value in loaded.items():
            assert repr(value) == repr(wanted[name])
        loaded["storage"][1] = 7.0
    assert loaded["base"].tolist()[1] == 7.0


# -- writing is atomic --------------------------------------------------------------------


@formats
def test_a_full_disk_leaves_the_old_file(new, tmp_path):
    """The limit of the size of files stands for the end of the disk."""
    path = tmp_path / "a.pt"
    retrograd.save({"old": 1}, path)
    program = (
        "import resource, signal, retrograd\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))\n"
        f"retrograd.save(retrograd.ones(100000), {str(path)!r}, _use_new_zipfile_serialization={new})\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 1 and "OSError: [Errno 27] File too large" in result.stderr
    assert retrograd.load(path) == {"old": 1} and os.listdir(tmp_path) == ["a.pt"]


def test_a_crash_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.pt"
    retrograd.save({"old": 1}, path)
    program = (
        "import os, retrograd\n"
        "from retrograd import _archives\n"
        "add = _archives.Writer.add\n"
        "_archives.Writer.add = lambda self, name, *rest: os._exit(9) if name == 'data/1' else add(self, name, *rest)\n"
        f"retrograd.save([retrograd.ones(3), retrograd.ones(3)], {str(path)!r})\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 9
    assert retrograd.load(path) == {"old": 1}


def test_an_interrupt_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.pt"
    retrograd.save({"old": 1}, path)

    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(_archives.Writer, "finish", interrupt)
    with pytest.raises(KeyboardInterrupt):
        retrograd.save({"new": retrograd.ones(3)}, path)
    monkeypatch.undo()
    assert retrograd.load(path) == {"old": 1} and os.listdir(tmp_path) == ["a.pt"]


def test_permissions_and_links(tmp_path):
    path, link = tmp_path / "a.pt", tmp_path / "latest.pt"
    mask = os.umask(0o027)
    try:
        retrograd.save(1, path)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    link.symlink_to(path)
    retrograd.save(2, link)
    assert link.is_symlink() and retrograd.load(path) == 2 and stat.S_IMODE(path.stat().st_mode) == 0o604
    retrograd.save(3, tmp_path / ("x" * 250 + ".pt"))  # as long as names may be: the name of the file beside it is shorter
    with pytest.raises(IsADirectoryError):
        retrograd.save(1, tmp_path)


def test_devices_and_pipes_are_written_to(tmp_path):
    retrograd.save(1, os.devnull)
    assert not stat.S_ISREG(os.stat(os.devnull).st_mode)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_bytes()))
    reader.start()
    retrograd.save([1, 2], pipe)
    reader.join(10)
    assert retrograd.load(io.BytesIO(seen[0])) == [1, 2]


def test_files_and_folders_that_may_not_be_written():
    """In a process that is not root's, which may write to everything."""
    program = """
import io, os, sys, tempfile, retrograd
retrograd.save(1, io.BytesIO())  # everything is imported before it is another user
with tempfile.TemporaryDirectory(dir="/tmp") as folder:
    os.chmod(folder, 0o755)
    open_file, closed_file, new_file = (os.path.join(folder, name) for name in ("open.pt", "closed.pt", "new.pt"))
    for path, mode in ((open_file, 0o666), (closed_file, 0o444)):
        retrograd.save(1, path)
        os.chmod(path, mode)
    if os.fork() == 0:
        if os.geteuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        else:
            os.chmod(folder, 0o555)
        retrograd.save(2, open_file)
        for path in (closed_file, new_file):
            try:
                retrograd.save(2, path)
            except PermissionError as error:
                print(os.path.basename(error.filename))
        print(sorted(os.listdir(folder)), flush=True)
        os._exit(0)
    os.wait()
    os.chmod(folder, 0o755)
    print(retrograd.load(open_file), retrograd.load(closed_file))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd="/")
    assert result.stdout == "closed.pt\nnew.pt\n['closed.pt', 'open.pt']\n2 1\n", result.stderr


def test_saving_over_what_is_mapped(tmp_path):
    path = tmp_path / "a.pt"
    retrograd.save(retrograd.arange(5000.0), path)
    mapped = retrograd.load(path, mmap=True)
    retrograd.save(mapped + 1, path)
    assert mapped[:3].tolist() == [0.0, 1.0, 2.0] and retrograd.load(path)[:3].tolist() == [1.0, 2.0, 3.0]


def test_files_that_take_a_part_at_a_time(tmp_path):
    class Slow(io.RawIOBase):
        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data[:100])
            return min(len(data), 100)

    class SlowReader(io.BytesIO):
        def readinto(self, target):
            return super().readinto(memoryview(target)[:50])

    for new in (True, False):
        slow = Slow()
        retrograd.save(retrograd.arange(1000), slow, _use_new_zipfile_serialization=new)
        assert retrograd.load(SlowReader(slow.data)).sum() == 499500


def test_archives_behind_other_data():
    file = io.BytesIO(b"header")
    file.seek(6)
    retrograd.save(retrograd.arange(3), file)
    file.seek(6)
    assert retrograd.load(file).tolist() == [0, 1, 2]
    legacy = io.BytesIO()
    for value in (1, retrograd.arange(3), "x"):
        retrograd.save(value, legacy, _use_new_zipfile_serialization=False)
    legacy.seek(0)
    assert [retrograd.load(legacy) for _ in range(3)][::2] == [1, "x"]


@pytest.mark.needs_torch
def test_large_archives(oracle, monkeypatch, tmp_path):
    """Sizes, offsets and counts that do not fit: with the limits lowered, as nobody waits for 4 GB."""
    monkeypatch.setattr(_archives, "_LIMIT", 0x300)
    monkeypatch.setattr(_archives, "_MANY", 5)
    pack, ones = _archives.struct.pack, {("I", 0x300): 0xFFFFFFFF, ("H", 5): 0xFFFF}

    class Struct:  # what stands in the short fields has to be all ones, whatever the limit
        unpack, unpack_from = _archives.struct.unpack, _archives.struct.unpack_from

        @staticmethod
        def pack(form, *values):
            return pack(form, *(ones.get((kind, v), v) for kind, v in zip(form.replace("2s", "s")[1:], values, strict=True)))

    monkeypatch.setattr(_archives, "struct", Struct)
    value = {"a": retrograd.arange(500.0), "b": retrograd.arange(3)}
    path = tmp_path / "large.pt"
    retrograd.save(value, path)
    monkeypatch.undo()
    assert b"PK\6\6" in path.read_bytes()
    for library in (retrograd, oracle):
        loaded = library.load(path)
        assert loaded["a"].sum() == 124750.0 and loaded["b"].tolist() == [0, 1, 2]
    assert retrograd.load(path, mmap=True)["a"].sum() == 124750.0


# -- damage -----------------------------------------------------------------------------------


def everything():
    retrograd.manual_seed(0)
    model = retrograd.nn.Linear(3, 2)
    optimizer = retrograd.optim.Adam(model.parameters())
    model(retrograd.ones(1, 3)).sum().backward()
    optimizer.step()
    base = retrograd.arange(20.0)
    return collections.OrderedDict(
        base=base, view=base[2:6], model=model.state_dict(), optimizer=optimizer.state_dict(), conjugate=retrograd.tensor([1 + 2j]).conj(),
        sparse=retrograd.eye(3).to_sparse(), compressed=retrograd.eye(3).to_sparse_csr(), meta=retrograd.empty(3, device="meta"),
        parameter=retrograd.nn.Parameter(retrograd.ones(2)), plain=[retrograd.float16, retrograd.Size([1]), "x", 1.5, {1}, b"ab"],
    )  # fmt: skip


@formats
@pytest.mark.parametrize("weights_only", [True, False])
def test_altered_files_at_random(new, weights_only, tmp_path):
    """Never another exception, never other numbers from a zip file: the old format has no checksums."""
    data = saved(everything(), _use_new_zipfile_serialization=new).getvalue()
    whole = repr(retrograd.load(io.BytesIO(data)))
    rng, path, outcomes = random.Random(7), tmp_path / "a.pt", collections.Counter()
    for i in range(int(os.environ.get("RETROGRAD_FUZZ", "400"))):
        altered = bytearray(data)
        if i % 5 == 0:
            del altered[rng.randrange(len(data)) :]
        elif i % 5 == 1:
            del altered[(start := rng.randrange(len(data))) : start + rng.randrange(1, 50)]
        else:
            for _ in range(rng.choice([1, 1, 2, 8])):
                altered[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        try:
            if new and i % 7 == 0:
                path.write_bytes(altered)
                loaded = retrograd.load(path, mmap=True, weights_only=weights_only)
            else:
                loaded = retrograd.load(io.BytesIO(altered), weights_only=weights_only)
                assert not new or repr(loaded) == whole
            outcomes["loaded"] += 1
        except (serialization.CorruptFileError, pickle.UnpicklingError) as error:
            outcomes["refused" if len(str(error)) > 20 else "without words"] += 1
        except RuntimeError as error:
            hit = ("don't know how to restore data location", "mmap can only be used with files")  # the name of the device, the first bytes
            outcomes["hit" if str(error).startswith(hit) else str(error)] += 1
    assert {*outcomes} <= {"loaded", "refused", "hit"}
    assert outcomes["refused"] > 100


def test_altered_pickles():
    """Pickles that make no sense inside archives that are whole: what rebuilds tensors gets anything at all."""
    with zipfile.ZipFile(saved(everything())) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    pieces = [b"\x8a\x08" + b"\xff" * 7 + b"\x7f", b"J\xff\xff\xff\xff", b"N", b")", b"]", b"}", b"R", b"b", b"Q", b"\x81", b"M\xff\xff"]
    rng, outcomes = random.Random(3), collections.Counter()
    for _ in range(int(os.environ.get("RETROGRAD_FUZZ", "400"))):
        data = bytearray(members["archive/data.pkl"])
        for _ in range(rng.choice([1, 1, 2, 4])):
            kind, at = rng.randrange(4), rng.randrange(len(data))
            if kind == 0:
                data[at] = rng.randrange(256)
            elif kind == 1:
                del data[at : at + rng.randrange(1, 8)]
            elif kind == 2:
                data[at:at] = data[(start := rng.randrange(len(data))) : start + rng.randrange(1, 30)]
            else:
                data[at:at] = rng.choice(pieces)
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, value in members.items():
                archive.writestr(name, bytes(data) if name == "archive/data.pkl" else value)
        file.seek(0)
        try:
            repr(retrograd.load(file))
            outcomes["loaded"] += 1
        except (serialization.CorruptFileError, pickle.UnpicklingError):
            outcomes["refused"] += 1
        except RuntimeError as error:
            outcomes["hit" if "restore data location" in str(error) else str(error)] += 1
    assert {*outcomes} <= {"loaded", "refused", "hit"} and outcomes["refused"] > 100


def test_what_is_no_damage():
    """Errors that have other causes say so."""
    file = saved({"w": retrograd.ones(2)})
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device") as caught:
        retrograd.load(file, map_location="cuda")
    assert not isinstance(caught.value, serialization.CorruptFileError)
    with pytest.raises(ZeroDivisionError):
        retrograd.load(saved({"w": retrograd.ones(2)}), map_location=lambda storage, location: 1 / 0)
    with pytest.raises(TypeError, match=r"load\(\) got an unexpected keyword argument 'foo'"):
        retrograd.load(saved(1), foo=1)
    with pytest.raises(pickle.UnpicklingError, match=r"refers to torch\.nothing\.Here, which retrograd does not have") as caught:
        retrograd.load(
            changed(saved(1), lambda name, data: b"\x80\x02ctorch.nothing\nHere\n." if name == "data.pkl" else data), weights_only=False
        )
    assert not isinstance(caught.value, serialization.CorruptFileError)


def test_files_that_are_something_else(tmp_path):
    import tarfile

    path = tmp_path / "old.tar"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
        archive.add(__file__)
    with pytest.raises(RuntimeError, match="tar archive"):
        retrograd.load(path)
    script = changed(saved(1), lambda name, data: data)
    with zipfile.ZipFile(script, "a") as archive:
        archive.writestr("archive/constants.pkl", b"")
    script.seek(0)
    with pytest.raises(RuntimeError, match="TorchScript"):
        retrograd.load(script)


def test_sizes_that_cannot_be():
    """A storage that claims to be larger than the file is refused before memory is made for it."""
    for new in (True, False):
        data = saved(retrograd.zeros(3), _use_new_zipfile_serialization=new).getvalue()
        if new:
            huge = changed(io.BytesIO(data), lambda name, d: d.replace(b"K\x03tq", b"\x8a\x06\x00\x00\x00\x00\x00\x10tq"))
        else:
            huge = io.BytesIO(data.replace(b"K\x03N", b"\x8a\x06\x00\x00\x00\x00\x00\x10N"))
        assert huge.getvalue() != data
        with pytest.raises(serialization.CorruptFileError, match=r"bytes, \d+ are expected|ends in the middle|wrong byte size"):
            retrograd.load(huge)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_archives_that_were_packed_again(compression, tmp_path):
    path = tmp_path / "again.pt"
    file = saved({"a": retrograd.arange(1000), "b": retrograd.tensor(1.0, dtype=retrograd.float64)})
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(path, "w", compression) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    for options in ({}, {"mmap": True}):
        loaded = retrograd.load(path, **options)
        assert loaded["a"].sum() == 499500 and loaded["b"] == 1.0


# -- settings ----------------------------------------------------------------------------------


def test_packages():
    log = []

    def tag(storage):
        log.append(("tag", type(storage).__name__))
        return "mine" if storage.nbytes() == 12 else None

    def place(storage, location):
        log.append(("place", type(storage).__name__, location))
        return storage.clone() if location == "mine" else None

    registry = list(serialization._package_registry)
    try:
        serialization.register_package(5, tag, place)
        file = saved({"a": retrograd.ones(3), "b": retrograd.ones(4)})
        assert serialization.location_tag(retrograd.ones(3).untyped_storage()) == "mine"
        log.clear()
        assert retrograd.load(file)["a"].tolist() == [1.0] * 3
        assert log == [("place", "UntypedStorage", "mine"), ("place", "UntypedStorage", "cpu")]
        file.seek(0)
        assert retrograd.load(file, map_location={"mine": "meta"})["a"].is_meta
    finally:
        serialization._package_registry[:] = registry
    file.seek(0)
    with pytest.raises(RuntimeError, match=r"don't know how to restore data location of torch.storage.UntypedStorage \(tagged with mine\)"):
        retrograd.load(file)
    file.seek(0)
    assert retrograd.load(file, map_location="cpu")["b"].tolist() == [1.0] * 4
    with pytest.raises(TypeError, match="priority"):
        serialization.register_package("first", tag, place)
    with pytest.raises(TypeError, match="must be functions"):
        serialization.register_package(1, None, place)


def test_places(torch):
    serialization, storage = torch.serialization, torch.arange(3.0).untyped_storage()
    assert serialization.location_tag(storage) == "cpu" and serialization.default_restore_location(storage, "cpu") is storage
    assert serialization.default_restore_location(storage, "meta").device.type == "meta"
    assert serialization.location_tag(torch.empty(3, device="meta").untyped_storage()) == "meta"
    with pytest.raises(RuntimeError, match=r"Attempting to deserialize object on a CUDA device but torch.cuda.is_available\(\) is False"):
        serialization.validate_cuda_device("cuda:0")
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        serialization.validate_cuda_device("cpu")
    with pytest.raises(RuntimeError, match="The HPU device module is not registered"):
        serialization.validate_hpu_device("hpu")
    with pytest.raises(
        RuntimeError, match=r"don't know how to restore data location of torch.storage.UntypedStorage \(tagged with nowhere\)"
    ):
        serialization.default_restore_location(storage, "nowhere")


def load_with(torch, where, new=True):
    file = io.BytesIO()
    torch.save({"w": torch.arange(3.0)}, file, _use_new_zipfile_serialization=new)
    file.seek(0)
    return torch.load(file, map_location=where)["w"]


def test_places_that_are_refused(torch):
    for where in (3, [], object()):
        with pytest.raises(TypeError, match="not callable"):
            load_with(torch, where)
    with pytest.raises(TypeError, match="must be UntypedStorage, but got <class 'int'>"):
        load_with(torch, lambda storage, location: 3)
    with pytest.raises(RuntimeError, match="tagged with weird"):
        load_with(torch, "weird")
    with pytest.raises(RuntimeError, match="returned a storage of 3 bytes for one of 12"):
        load_with(retrograd, lambda storage, location: retrograd.UntypedStorage(3))


@formats
def test_functions_see_the_bytes(new):
    seen = []
    load_with(retrograd, lambda storage, location: seen.append((storage.tolist()[4:8], location)), new)
    assert seen == [([0, 0, 128, 63], "cpu")]


def test_shared_mapping(torch, tmp_path):
    path, options = tmp_path / "a.pt", torch.serialization
    torch.save(torch.arange(4.0), path)
    with options.set_default_mmap_options(mmap.MAP_SHARED):
        assert options.get_default_mmap_options() == mmap.MAP_SHARED
        torch.load(path, mmap=True).add_(1)
    assert options.get_default_mmap_options() == mmap.MAP_PRIVATE
    assert torch.load(path).tolist() == [1.0, 2.0, 3.0, 4.0]
    options.set_default_mmap_options(mmap.MAP_SHARED)
    options.set_default_mmap_options(mmap.MAP_PRIVATE)
    torch.load(path, mmap=True).add_(1)
    assert torch.load(path).tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(ValueError, match=r"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 7"):
        options.set_default_mmap_options(7)


def test_config(torch, tmp_path):
    config = torch.utils.serialization.config
    torch.save(torch.ones(3), tmp_path / "a.pt")
    with config.patch({"load.mmap": True}):
        assert torch.load(tmp_path / "a.pt").tolist() == [1.0] * 3
        with pytest.raises(ValueError, match="f must be a file path"):
            torch.load(io.BytesIO((tmp_path / "a.pt").read_bytes()))
    with config.patch({"save.storage_alignment": 4096}):
        torch.save(torch.ones(3), tmp_path / "b.pt")
    data = (tmp_path / "b.pt").read_bytes()
    assert data.index(b"\0\0\x80\x3f" * 3) % 4096 == 0 and torch.load(tmp_path / "b.pt").tolist() == [1.0] * 3
    with pytest.raises(AttributeError, match=r"config.save.nonsense does not exist"), config.patch({"save.nonsense": 1}):
        pass
    with pytest.raises(AttributeError, match=r"config.save.foo does not exist"):
        config.save.foo = 1


def test_byte_orders(torch):
    options = torch.serialization
    file = io.BytesIO()
    torch.save([torch.arange(3, dtype=torch.int16), torch.tensor([1 + 2j]), torch.tensor([True])], file)
    big = changed(file, lambda name, data: b"big" if name == "byteorder" else data)
    integers, complexes, flags = torch.load(big)
    assert integers.tolist() == [0, 256, 512] and flags.tolist() == [True]
    assert torch.view_as_real(complexes).view(torch.int32).tolist() == [[0x803F, 0x40]]
    unnamed = changed(file, lambda name, data: None if name == "byteorder" else data)
    orders = options.LoadEndianness
    try:
        for order, expected in ((None, 1), (orders.NATIVE, 1), (orders.LITTLE, 1), (orders.BIG, 256)):
            options.set_default_load_endianness(order)
            assert options.get_default_load_endianness() is order
            unnamed.seek(0)
            assert torch.load(unnamed)[0][1] == expected
            file.seek(0)
            assert torch.load(file)[0][1] == 1
    finally:
        options.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        options.set_default_load_endianness("big")
    with pytest.raises((ValueError, RuntimeError), match="Unknown endianness type: middle"):
        torch.load(changed(file, lambda name, data: b"middle" if name == "byteorder" else data))


def test_skipped_data(torch):
    skip_data, file = torch.serialization.skip_data, io.BytesIO()
    with skip_data():
        torch.save({"a": torch.arange(3.0), "b": 5}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["a"].tolist() == [0.0] * 3 and loaded["b"] == 5
    for new in (True, False):
        file = io.BytesIO()
        torch.save({"a": torch.arange(3.0), "b": 5}, file, _use_new_zipfile_serialization=new)
        file.seek(0)
        with skip_data():
            loaded = torch.load(file)
        assert loaded["a"].shape == (3,) and loaded["b"] == 5
    with skip_data(), pytest.raises(RuntimeError, match="Cannot use skip_data=True with _use_new_zipfile_serialization=False"):
        torch.save(1, io.BytesIO(), _use_new_zipfile_serialization=False)


def test_helpers(torch):
    serialization = torch.serialization
    with serialization.mkdtemp() as folder:
        assert os.path.isdir(folder)
    assert not os.path.exists(folder)
    assert serialization.normalize_storage_type(torch.FloatStorage) is torch.FloatStorage

    class Versioned:
        __version__ = "1.10.0"

    check = serialization.check_module_version_greater_or_equal
    assert check(Versioned, (1, 2, 3)) and not check(Versioned, (1, 11, 0))
    Versioned.__version__ = "1.x"
    with pytest.raises(RuntimeError, match="module version string is malformed '1.x' and cannot be compared with tuple"):
        check(Versioned, (1, 2, 3))
    with pytest.warns(UserWarning, match="malformed"):
        assert check(Versioned, (1, 2, 3), error_if_malformed=False)


def test_unsafe_globals():
    class_file = saved({"m": retrograd.nn.Linear(1, 1), "o": collections.OrderedDict(a=pathlib.PurePosixPath("x"))})
    found = serialization.get_unsafe_globals_in_checkpoint(class_file)
    assert found == ["torch.nn.modules.linear.Linear", "pathlib.PurePosixPath"]
    legacy = saved({"m": retrograd.nn.Linear(1, 1)}, _use_new_zipfile_serialization=False)
    assert serialization.get_unsafe_globals_in_checkpoint(legacy) == ["torch.nn.modules.linear.Linear"]
    twice = saved([retrograd.nn.Linear(1, 1), retrograd.nn.Linear(1, 1), retrograd.nn.ReLU()], pickle_protocol=4)
    names = ["torch.nn.modules.linear.Linear", "torch.nn.modules.activation.ReLU"]
    assert serialization.get_unsafe_globals_in_checkpoint(twice) == names
    with pytest.raises(ValueError, match="Expected input to be a checkpoint returned by torch.save"):
        serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(b"nonsense"))
    with pytest.raises(TypeError, match="takes classes and functions"):
        serialization.add_safe_globals(["a name"])


def test_sources_of_classes_in_the_old_format(tmp_path, monkeypatch):
    source = "import retrograd\n\nclass Net(retrograd.nn.Module):\n    def forward(self, x):\n        return x\n"
    (tmp_path / "own_module.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("own_module")
    file = saved([module.Net(), module.Net(), retrograd.nn.ReLU()], _use_new_zipfile_serialization=False)
    assert file.getvalue().count(b"return x") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [type(m).__name__ for m in retrograd.load(file, weights_only=False)] == ["Net", "Net", "ReLU"]
    altered = io.BytesIO(file.getvalue().replace(b"return x", b"return 2"))
    with pytest.warns(serialization.SourceChangeWarning, match="source code of class 'own_module.Net' has changed"):
        retrograd.load(altered, weights_only=False)
    with serialization.safe_globals([module.Net, retrograd.nn.ReLU, set]):
        file.seek(0)
        assert type(retrograd.load(file)[0]) is module.Net
    del sys.modules["own_module"]
