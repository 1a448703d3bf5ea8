//! Types and their numbers in PostgreSQL.

use arrow::datatypes::{DataType, Field, IntervalUnit};

use crate::literals::Literal;

#[derive(Debug)]
pub(super) struct Type {
    pub(super) oid: u32,
    pub(super) name: &'static str,
    /// Its name in SQL.
    pub(super) sql: &'static str,
    /// Bytes of a value; -1 if they vary.
    pub(super) length: i16,
    pub(super) category: &'static str,
    /// The number of its array type.
    pub(super) array: u32,
}

const fn ty(oid: u32, name: &'static str, sql: &'static str, length: i16, category: &'static str, array: u32) -> Type {
    Type { oid, name, sql, length, category, array }
}

pub(super) const TYPES: &[Type] = &[
    ty(16, "bool", "boolean", 1, "B", 1000),
    ty(17, "bytea", "bytea", -1, "U", 1001),
    ty(18, "char", "\"char\"", 1, "Z", 1002),
    ty(19, "name", "name", 64, "S", 1003),
    ty(20, "int8", "bigint", 8, "N", 1016),
    ty(21, "int2", "smallint", 2, "N", 1005),
    ty(23, "int4", "integer", 4, "N", 1007),
    ty(25, "text", "text", -1, "S", 1009),
    ty(26, "oid", "oid", 4, "N", 1028),
    ty(114, "json", "json", -1, "U", 199),
    ty(700, "float4", "real", 4, "N", 1021),
    ty(701, "float8", "double precision", 8, "N", 1022),
    ty(1042, "bpchar", "character", -1, "S", 1014),
    ty(1043, "varchar", "character varying", -1, "S", 1015),
    ty(1082, "date", "date", 4, "D", 1182),
    ty(1083, "time", "time without time zone", 8, "D", 1183),
    ty(1114, "timestamp", "timestamp without time zone", 8, "D", 1115),
    ty(1184, "timestamptz", "timestamp with time zone", 8, "D", 1185),
    ty(1186, "interval", "interval", 16, "T", 1187),
    ty(1700, "numeric", "numeric", -1, "N", 1231),
    ty(2950, "uuid", "uuid", 16, "U", 2951),
    ty(3802, "jsonb", "jsonb", -1, "U", 3807),
];

/// The PostgreSQL type that clients get for an Arrow type; JSON for types that PostgreSQL lacks.
pub fn oid_of(of: &DataType) -> u32 {
    match of {
        DataType::Boolean => 16,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => 17,
        DataType::Int64 | DataType::UInt32 => 20,
        DataType::Int8 | DataType::Int16 | DataType::UInt8 => 21,
        DataType::Int32 | DataType::UInt16 => 23,
        DataType::Float16 | DataType::Float32 => 700,
        DataType::Float64 => 701,
        DataType::Date32 | DataType::Date64 => 1082,
        DataType::Time32(_) | DataType::Time64(_) => 1083,
        DataType::Timestamp(_, None) => 1114,
        DataType::Timestamp(_, Some(_)) => 1184,
        DataType::UInt64
        | DataType::Decimal32(..)
        | DataType::Decimal64(..)
        | DataType::Decimal128(..)
        | DataType::Decimal256(..) => 1700,
        DataType::Dictionary(_, values) => oid_of(values),
        list if *list == oids() => 1028,
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let item = oid_of(item.data_type());
            TYPES.iter().find(|t| t.oid == item && item != JSON).map_or(JSON, |t| t.array)
        }
        DataType::Interval(_) | DataType::Duration(_) => 1186,
        DataType::Struct(_) | DataType::Map(..) | DataType::Union(..) => JSON,
        _ => 25,
    }
}

/// PostgreSQL's numbers of the types of JSON.
pub const JSON: u32 = 114;
pub const JSONB: u32 = 3802;

/// The PostgreSQL type that clients get for a field.
pub fn oid_of_field(field: &Field) -> u32 {
    let json = field.metadata().get(JSON_TYPE).and_then(|oid| oid.parse().ok());
    json.unwrap_or_else(|| oid_of(field.data_type()))
}

/// In the metadata of a field: the type of its texts, if they are JSON.
const JSON_TYPE: &str = "postgresql.json";

/// Whether the texts of a field are JSON.
pub(super) fn is_json(field: &Field) -> bool {
    field.metadata().contains_key(JSON_TYPE)
}

/// A field of JSON values, of the type `json` or, if its name begins so, `jsonb`.
pub(super) fn json_field(name: &str) -> Field {
    let of = if name.starts_with("jsonb") || name.ends_with("jsonb") { JSONB } else { JSON };
    Field::new(name, DataType::Utf8, true).with_metadata([(JSON_TYPE.to_owned(), of.to_string())].into())
}

/// The Arrow type of a list of numbers of PostgreSQL's catalogue (OIDs).
pub(crate) fn oids() -> DataType {
    DataType::new_list(DataType::UInt32, true)
}

/// The Arrow type of a parameter type; `None` if parameters cannot have it.
pub fn type_of(oid: u32) -> Option<DataType> {
    use arrow::datatypes::TimeUnit::Microsecond;
    Some(match oid {
        16 => DataType::Boolean,
        17 => DataType::Binary,
        20 | 26 => DataType::Int64,
        21 => DataType::Int16,
        23 => DataType::Int32,
        18 | 19 | 25 | 1042 | 1043 | 2950 | JSON | JSONB => DataType::Utf8,
        700 => DataType::Float32,
        701 => DataType::Float64,
        1082 => DataType::Date32,
        1083 => DataType::Time64(Microsecond),
        1114 => DataType::Timestamp(Microsecond, None),
        1184 => DataType::Timestamp(Microsecond, Some("UTC".into())),
        1700 => DataType::Decimal128(38, 10),
        1186 => DataType::Interval(IntervalUnit::MonthDayNano),
        list => DataType::new_list(type_of(TYPES.iter().find(|ty| ty.array == list)?.oid)?, true),
    })
}

/// NULL as the value of a parameter of a type. All integers are read as 64-bit integers and all real numbers as `Float64`,
/// so that arithmetic with them overflows no earlier than with a number written in the statement.
pub fn null(oid: u32) -> Literal {
    fn widest(of: &DataType) -> DataType {
        match of {
            DataType::Int16 | DataType::Int32 => DataType::Int64,
            DataType::Float32 => DataType::Float64,
            DataType::List(item) => DataType::new_list(widest(item.data_type()), true),
            other => other.clone(),
        }
    }
    type_of(oid).map_or(Literal::Null, |of| Literal::NullOf(widest(&of).to_string()))
}

/// Bytes of a value of a type; -1 if they vary.
pub fn length_of(oid: u32) -> i16 {
    TYPES.iter().find(|ty| ty.oid == oid).map_or(-1, |ty| ty.length)
}

/// The name of a type in `pg_type`; empty if unknown.
pub(super) fn name_of(oid: u32) -> String {
    let plain = TYPES.iter().find(|t| t.oid == oid).map(|t| t.name.to_owned());
    let list = || TYPES.iter().find(|t| t.array == oid).map(|t| format!("_{}", t.name));
    plain.or_else(list).unwrap_or_default()
}

/// The name of a type in SQL; `???` if unknown.
pub(super) fn written(oid: i64) -> String {
    let found = TYPES.iter().find(|t| i64::from(t.oid) == oid).map(|t| t.sql.to_owned());
    let list = || TYPES.iter().find(|t| i64::from(t.array) == oid).map(|t| format!("{}[]", t.sql));
    found.or_else(list).unwrap_or_else(|| "???".to_owned())
}

/// The number of a type, by any of its names.
pub(super) fn named(name: &str) -> Option<i64> {
    let name = name.trim().to_lowercase().replace('"', "");
    let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
    let (base, list) = match name.strip_suffix("[]").or_else(|| name.strip_prefix('_')) {
        Some(base) => (base, true),
        None => (name, false),
    };
    let base = match base.split('(').next().unwrap_or(base).trim() {
        "int" => "int4",
        "double" | "float" => "float8",
        "decimal" => "numeric",
        "char" => "bpchar",
        "string" => "text",
        other => other,
    };
    let found = TYPES.iter().find(|t| t.name == base || t.sql == base)?;
    Some(i64::from(if list { found.array } else { found.oid }))
}
