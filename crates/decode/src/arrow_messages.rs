//! Finds compressed batches of Arrow IPC before Arrow's reader, which allocates as many bytes as they claim.

use arrow::ipc::{Message, MessageHeader, root_as_message};

/// Precedes the length of a message, except in old streams.
const CONTINUATION: u32 = u32::MAX;

/// Whether a message, without its body, is of a record batch or dictionary that is compressed.
pub fn is_compressed_batch(message: &[u8]) -> bool {
    root_as_message(message).is_ok_and(|message| is_compressed(&message))
}

fn is_compressed(message: &Message<'_>) -> bool {
    let batch = match message.header_type() {
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|dictionary| dictionary.data()),
        _ => message.header_as_record_batch(),
    };
    batch.is_some_and(|batch| batch.compression().is_some())
}

/// Where the first compressed batch of a stream begins. Ends where Arrow's reader reports an error.
pub(super) fn compressed_batch(stream: &[u8]) -> Option<usize> {
    let word = |at: usize| Some(u32::from_le_bytes(*stream.get(at..)?.first_chunk()?));
    let mut at = 0;
    loop {
        let start = at;
        at += 4;
        let len = match word(start)? {
            CONTINUATION => {
                at += 4;
                word(start + 4)?
            }
            len => len,
        };
        if len == 0 {
            return None;
        }
        let head = stream.get(at..)?.get(..len as usize)?;
        let message = root_as_message(head).ok()?;
        if is_compressed(&message) {
            return Some(start);
        }
        let body = usize::try_from(message.bodyLength()).ok()?;
        at = at.checked_add(head.len())?.checked_add(body)?;
    }
}
