//! Arrays of NumPy's format `.npy`.

use std::io::Read;
use std::sync::Arc;

use arrow::array::{ArrayData, ArrayRef, BooleanArray, StringArray, make_array};
use arrow::buffer::MutableBuffer;
use arrow::datatypes::DataType;

/// An array with its elements in the order of the file.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    /// Whether the first axis varies fastest.
    pub(crate) is_fortran: bool,
    pub(crate) values: ArrayRef,
}

/// What the header says of the elements.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Element {
    Bool,
    /// Texts of at most so many characters.
    Text(usize),
    Number(DataType),
}

/// Reads an array to its end.
pub(crate) fn read(name: String, mut from: impl Read, limit: usize) -> Result<Array, String> {
    let early = |_: std::io::Error| format!("array {name:?} ends early");
    let header = header(&mut from).map_err(|reason| format!("array {name:?}: {reason}"))?;
    let (element, shape, is_fortran) = parse(&header).map_err(|reason| format!("array {name:?}: {reason}"))?;
    let count = shape.iter().try_fold(1_usize, |count, axis| count.checked_mul(*axis));
    let bytes = count.and_then(|count| count.checked_mul(element.bytes()));
    let fits = |size: &usize| *size <= limit;
    let (Some(count), Some(bytes)) = (count.filter(fits), bytes.filter(fits)) else {
        return Err(format!("array {name:?} does not fit in {} MB of memory", limit >> 20));
    };
    let mut buffer = MutableBuffer::from_len_zeroed(bytes);
    from.read_exact(buffer.as_slice_mut()).map_err(early)?;
    if from.read(&mut [0]).map_err(|error| format!("array {name:?}: {error}"))? > 0 {
        return Err(format!("array {name:?} has more elements than its header says"));
    }
    let values = match element {
        Element::Bool => Arc::new(BooleanArray::from_iter(buffer.iter().map(|byte| Some(*byte != 0)))) as ArrayRef,
        Element::Text(characters) => {
            let texts = (0..count).map(|i| text(&buffer[i * characters * 4..(i + 1) * characters * 4]));
            Arc::new(texts.map(Some).collect::<StringArray>())
        }
        Element::Number(of) => {
            let data = ArrayData::builder(of).len(count).add_buffer(buffer.into());
            make_array(data.build().map_err(|error| error.to_string())?)
        }
    };
    Ok(Array { name, shape, is_fortran, values })
}

impl Element {
    fn bytes(&self) -> usize {
        match self {
            Self::Bool => 1,
            Self::Text(characters) => characters.saturating_mul(4),
            Self::Number(of) => of.primitive_width().unwrap_or(1),
        }
    }

    /// Parses a type such as `<f8`.
    fn parse(text: &str) -> Result<Self, String> {
        let refuse = |advice: &str| Err(format!("elements of type {text} cannot be imported: {advice}"));
        let (order, of) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        if order == ">" && !matches!(of, "i1" | "u1" | "b1") {
            return refuse("convert them to little-endian numbers");
        }
        Ok(match of {
            "b1" => Self::Bool,
            "f2" => Self::Number(DataType::Float16),
            "f4" => Self::Number(DataType::Float32),
            "f8" => Self::Number(DataType::Float64),
            "i1" => Self::Number(DataType::Int8),
            "i2" => Self::Number(DataType::Int16),
            "i4" => Self::Number(DataType::Int32),
            "i8" => Self::Number(DataType::Int64),
            "u1" => Self::Number(DataType::UInt8),
            "u2" => Self::Number(DataType::UInt16),
            "u4" => Self::Number(DataType::UInt32),
            "u8" => Self::Number(DataType::UInt64),
            _ => match of.strip_prefix('U').and_then(|characters| characters.parse().ok()) {
                Some(characters) => Self::Text(characters),
                None => return refuse("give numbers of at most 64 bits, booleans or texts"),
            },
        })
    }
}

/// A text of UTF-32 that is filled up with zeros.
fn text(bytes: &[u8]) -> String {
    let (characters, _) = bytes.as_chunks::<4>();
    let characters = characters.iter().map(|bytes| u32::from_le_bytes(*bytes)).take_while(|character| *character != 0);
    characters.map(|character| char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// The header: a Python dictionary as text.
fn header(from: &mut impl Read) -> Result<String, String> {
    let early = |_: std::io::Error| "its header ends early".to_owned();
    let mut start = [0; 8];
    from.read_exact(&mut start).map_err(early)?;
    if !start.starts_with(b"\x93NUMPY") {
        return Err("it is no array of NumPy".to_owned());
    }
    let mut length = [0; 4];
    let width = if start[6] == 1 { 2 } else { 4 };
    from.read_exact(&mut length[..width]).map_err(early)?;
    let mut header = Vec::new();
    let length = u32::from_le_bytes(length);
    from.take(u64::from(length.min(1 << 20))).read_to_end(&mut header).map_err(early)?;
    String::from_utf8(header).map_err(|_| "its header is not valid UTF-8".to_owned())
}

/// The type of elements, the shape, and whether the first axis varies fastest.
fn parse(header: &str) -> Result<(Element, Vec<usize>, bool), String> {
    let field = |key: &str| {
        let after = header.split_once(&format!("'{key}'"))?.1.trim_start().strip_prefix(':')?;
        Some(after.trim_start())
    };
    let malformed = || "its header does not read".to_owned();
    let descr = field("descr").ok_or_else(malformed)?;
    if descr.starts_with('[') {
        return Err("its elements have several fields: save each field as an array".to_owned());
    }
    let element = descr.strip_prefix('\'').and_then(|text| text.split_once('\'')).ok_or_else(malformed)?.0;
    let shape = field("shape").and_then(|text| text.strip_prefix('(')?.split_once(')')).ok_or_else(malformed)?.0;
    let axes = shape.split(',').map(str::trim).filter(|axis| !axis.is_empty());
    let shape = axes.map(|axis| axis.parse().map_err(|_| malformed())).collect::<Result<_, _>>()?;
    Ok((Element::parse(element)?, shape, field("fortran_order").is_some_and(|text| text.starts_with("True"))))
}

#[cfg(test)]
pub(crate) mod tests {
    use arrow::array::{Array as _, AsArray};
    use arrow::compute::cast;
    use arrow::datatypes::Float64Type;

    use super::*;

    /// The bytes of a file as NumPy writes it.
    pub(crate) fn bytes(descr: &str, shape: &str, is_fortran: bool, data: &[u8]) -> Vec<u8> {
        let order = if is_fortran { "True" } else { "False" };
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&(header.len() as u16).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(data);
        bytes
    }

    fn read_all(bytes: &[u8]) -> Result<Array, String> {
        read("x".to_owned(), bytes, 1 << 20)
    }

    #[test]
    fn numbers_of_every_type_are_read() {
        let data: Vec<u8> = [1u8, 0, 0, 0, 0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0].to_vec();
        for (descr, width) in
            [("|i1", 1), ("|u1", 1), ("<i2", 2), ("<u2", 2), ("<i4", 4), ("<u4", 4), ("<i8", 8), ("<u8", 8)]
        {
            let data: Vec<u8> = data.chunks(8).flat_map(|eight| &eight[..width]).copied().collect();
            let array = read_all(&bytes(descr, "(2,)", false, &data)).unwrap();
            let values = cast(&array.values, &DataType::Float64).unwrap();
            let last = if descr == "|i1" { -1.0 } else { 255.0 };
            assert_eq!(values.as_primitive::<Float64Type>().values(), &[1.0, last], "{descr}");
        }
        let reals = [1.5f64, f64::NAN].map(f64::to_le_bytes).concat();
        let array = read_all(&bytes("<f8", "(1, 2)", true, &reals)).unwrap();
        assert_eq!((array.shape, array.is_fortran, array.values.len()), (vec![1, 2], true, 2));
        let halves = [0x3E00u16, 0xFC00].map(u16::to_le_bytes).concat();
        let array = read_all(&bytes("<f2", "(2,)", false, &halves)).unwrap();
        let values = cast(&array.values, &DataType::Float64).unwrap();
        assert_eq!(values.as_primitive::<Float64Type>().values(), &[1.5, f64::NEG_INFINITY]);
        let flags = read_all(&bytes("|b1", "(3,)", false, &[1, 0, 1])).unwrap();
        assert_eq!(flags.values.as_boolean(), &BooleanArray::from(vec![true, false, true]));
        let texts: Vec<u8> = "ab\0\u{e9}\0\0".chars().flat_map(|c| (c as u32).to_le_bytes()).collect();
        let texts = read_all(&bytes("<U3", "(2,)", false, &texts)).unwrap();
        assert_eq!(texts.values.as_string::<i32>(), &StringArray::from(vec!["ab", "\u{e9}"]));
    }

    #[test]
    fn unusable_arrays_are_refused() {
        let said = |bytes: &[u8]| read_all(bytes).unwrap_err();
        let whole = bytes("<f8", "(2,)", false, &[0; 16]);
        assert_eq!(said(&whole[..whole.len() - 1]), "array \"x\" ends early");
        assert_eq!(said(&[&whole[..], &[0]].concat()), "array \"x\" has more elements than its header says");
        assert_eq!(said(&whole[..30]), "array \"x\": its header does not read");
        assert_eq!(said(b"\x93NUMPX\x01\x00aa"), "array \"x\": it is no array of NumPy");
        assert_eq!(
            said(&bytes("<c16", "(1,)", false, &[0; 16])),
            "array \"x\": elements of type <c16 cannot be imported: give numbers of at most 64 bits, booleans or texts"
        );
        assert!(said(&bytes(">f8", "(1,)", false, &[0; 8])).ends_with("convert them to little-endian numbers"));
        assert_eq!(
            said(&bytes("<f8", "(99999999999, 99999999999)", false, &[])),
            "array \"x\" does not fit in 1 MB of memory"
        );
    }
}
