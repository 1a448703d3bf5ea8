//! Parameter values for `$1`, `$2`, in text or binary format.

use bytes::Buf as _;
use chrono::{DateTime, NaiveDate};
use sql::{Literal, boolean_of};

use super::error::PgError;
use super::values::{EPOCH_DAYS, EPOCH_MICROS};

/// Maximum nesting of binary arrays.
const DEPTH_MAX: usize = 6;
const DAY_MICROS: i64 = 86_400_000_000;
/// Arrow's name of the type of an interval.
const INTERVAL: &str = "Interval(MonthDayNano)";

fn wrong(oid: u32, what: &str) -> PgError {
    PgError::new("22P02", format!("a parameter of type {oid} {what}"))
}

/// Parses a value in text format.
pub(super) fn text(oid: u32, bytes: &[u8]) -> Result<Literal, PgError> {
    let text = std::str::from_utf8(bytes).map_err(|_| PgError::new("22021", "a parameter is not valid UTF-8"))?;
    let typed = |of: &str| Ok(Literal::Typed(text.to_owned(), of.to_owned()));
    match oid {
        0 => Ok(Literal::Untyped(text.to_owned())),
        16 => match boolean_of(text) {
            Some(value) => Ok(Literal::Bool(value)),
            None => Err(wrong(oid, &format!("is {text:?}, neither true nor false"))),
        },
        20 | 21 | 23 | 26 => match text.trim().parse::<i64>() {
            Ok(number) => Ok(Literal::Number(number.to_string())),
            Err(_) => Err(wrong(oid, &format!("is {text:?}, not a whole number"))),
        },
        700 | 701 => {
            let text = text.trim();
            let number = if oid == 700 { text.parse::<f32>().map(f64::from) } else { text.parse() };
            number.map(Literal::real).map_err(|_| wrong(oid, &format!("is {text:?}, not a number")))
        }
        1700 => decimal(text.trim()),
        1082 => typed("Date32"),
        1083 => typed("Time64(Microsecond)"),
        1114 => typed("Timestamp(Microsecond, None)"),
        1184 => typed("Timestamp(Microsecond, Some(\"UTC\"))"),
        1186 => typed(INTERVAL),
        17 => hex(text).map(Literal::Bytes).ok_or_else(|| wrong(oid, "is not in hexadecimal form")),
        _ => match item_of(oid) {
            Some(item) => array(item, text),
            None => Ok(Literal::Text(text.to_owned())),
        },
    }
}

/// The element type of an array type.
fn item_of(oid: u32) -> Option<u32> {
    Some(match oid {
        1000 => 16,
        1001 => 17,
        1005 => 21,
        1007 => 23,
        1009 | 1014 | 1015 | 1003 => 25,
        1016 => 20,
        1021 => 700,
        1022 => 701,
        1028 => 26,
        1115 => 1114,
        1182 => 1082,
        1183 => 1083,
        1185 => 1184,
        1187 => 1186,
        1231 => 1700,
        2951 => 2950,
        _ => return None,
    })
}

fn decimal(text: &str) -> Result<Literal, PgError> {
    if matches!(text.to_lowercase().as_str(), "nan" | "infinity" | "-infinity") {
        return Ok(Literal::Typed(text.to_owned(), "Float64".to_owned()));
    }
    let digits = text.trim_start_matches(['-', '+']);
    let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if !(is_digits(whole) && is_digits(fraction) && whole.len() + fraction.len() > 0) {
        let plain = without_exponent(text).filter(|plain| plain != text);
        return decimal(&plain.ok_or_else(|| wrong(1700, &format!("is {text:?}, not a number")))?);
    }
    let precision = whole.len() + fraction.len();
    if precision > 38 {
        return Err(PgError::new("22003", format!("{text} has more than 38 digits")));
    }
    Ok(Literal::Typed(text.to_owned(), format!("Decimal128({}, {})", precision.max(1), fraction.len())))
}

/// Writes `-1.5e-3` as `-0.0015`; `None` for other text, or if there are too many digits.
fn without_exponent(text: &str) -> Option<String> {
    let (number, exponent) = text.split_once(['e', 'E'])?;
    let exponent = exponent.parse::<i32>().ok().filter(|e| e.abs() <= 40)?;
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let zeros = "0".repeat(exponent.unsigned_abs() as usize);
    let all = if exponent < 0 { format!("{zeros}{whole}{fraction}") } else { format!("{whole}{fraction}{zeros}") };
    let point = if exponent < 0 { whole.len() } else { whole.len() + exponent as usize };
    let whole = all.get(..point)?.trim_start_matches('0');
    let fraction =
        all.get(point..)?.get(..fraction.len().saturating_add_signed(-exponent as isize)).unwrap_or_default();
    Some(format!("{sign}{}.{fraction}", if whole.is_empty() { "0" } else { whole }).trim_end_matches('.').to_owned())
}

/// Parses `{a,"b c",NULL}`.
fn array(item: u32, input: &str) -> Result<Literal, PgError> {
    let no_list = || PgError::new("22P02", format!("{input:?} is not a list: write {{a,b}}"));
    let items = sql::texts_of(input).ok_or_else(no_list)?;
    let items = items.into_iter().map(|value| match value {
        None => Ok(Literal::Null),
        Some(value) => text(item, value.as_bytes()),
    });
    items.collect::<Result<_, _>>().map(Literal::List)
}

/// Parses a value in binary format.
pub(super) fn binary(oid: u32, bytes: &[u8]) -> Result<Literal, PgError> {
    binary_at(oid, bytes, 0)
}

fn fixed<const N: usize>(oid: u32, bytes: &[u8]) -> Result<[u8; N], PgError> {
    bytes.try_into().map_err(|_| wrong(oid, &format!("has {} bytes instead of {N}", bytes.len())))
}

fn binary_at(oid: u32, bytes: &[u8], depth: usize) -> Result<Literal, PgError> {
    let number = |number: i64| Ok(Literal::Number(number.to_string()));
    let far = || wrong(oid, "is a time out of range");
    match oid {
        16 => Ok(Literal::Bool(fixed::<1>(oid, bytes)? != [0])),
        20 => number(i64::from_be_bytes(fixed(oid, bytes)?)),
        21 => number(i16::from_be_bytes(fixed(oid, bytes)?).into()),
        23 => number(i32::from_be_bytes(fixed(oid, bytes)?).into()),
        26 => number(u32::from_be_bytes(fixed(oid, bytes)?).into()),
        700 => Ok(Literal::real(f32::from_be_bytes(fixed(oid, bytes)?).into())),
        701 => Ok(Literal::real(f64::from_be_bytes(fixed(oid, bytes)?))),
        1082 => {
            let days = i32::from_be_bytes(fixed(oid, bytes)?).checked_add(EPOCH_DAYS);
            let date = days.and_then(NaiveDate::from_epoch_days).ok_or_else(far)?;
            text(oid, date.to_string().as_bytes())
        }
        1083 => {
            let micros = i64::from_be_bytes(fixed(oid, bytes)?);
            let time = (0..DAY_MICROS).contains(&micros).then(|| DateTime::from_timestamp_micros(micros)).flatten();
            text(oid, time.ok_or_else(far)?.format("%H:%M:%S%.6f").to_string().as_bytes())
        }
        1114 | 1184 => {
            let micros = i64::from_be_bytes(fixed(oid, bytes)?).checked_add(EPOCH_MICROS);
            let time = micros.and_then(DateTime::from_timestamp_micros).ok_or_else(far)?;
            let zone = if oid == 1184 { "Z" } else { "" };
            text(oid, format!("{}{zone}", time.format("%Y-%m-%dT%H:%M:%S%.6f")).as_bytes())
        }
        1700 => decimal(&numeric(bytes).ok_or_else(|| wrong(oid, "is malformed"))?),
        17 => Ok(Literal::Bytes(bytes.to_vec())),
        1186 => interval(bytes),
        // The first byte is a version.
        3802 => text(25, bytes.strip_prefix(b"\x01").ok_or_else(|| wrong(oid, "has an unknown version"))?),
        0 | 18 | 19 | 25 | 114 | 705 | 1042 | 1043 => text(25, bytes),
        2950 => {
            let digits = fixed::<16>(oid, bytes)?.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
            let parts = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
            Ok(Literal::Text(parts.join("-")))
        }
        _ if item_of(oid).is_some() => list(oid, bytes, depth + 1),
        _ => Err(PgError::unsupported(format!("parameters of type {oid} are not supported in binary form"))),
    }
}

/// Microseconds, days and months.
fn interval(bytes: &[u8]) -> Result<Literal, PgError> {
    let mut bytes = &fixed::<16>(1186, bytes)?[..];
    let (micros, days, months) = (bytes.get_i64(), bytes.get_i32(), bytes.get_i32());
    let sign = if micros < 0 { "-" } else { "" };
    let (seconds, micros) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
    let text = format!("{months} months {days} days {sign}{seconds}.{micros:06} seconds");
    Ok(Literal::Typed(text, INTERVAL.to_owned()))
}

/// Parses `\xa0ff`.
fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.strip_prefix("\\x")?.as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let byte = |pair: &[u8]| match pair {
        [a, b] => Some(digit(*a)? << 4 | digit(*b)?),
        _ => None,
    };
    digits.chunks(2).map(byte).collect()
}

/// Converts base-10000 digits to text.
fn numeric(mut bytes: &[u8]) -> Option<String> {
    if bytes.len() < 8 {
        return None;
    }
    let (groups, weight) = (usize::from(bytes.get_u16()), bytes.get_i16());
    let (sign, scale) = (bytes.get_u16(), usize::from(bytes.get_u16()));
    match sign {
        0xc000 => return Some("NaN".to_owned()),
        0xd000 => return Some("Infinity".to_owned()),
        0xf000 => return Some("-Infinity".to_owned()),
        _ => {}
    }
    if bytes.len() != groups * 2 || scale > 1000 || !(-300..300).contains(&weight) {
        return None;
    }
    let groups: Vec<u16> = (0..groups).map(|_| bytes.get_u16()).collect();
    let digit = |place: i32| {
        let group = i32::from(weight) - place;
        usize::try_from(group).ok().and_then(|group| groups.get(group)).copied().unwrap_or(0)
    };
    let four = |place: i32| format!("{:04}", digit(place));
    let whole = (0..=i32::from(weight).max(0)).rev().map(four).collect::<Vec<_>>().concat();
    let fraction = (1..=scale.div_ceil(4) as i32).map(|place| four(-place)).collect::<Vec<_>>().concat();
    let whole = whole.trim_start_matches('0');
    let sign = if sign == 0x4000 { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{}", &fraction[..scale]) })
}

fn list(oid: u32, mut bytes: &[u8], depth: usize) -> Result<Literal, PgError> {
    let short = || wrong(oid, "ends too early");
    let number = |bytes: &mut &[u8]| if bytes.len() >= 4 { Ok(bytes.get_i32()) } else { Err(short()) };
    let (dimensions, _, item) = (number(&mut bytes)?, number(&mut bytes)?, number(&mut bytes)?);
    if dimensions == 0 {
        return Ok(Literal::List(Vec::new()));
    }
    if dimensions != 1 || depth > DEPTH_MAX {
        return Err(PgError::unsupported("lists of lists are not supported"));
    }
    let (count, _) = (number(&mut bytes)?, number(&mut bytes)?);
    let mut items = Vec::new();
    for _ in 0..count {
        let length = number(&mut bytes)?;
        items.push(match usize::try_from(length) {
            Err(_) => Literal::Null,
            Ok(length) if length <= bytes.len() => {
                let (value, rest) = bytes.split_at(length);
                bytes = rest;
                binary_at(item as u32, value, depth)?
            }
            Ok(_) => return Err(short()),
        });
    }
    Ok(Literal::List(items))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str, of: &str) -> Literal {
        Literal::Typed(text.to_owned(), of.to_owned())
    }

    #[test]
    fn values_mean_the_same_in_text_and_in_binary() {
        let word = |text: &str| Literal::Text(text.to_owned());
        let list =
            [&1_i32.to_be_bytes()[..], &[0; 4], &25_i32.to_be_bytes(), &3_i32.to_be_bytes(), &1_i32.to_be_bytes()];
        let items: [&[u8]; 3] = [b"\0\0\0\x01a", b"\xff\xff\xff\xff", b"\0\0\0\x03b\"c"];
        let list = [list.concat(), items.concat()].concat();
        for (oid, text_form, binary_form, value) in [
            (23, "-7", (-7_i32).to_be_bytes().to_vec(), Literal::Number("-7".to_owned())),
            (16, "t", vec![1], Literal::Bool(true)),
            (701, "0.5", 0.5_f64.to_be_bytes().to_vec(), typed("0.5", "Float64")),
            (25, "it's", b"it's".to_vec(), word("it's")),
            (1082, "2000-01-02", 1_i32.to_be_bytes().to_vec(), typed("2000-01-02", "Date32")),
            (
                1700,
                "-12345.678",
                vec![0, 3, 0, 1, 0x40, 0, 0, 3, 0, 1, 9, 41, 26, 124],
                typed("-12345.678", "Decimal128(8, 3)"),
            ),
            (17, "\\x00fF", vec![0, 255], Literal::Bytes(vec![0, 255])),
            (
                1186,
                "1 months -2 days -0.500000 seconds",
                [&(-500_000_i64).to_be_bytes()[..], &(-2_i32).to_be_bytes(), &1_i32.to_be_bytes()].concat(),
                typed("1 months -2 days -0.500000 seconds", INTERVAL),
            ),
            (3802, "{}", b"\x01{}".to_vec(), word("{}")),
            (1009, r#"{a,NULL,"b\"c"}"#, list, Literal::List(vec![word("a"), Literal::Null, word("b\"c")])),
        ] {
            assert_eq!(text(oid, text_form.as_bytes()).unwrap(), value, "{oid}");
            assert_eq!(binary(oid, &binary_form).unwrap(), value, "{oid}");
        }
        for (exponent, plain) in
            [("1E-7", "0.0000001"), ("-1.5e2", "-150"), ("1.25e1", "12.5"), ("12.5e-1", "1.25"), ("0e0", "0")]
        {
            assert_eq!(text(1700, exponent.as_bytes()).unwrap(), text(1700, plain.as_bytes()).unwrap());
        }
        let time = typed("2000-01-01T00:00:00.000001Z", "Timestamp(Microsecond, Some(\"UTC\"))");
        assert_eq!(binary(1184, &1_i64.to_be_bytes()).unwrap(), time);
        let of_day = typed("23:59:59.999999", "Time64(Microsecond)");
        assert_eq!(binary(1083, &(DAY_MICROS - 1).to_be_bytes()).unwrap(), of_day);
        assert_eq!(binary(1083, &DAY_MICROS.to_be_bytes()).unwrap_err().code, "22P02");
        assert_eq!(text(1009, b"{}").unwrap(), Literal::List(Vec::new()));
        for (oid, wrong) in [
            (23, "1.5"),
            (16, "maybe"),
            (1009, "a,b"),
            (1009, "{a,,b}"),
            (1009, "{\"a}"),
            (1700, "1,5"),
            (17, "\\x0"),
            (17, "00"),
        ] {
            assert_eq!(text(oid, wrong.as_bytes()).unwrap_err().code, "22P02", "{wrong}");
        }
        for (oid, wrong) in [(23, &b"\0\0"[..]), (1009, b"\0\0\0\x01"), (1700, b"\0\x05\0\0\0\0\0\0")] {
            assert_eq!(binary(oid, wrong).unwrap_err().code, "22P02");
        }
    }

    #[test]
    fn lists_within_lists_end_at_a_depth() {
        let list_of = |value: Vec<u8>| {
            let length = value.len() as i32;
            let head = [1, 0, 1009, 1, 1, length].map(i32::to_be_bytes);
            [head.concat(), value].concat()
        };
        let nested = |levels: usize| (0..levels).fold(vec![0; 12], |value, _| list_of(value));
        assert!(binary(1009, &nested(DEPTH_MAX)).is_ok());
        for levels in [DEPTH_MAX + 1, 1_000] {
            assert_eq!(binary(1009, &nested(levels)).unwrap_err().code, "0A000", "{levels}");
        }
    }
}
