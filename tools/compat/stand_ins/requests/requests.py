"""Answers a request for the graph of the gcn and gat examples with a made-up one: papers of seven kinds that cite their own kind more."""

import io
import random
import tarfile

PAPERS, WORDS, KINDS = 1700, 64, 7


class _Answer:
    def __init__(self, data):
        self.raw = io.BytesIO(data)
        self.status_code = 200

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def get(url, stream=False):
    draw = random.Random(0)
    kinds = [draw.randrange(KINDS) for _ in range(PAPERS)]
    words = [[int(draw.random() < (0.5 if word % KINDS == kind else 0.1)) for word in range(WORDS)] for kind in kinds]
    content = "".join(
        f"{n}\t" + "\t".join(map(str, row)) + f"\tkind{kind}\n" for n, (row, kind) in enumerate(zip(words, kinds, strict=True))
    )
    pairs = sorted({(n, draw.choice([m for m in range(n - 40, n) if m >= 0 and kinds[m] == kinds[n]] or [0])) for n in range(1, PAPERS)})
    cites = "".join(f"{a}\t{b}\n" for a, b in pairs)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, text in (("cora/cora.content", content), ("cora/cora.cites", cites)):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return _Answer(file.getvalue())
