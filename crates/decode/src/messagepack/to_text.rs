//! MessagePack values as JSON.

use super::reader::{Reader, Token};
use super::timestamp;
use crate::value::Value;

/// Appends a scalar's text; returns false for other tokens.
pub(super) fn scalar(token: Token<'_>, out: &mut Vec<u8>) -> bool {
    match token {
        Token::Value(value) => out.extend_from_slice(&value.to_text()),
        Token::Huge(value) => out.extend_from_slice(value.to_string().as_bytes()),
        Token::Extension { tag: -1, bytes } => match timestamp(bytes) {
            Some(time) => out.extend_from_slice(time.to_text().as_bytes()),
            None => return false,
        },
        _ => return false,
    }
    true
}

/// The value that begins here as JSON, or why JSON cannot express it.
pub(super) fn json(mut reader: Reader<'_>) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    // Remaining values and names of each enclosing container, and whether it is a map.
    let mut around: Vec<(u64, bool)> = Vec::new();
    loop {
        let is_name = around.last().is_some_and(|&(due, is_map)| is_map && due % 2 == 0);
        match reader.token().map_err(|error| error.to_string())? {
            Token::Array(len) if !is_name => {
                out.push(b'[');
                around.push((len as u64, false));
            }
            Token::Map(len) if !is_name => {
                out.push(b'{');
                around.push((2 * len as u64, true));
            }
            token => {
                write_scalar(token, is_name, &mut out)?;
                count(&mut around);
            }
        }
        // Close complete containers, and separate the next value.
        while let Some(&(0, is_map)) = around.last() {
            out.push(if is_map { b'}' } else { b']' });
            around.pop();
            count(&mut around);
        }
        let Some(&(due, is_map)) = around.last() else { return Ok(out) };
        if is_map && due % 2 == 1 {
            out.push(b':');
        } else if !matches!(out.last(), Some(b'[' | b'{')) {
            out.push(b',');
        }
    }
}

/// Counts a value or name of the innermost container.
fn count(around: &mut [(u64, bool)]) {
    if let Some((due, _)) = around.last_mut() {
        *due -= 1;
    }
}

fn write_scalar(token: Token<'_>, is_name: bool, out: &mut Vec<u8>) -> Result<(), String> {
    if let Token::Value(Value::Text(text)) = token {
        return quote(text, out);
    }
    let is_time = matches!(token, Token::Extension { .. });
    let mut text = Vec::new();
    if !scalar(token, &mut text) {
        return Err(format!("it holds {}, which no column holds", token.word()));
    }
    if is_time || is_name {
        return quote(&text, out);
    }
    out.extend_from_slice(&text);
    Ok(())
}

fn quote(text: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    if std::str::from_utf8(text).is_err() {
        return Err("a text in it is not valid UTF-8".to_owned());
    }
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0c => out.extend_from_slice(b"\\f"),
            0..0x20 => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
    Ok(())
}
