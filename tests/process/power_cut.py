"""A power cut replayed: a folder as it may be found after the machine lost power in the middle of a command.

The operations that faulty_files logged are applied to a model of the folder, which knows of each file and folder what is durable: what
fsync() of the file, and for names of the folder, had confirmed. After any operation, the file system may have kept as little as that, or
everything, or new names without the data, or the data without new names.
"""

import os
import pathlib

KINDS = ("synced only", "names only", "data only", "all")


class File:
    def __init__(self, content=b""):
        self.content = self.durable = content


class Folder:
    def __init__(self):
        self.entries, self.durable = {}, {}


class Model:
    def __init__(self, root, ignored=lambda path: False):
        self.root, self.ignored = pathlib.Path(root), ignored
        self.top = self.read(self.root)

    def read(self, path):
        if path.is_file():
            return File(path.read_bytes())
        folder = Folder()
        folder.entries = {one.name: self.read(one) for one in path.iterdir() if not self.ignored(one)}
        folder.durable = dict(folder.entries)
        return folder

    def parts(self, path):
        """The names from the top to a path, or nothing for one that is elsewhere or ignored."""
        there = pathlib.Path(os.path.normpath(path))
        if there == self.root:
            return ()
        if self.root not in there.parents or self.ignored(there):
            return None
        return there.relative_to(self.root).parts

    def find(self, parts):
        node = self.top
        for name in parts:
            node = node.entries.get(name) if isinstance(node, Folder) else None
        return node

    def put(self, parts, node):
        folder = self.top
        for name in parts[:-1]:  # those with random names are not logged
            folder = folder.entries.setdefault(name, Folder())
        folder.entries[parts[-1]] = node

    def file(self, parts):
        if self.find(parts) is None:
            self.put(parts, File())
        return self.find(parts)

    def apply(self, operation):
        """True if it changed what may be lost."""
        parts = self.parts(operation["path"])
        if parts is None:
            return False
        kind = operation["op"]
        if kind == "open":
            flags = operation["flags"]
            if flags & os.O_CREAT and not operation["path"].endswith("XXXXXX") and parts:
                self.file(parts)
            if flags & os.O_TRUNC and isinstance(self.find(parts), File):
                self.find(parts).content = b""
            return bool(flags & (os.O_CREAT | os.O_TRUNC))
        if kind == "write":
            self.file(parts).content += bytes.fromhex(operation.get("data", ""))
        elif kind == "ftruncate":
            self.file(parts).content = self.file(parts).content[:operation["size"]]
        elif kind == "fsync":
            self.sync(self.find(parts))
        elif kind == "mkdir" and self.find(parts) is None and not operation["path"].endswith("XXXXXX"):
            self.put(parts, Folder())
        elif kind == "unlink" and isinstance(self.find(parts), File):
            del self.find(parts[:-1]).entries[parts[-1]]
        elif kind == "rename":
            return self.rename(parts, self.parts(operation["to"]))
        else:
            return False
        return True

    def rename(self, parts, to):
        node = self.find(parts)
        if node is None or to is None:
            return False
        del self.find(parts[:-1]).entries[parts[-1]]
        self.put(to, node)
        return True

    @staticmethod
    def sync(node):
        if isinstance(node, File):
            node.durable = node.content
        elif isinstance(node, Folder):
            node.durable = dict(node.entries)

    def files(self, kind, node=None, path=""):
        """Path -> content as found afterwards; None for a folder."""
        node = node or self.top
        if isinstance(node, File):
            return {path: node.content if kind in ("data only", "all") else node.durable}
        found = {path: None} if path else {}
        for name, entry in (node.entries if kind in ("names only", "all") else node.durable).items():
            found.update(self.files(kind, entry, f"{path}/{name}" if path else name))
        return found


def write_files(files, root):
    for path, content in files.items():
        there = pathlib.Path(root) / path
        (there if content is None else there.parent).mkdir(parents=True, exist_ok=True)
        if content is not None:
            there.write_bytes(content)
