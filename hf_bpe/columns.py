"""Columns of strings in Arrow's layout, as the native core reads them: no Python object is made for a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

    from hf_bpe._native import Tokenizer


@dataclass(frozen=True)
class Column:
    """The buffers of an array of strings, or of a slice of one.

    Attributes:
        data: The UTF-8 bytes of the rows.
        offsets: Where each row begins, and where the last one ends.
        validity: One bit a row, 0 for null; None when no row is null.
        data_start: The offset that the first byte of `data` has.
        first_bit: The place of the first row in `validity`.
        length: The number of rows.
        large: Whether the offsets have 64 bits, not 32.
    """

    data: memoryview
    offsets: memoryview
    validity: memoryview | None
    data_start: int
    first_bit: int
    length: int
    large: bool

    @property
    def nulls(self) -> int:
        """How many rows are null."""
        if self.validity is None:
            return 0
        bits = np.unpackbits(np.frombuffer(self.validity, np.uint8), bitorder="little")
        return self.length - int(np.count_nonzero(bits[self.first_bit :][: self.length]))


def with_plain_strings(array: pa.Array) -> pa.Array | None:
    """Return an array of type string or large_string, decoded from a dictionary or views; None for other types.

    Raises:
        ValueError: The array is damaged: a view or an index points outside of its data, or a text is not UTF-8.
    """
    import pyarrow as pa

    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        return None
    if array.type in (pa.string(), pa.large_string()):
        return array
    try:
        # The cast reads wherever a view points, and ends the process where that is no memory of the array.
        array.validate(full=True)
    except pa.ArrowException as error:
        raise ValueError(f"the Arrow column of type {array.type} is damaged: {error}") from None
    return array.cast(pa.large_string())


def ends_of(array: pa.Array) -> NDArray[Any]:
    """Return where each row of an array of plain strings begins in its data, and where the last one ends."""
    import pyarrow as pa

    _, offsets, _ = array.buffers()
    large = array.type == pa.large_string()
    if len(array) == 0 or offsets is None:
        return np.zeros(1, np.int64 if large else np.int32)
    return np.frombuffer(offsets, np.int64 if large else np.int32)[array.offset :][: len(array) + 1]


def column_of(array: pa.Array, ends: NDArray[Any], start: int, end: int) -> Column:
    """Return the rows from `start` to `end` of an array of plain strings, whose `ends_of` is given."""
    validity, _, data = array.buffers()
    first, last = int(ends[start]), int(ends[end])
    row = array.offset + start
    return Column(
        bytes_of(data or b"")[first:last],
        bytes_of(ends[start : end + 1]),
        None if validity is None else bytes_of(validity)[row // 8 : (array.offset + end + 7) // 8],
        data_start=first,
        first_bit=row % 8,
        length=end - start,
        large=ends.dtype == np.int64,
    )


def bytes_of(buffer: Any) -> memoryview:
    """Return `buffer`, whose items may be signed or wide, as bytes."""
    view = memoryview(buffer)
    return view.cast("B") if view.nbytes else memoryview(b"")


def encode_arrow(core: Tokenizer, array: Any, *, add_special_tokens: bool, split_special_tokens: bool) -> pa.Array:
    """Return the ids of each row as an Arrow array of lists: see `HfBpeTokenizer.encode_arrow`."""
    import pyarrow as pa

    given = _array_of(array)
    chunks = given.chunks if isinstance(given, pa.ChunkedArray) else [given]
    if not chunks:
        chunks = [pa.array([], given.type)]  # whose type is looked at all the same
    if pa.types.is_null(given.type):
        return pa.nulls(len(given), pa.list_(_type_of_ids(core)))
    columns = [_whole_column(chunk) for chunk in chunks]
    ids, bounds, validity = core.encode_arrow(
        columns, add_special_tokens=add_special_tokens, split_special_tokens=split_special_tokens
    )
    return lists_of(ids, bounds, validity, _type_of_ids(core))


def lists_of(
    ids: NDArray[np.uint32], bounds: NDArray[Any], validity: NDArray[np.uint8] | None, value_type: pa.DataType
) -> pa.Array:
    """Return an Arrow array of lists around the memory of these arrays: `large_list` where bounds have 64 bits."""
    import pyarrow as pa

    kind = pa.list_(value_type) if bounds.dtype == np.int32 else pa.large_list(value_type)
    values = pa.Array.from_buffers(value_type, len(ids), [None, pa.py_buffer(ids)])
    bits = None if validity is None else pa.py_buffer(validity)
    return pa.Array.from_buffers(kind, len(bounds) - 1, [bits, pa.py_buffer(bounds)], children=[values])


def _type_of_ids(core: Tokenizer) -> pa.DataType:
    """Return int32, which `datasets` has for `input_ids`, unless there are ids that it can't hold."""
    import pyarrow as pa

    return pa.int32() if core.max_id < 1 << 31 else pa.uint32()


def _array_of(array: Any) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa

    if isinstance(array, pa.Array | pa.ChunkedArray):
        return array
    if not isinstance(array, type):
        if hasattr(array, "column_names") or hasattr(array, "columns"):
            raise TypeError(f"encode_arrow() takes one column, got a {type(array).__name__}: pass it as table['text'].")
        if hasattr(array, "__arrow_c_stream__"):
            return pa.chunked_array(array)
        if hasattr(array, "__arrow_c_array__"):
            return pa.array(array)
    raise TypeError(
        "encode_arrow() takes an Arrow array of strings, whole or in chunks, of pyarrow or of another library that "
        f"exports one; got {type(array).__name__}. For a list of str call encode_to_numpy()."
    )


def _whole_column(chunk: pa.Array) -> tuple[Any, ...]:
    strings = with_plain_strings(chunk)
    if strings is None:
        raise TypeError(
            f"encode_arrow() takes an array of type string, large_string or string_view, or a dictionary of these; "
            f"got one of {chunk.type}."
        )
    column = column_of(strings, ends_of(strings), 0, len(strings))
    return (
        column.data,
        column.offsets,
        column.validity,
        column.data_start,
        column.first_bit,
        column.length,
        column.large,
    )
