"""Zip archives as save() writes them and load() reads them: members stored, not compressed, each at a multiple of 64 bytes.

The writer goes from front to back and knows every checksum before the data, so that whatever has write() will do. The reader leaves the directory
to zipfile and reads stored members itself: into memory that is there already, and checked against their checksum. A checksum of zero says that
there is none: PyTorch writes such files on demand (set_crc32_options).
"""

from __future__ import annotations

import contextlib
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

from retrograd._pickling import CorruptFileError

_LIMIT = 0xFFFFFFFF  # sizes and offsets from here on stand in a field of 64 bits
_MANY = 0xFFFF  # and so do numbers of members
_CHUNK = 1 << 24
_UTF8 = 0x800
_DATE = 0x21  # the first day a zip file can name: what is the same is written the same


class Writer:
    """An archive on its way into an object with write()."""

    def __init__(self, file: Any, prefix: str, alignment: int, checksums: bool) -> None:
        self._file, self._prefix, self._alignment, self._checksums = file, prefix, alignment, checksums
        self._at = 0  # counted from where the archive starts
        self._directory: list[bytes] = []

    def _write(self, data: Any) -> None:
        view = memoryview(data)
        self._at += len(view)
        write_all(self._file, view)

    def add(self, name: str, data: Any, skip: bool = False) -> None:
        """Writes a member; with skip as many zeros, and no checksum."""
        encoded, size, offset = f"{self._prefix}/{name}".encode(), len(data), self._at
        checksum = zlib.crc32(data) if self._checksums and not skip else 0
        large = size >= _LIMIT
        fields = struct.pack("<HHHIII", 0, 0, _DATE, checksum, *((_LIMIT, _LIMIT) if large else (size, size)))
        extra = struct.pack("<HHQQ", 1, 16, size, size) if large else b""
        extra += self._padding(offset + 30 + len(encoded) + len(extra))
        version = struct.pack("<HH", 45 if large else 20, _UTF8)
        self._write(b"PK\3\4" + version + fields + struct.pack("<HH", len(encoded), len(extra)) + encoded + extra)
        if skip:
            for start in range(0, size, _CHUNK):
                self._write(bytes(min(_CHUNK, size - start)))
        else:
            self._write(data)
        far = large or offset >= _LIMIT
        if far:
            fields = struct.pack("<HHHIII", 0, 0, _DATE, checksum, _LIMIT, _LIMIT)
        extra = struct.pack("<HHQQQ", 1, 24, size, size, offset) if far else b""
        place = struct.pack("<HHHHHII", len(encoded), len(extra), 0, 0, 0, 0, _LIMIT if far else offset)
        made_by = struct.pack("<HHH", 45 if far else 20, 45 if far else 20, _UTF8)
        self._directory.append(b"PK\1\2" + made_by + fields + place + encoded + extra)

    def _padding(self, before: int) -> bytes:
        """An extra field that makes what follows it start at a multiple of the alignment."""
        needed = -before % self._alignment
        while 0 < needed < 4:
            needed += self._alignment  # a field has a header of four bytes
        return struct.pack("<2sH", b"FB", needed - 4) + b"Z" * (needed - 4) if needed else b""

    def finish(self) -> None:
        """Writes the directory."""
        start, count = self._at, len(self._directory)
        for entry in self._directory:
            self._write(entry)
        size, end = self._at - start, self._at
        if start >= _LIMIT or size >= _LIMIT or count >= _MANY:
            self._write(b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, start))
            self._write(b"PK\6\7" + struct.pack("<IQI", 0, end, 1))
        count, size, start = min(count, _MANY), min(size, _LIMIT), min(start, _LIMIT)
        self._write(b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, count, count, size, start, 0))


def write_all(file: Any, data: Any) -> None:
    """Writes all of it: a file without a buffer may take less at a time."""
    view = memoryview(data)
    while len(view):
        written = file.write(view)
        if not isinstance(written, int) or written >= len(view):
            return
        view = view[written:]


# What zipfile and the file raise where they meet data that make no sense.
_DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, struct.error, LookupError, OSError)


class Archive:
    """A zip file of save's, by the names of its members without their common prefix."""

    def __init__(self, file: Any) -> None:
        try:
            self.zip = zipfile.ZipFile(file)
        except _DAMAGE as error:
            raise CorruptFileError(f"PytorchStreamReader failed reading zip archive: {error}. The file is cut off or damaged.") from None
        names = self.zip.namelist()
        if not names:
            raise CorruptFileError("PytorchStreamReader failed reading zip archive: it has no members")
        self.prefix = names[0].split("/", 1)[0] + "/"

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.zip.NameToInfo

    def info(self, name: str) -> zipfile.ZipInfo:
        try:
            return self.zip.getinfo(self.prefix + name)
        except KeyError:
            raise CorruptFileError(f"PytorchStreamReader failed locating file {name}: file not found") from None

    @contextlib.contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        try:
            yield
        except CorruptFileError:
            raise
        except _DAMAGE as error:
            raise CorruptFileError(f"PytorchStreamReader failed reading file {name}: {error}. The file is damaged.") from None

    def start_of(self, name: str) -> int:
        """Where in the file the data of a stored member starts. What its header says is held against the directory."""
        info, file = self.info(name), self.zip.fp
        assert file is not None
        with self._reading(name):
            file.seek(info.header_offset)
            header = file.read(30)
            if len(header) < 30 or header[:4] != b"PK\3\4":
                raise CorruptFileError(f"unexpected EOF or other data in the place of {name}: the file is cut off or damaged")
            name_length, extra_length = struct.unpack("<HH", header[26:30])
            rest = file.read(name_length + extra_length)
            same = rest[:name_length] == info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")
            if not same or not _are_fields(rest[name_length:], extra_length):
                raise CorruptFileError(f"the header of {name} is not what the directory of the file says: the file is damaged")
            return info.header_offset + 30 + name_length + extra_length

    def is_stored(self, name: str) -> bool:
        """Whether the bytes stand in the file as they are."""
        info = self.info(name)
        return info.compress_type == zipfile.ZIP_STORED and not info.flag_bits & 1 and info.file_size == info.compress_size

    def read(self, name: str) -> bytes:
        if not self.is_stored(name):
            with self._reading(name):
                return self.zip.read(self.info(name))
        self._check_end(name)
        data = bytearray(self.info(name).file_size)
        self.read_into(name, memoryview(data))
        return bytes(data)

    def _check_end(self, name: str) -> None:
        info = self.info(name)
        if info.header_offset + info.compress_size > self.zip.start_dir:
            raise CorruptFileError(f"unexpected EOF: the file ends in the middle of {name}")

    def check_size(self, name: str, nbytes: int) -> None:
        """Before memory is made for it."""
        self._check_end(name)
        if self.info(name).file_size != nbytes:
            raise CorruptFileError(f"storage {name} of the file has {self.info(name).file_size} bytes, {nbytes} are expected")

    def forget_checksums(self, mapped: Any) -> None:
        """Says in the file itself that its members have no checksum any more: they are about to be written to."""
        at = self.zip.start_dir
        while mapped[at : at + 4] == b"PK\1\2":
            mapped[at + 16 : at + 20] = bytes(4)
            at += 46 + sum(struct.unpack_from("<HHH", mapped, at + 28))
        mapped.flush()

    def read_into(self, name: str, target: memoryview) -> None:
        info, file = self.info(name), self.zip.fp
        if not self.is_stored(name):
            data = self.read(name)
            if len(data) != len(target):
                raise CorruptFileError(f"{name} has {len(data)} bytes, {len(target)} are expected")
            target[:] = data
            return
        start, checksum = self.start_of(name), 0
        with self._reading(name):
            file.seek(start)  # type: ignore[union-attr]
            for position in range(0, len(target), _CHUNK):
                part = target[position : position + _CHUNK]
                read_all(file, part, name)
                checksum = zlib.crc32(part, checksum) if info.CRC else 0
            if checksum != info.CRC:
                raise CorruptFileError(
                    f"Bad CRC-32 for file {name}: its bytes are not those that were written. mmap=True does not look at the checksum."
                )


def _are_fields(extra: bytes, length: int) -> bool:
    """Whether the bytes are extra fields, one behind the other: a changed length shows."""
    position = 0
    while position + 4 <= len(extra):
        position += 4 + struct.unpack_from("<H", extra, position + 2)[0]
    return len(extra) == length and (position == length or not any(extra[position:]))


def read_all(file: Any, target: memoryview, what: str) -> None:
    """Fills memory from a file, whatever that has: readinto() or read() alone, and all at once or in parts."""
    position = 0
    while position < len(target):
        if hasattr(file, "readinto"):
            count = file.readinto(target[position:])
        else:
            data = file.read(len(target) - position)
            count = len(data)
            target[position : position + count] = data
        if not count:
            raise CorruptFileError(f"unexpected EOF: the file ends in the middle of {what}")
        position += count
