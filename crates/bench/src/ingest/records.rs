//! The loaded tables, and the records of a request.
//!
//! A record has a time in microseconds, one of 1,000 hosts, and three values from 0 to 99.99 with two decimals: 6.2
//! bytes of entropy besides the time. Values are uniform, so an encoding can only save width.

pub(crate) const HOSTS: u32 = 1_000;
/// Number of values of a field, in hundredths.
pub(crate) const HUNDREDTHS: u32 = 10_000;

/// A loaded table, and its three fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Measurement {
    pub(crate) name: String,
    pub(crate) fields: [&'static str; 3],
}

/// The first `count` measurements: cpu, mem, disk, cpu2, mem2 and so on.
pub(crate) fn measurements(count: usize) -> Vec<Measurement> {
    const KINDS: [(&str, [&str; 3]); 3] = [
        ("cpu", ["usage_user", "usage_system", "usage_idle"]),
        ("mem", ["used", "cached", "available"]),
        ("disk", ["used", "read_busy", "write_busy"]),
    ];
    let of = |place: usize| {
        let (kind, fields) = KINDS[place % KINDS.len()];
        let round = place / KINDS.len() + 1;
        Measurement { name: if round == 1 { kind.to_owned() } else { format!("{kind}{round}") }, fields }
    };
    (0..count).map(of).collect()
}

/// Records of one request, by column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Records {
    /// Microseconds since 1970, ascending.
    pub(crate) times: Vec<i64>,
    /// Numbers of hosts, below [`HOSTS`].
    pub(crate) hosts: Vec<u16>,
    /// The fields, in hundredths.
    pub(crate) values: [Vec<u16>; 3],
}
