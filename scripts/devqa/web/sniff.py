"""What a page's first bytes say it is, whatever the server calls it."""

_SIGNATURES = (
    (b"%PDF-", "PDF"),
    (b"\x89PNG\r\n", "image"),
    (b"\xff\xd8\xff", "image"),
    (b"GIF87a", "image"),
    (b"GIF89a", "image"),
    (b"RIFF", "image, sound or video"),
    (b"\x00\x00\x01\x00", "image"),
    (b"OggS", "sound or video"),
    (b"ID3", "sound or video"),
    (b"\x1aE\xdf\xa3", "sound or video"),
    (b"\x1f\x8b", "archive"),
    (b"PK\x03\x04", "archive"),
    (b"PK\x05\x06", "archive"),
    (b"7z\xbc\xaf\x27\x1c", "archive"),
    (b"Rar!\x1a\x07", "archive"),
    (b"BZh", "archive"),
    (b"\xfd7zXZ\x00", "archive"),
    (b"\x28\xb5\x2f\xfd", "archive"),
    (b"\x7fELF", "executable"),
    (b"\xca\xfe\xba\xbe", "executable"),
    (b"\xcf\xfa\xed\xfe", "executable"),
    (b"\x00asm", "executable"),
    (b"\xd0\xcf\x11\xe0", "office document"),
)
# These begin with letters, so a text may too: only with a NUL byte nearby are they what they seem.
_LETTERS_ONLY = {b"RIFF", b"OggS", b"ID3", b"BZh"}
_HEAD = 1024
_WIDE_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def unwanted(content: bytes) -> str | None:
    """Why `content` can't be a page of text (`not text: PDF`), or None where it may be one."""
    head = content[:_HEAD]
    for signature, kind in _SIGNATURES:
        if head.startswith(signature) and (signature not in _LETTERS_ONLY or b"\x00" in head):
            return f"not text: {kind}"
    if b"\x00" in head and not head.startswith(_WIDE_BYTE_ORDER_MARKS):
        return "not text: executable" if head.startswith(b"MZ") else "not text: binary data"
    return None
