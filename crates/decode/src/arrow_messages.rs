//! Looks at the messages of an Arrow IPC stream before Arrow's reader does, for what it would allocate or check at any
//! cost.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow::datatypes::{DataType, Schema};
use arrow::ipc::convert::fb_to_schema;
use arrow::ipc::{Message, MessageHeader, RecordBatch, root_as_message};

/// Precedes the length of a message, except in old streams.
const CONTINUATION: u32 = u32::MAX;
/// Bytes of a view: the length of its text, then the text or where it is.
const VIEW_BYTES: usize = 16;

/// Why Arrow's reader must not read a message: its batch is compressed, or has so many views that checking them may take
/// seconds, if all name the whole body. For messages that should hold little.
pub fn fault_of_message(head: &[u8], body: &[u8]) -> Option<&'static str> {
    const CHECKED_BYTES_MAX: usize = 1 << 30;
    let message = root_as_message(head).ok()?;
    let batch = batch_of(&message)?;
    let has_views = batch.variadicBufferCounts().is_some_and(|counts| !counts.is_empty());
    if batch.compression().is_some() {
        Some("compressed batches are not supported: send them uncompressed")
    } else if has_views && (body.len() / VIEW_BYTES).saturating_mul(body.len()) > CHECKED_BYTES_MAX {
        Some("its views are too many: send plain texts")
    } else {
        None
    }
}

/// The record batch of a message, also of a dictionary.
fn batch_of<'m>(message: &Message<'m>) -> Option<RecordBatch<'m>> {
    match message.header_type() {
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch()?.data(),
        _ => message.header_as_record_batch(),
    }
}

/// The messages of a stream, each with its place and its body. Ends where Arrow's reader reports an error.
struct Messages<'a> {
    stream: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Messages<'a> {
    type Item = (usize, Message<'a>, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let word = |at: usize| Some(u32::from_le_bytes(*self.stream.get(at..)?.first_chunk()?));
        let start = self.at;
        let (len, at) = match word(start)? {
            CONTINUATION => (word(start + 4)?, start + 8),
            len => (len, start + 4),
        };
        if len == 0 {
            return None;
        }
        let head = self.stream.get(at..)?.get(..len as usize)?;
        let message = root_as_message(head).ok()?;
        let length = usize::try_from(message.bodyLength()).ok()?;
        let body = &self.stream[at + head.len()..];
        self.at = at.checked_add(head.len())?.checked_add(length)?;
        Some((start, message, body.get(..length).unwrap_or(body)))
    }
}

/// The columns of a stream; `None` if Arrow's reader reports an error in its place.
pub(super) fn schema(stream: &[u8]) -> Option<Schema> {
    let (_, message, _) = Messages { stream, at: 0 }.next()?;
    let schema = message.header_as_schema()?;
    // Arrow panics on some schemas.
    catch_unwind(AssertUnwindSafe(|| fb_to_schema(schema))).ok()
}

/// Why Arrow's reader must not read a stream, with the place of the batch.
pub(super) enum Danger {
    /// A compressed batch: the reader allocates as many bytes as it claims.
    Compressed(usize),
    /// Views name too many bytes: many may name the same, and the reader checks each.
    Views(usize),
}

/// Looks for dangers in a stream of columns of these types, whose views may name `text_bytes`.
pub(super) fn danger(stream: &[u8], types: &[&DataType], mut text_bytes: usize) -> Option<Danger> {
    for (start, message, body) in (Messages { stream, at: 0 }) {
        let Some(batch) = batch_of(&message) else { continue };
        if batch.compression().is_some() {
            return Some(Danger::Compressed(start));
        }
        // A dictionary is a batch of one column.
        let is_view = batch.variadicBufferCounts().is_some_and(|counts| !counts.is_empty());
        let views = match message.header_type() {
            MessageHeader::DictionaryBatch if is_view => vec![1],
            MessageHeader::DictionaryBatch => Vec::new(),
            _ => views(&batch, types),
        };
        match views.into_iter().try_fold(text_bytes, |left, place| left.checked_sub(named(&batch, place, body))) {
            Some(left) => text_bytes = left,
            None => return Some(Danger::Views(start)),
        }
    }
    None
}

/// The places of a batch's buffers of views.
fn views(batch: &RecordBatch<'_>, types: &[&DataType]) -> Vec<usize> {
    let mut counts = batch.variadicBufferCounts().into_iter().flatten();
    let (mut views, mut place) = (Vec::new(), 0usize);
    for ty in types {
        let ty = match ty {
            DataType::List(item) | DataType::LargeList(item) => {
                place += 2;
                item.data_type()
            }
            ty => ty,
        };
        place += match ty {
            DataType::Null => 0,
            DataType::Utf8 | DataType::LargeUtf8 => 3,
            DataType::Utf8View => {
                views.push(place + 1);
                let more = counts.next().and_then(|count| usize::try_from(count).ok());
                more.map_or(2, |more| more.saturating_add(2))
            }
            _ => 2,
        };
    }
    views
}

/// The bytes that the views in a buffer name.
fn named(batch: &RecordBatch<'_>, place: usize, body: &[u8]) -> usize {
    let buffer = batch.buffers().filter(|buffers| place < buffers.len()).map(|buffers| *buffers.get(place));
    let bytes = buffer.and_then(|buffer| {
        let (from, length) = (usize::try_from(buffer.offset()).ok()?, usize::try_from(buffer.length()).ok()?);
        body.get(from..)?.get(..length)
    });
    let (views, _) = bytes.unwrap_or_default().as_chunks::<VIEW_BYTES>();
    let length = |view: &[u8; VIEW_BYTES]| u32::from_le_bytes([view[0], view[1], view[2], view[3]]) as usize;
    views.iter().map(length).fold(0, usize::saturating_add)
}
