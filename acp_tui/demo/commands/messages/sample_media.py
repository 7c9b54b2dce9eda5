"""Generates a sample image and a sample sound, so that no binary files are needed."""

from __future__ import annotations

import base64
import io
import math
import struct
import wave
import zlib


def gradient_png(width: int = 64, height: int = 32) -> str:
    """Return a PNG of a colour gradient, as base64."""
    rows = b"".join(
        b"\0" + b"".join(bytes((255 * x // width, 255 * y // height, 160)) for x in range(width))
        for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return _base64(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def tone_wav(seconds: float = 0.5, pitch: float = 440.0, rate: int = 8000) -> str:
    """Return a WAV of one tone, as base64."""
    samples = (
        int(12000 * math.sin(2 * math.pi * pitch * index / rate)) for index in range(int(seconds * rate))
    )
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate)
        wav.writeframes(b"".join(struct.pack("<h", sample) for sample in samples))
    return _base64(file.getvalue())


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
