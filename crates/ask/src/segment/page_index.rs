//! Rows and bounds of a column's pages, from the page index.

use std::ops::Range;

use parquet::file::page_index::column_index::ColumnIndexMetaData;
use parquet::file::page_index::offset_index::PageLocation;

use crate::column::Kind;
use crate::prune::{Bound, Nulls, Summary};

/// The rows of a page of a row group.
pub(super) fn page_rows(pages: &[PageLocation], page: usize, group_rows: usize) -> Range<usize> {
    let start = |page: &PageLocation| page.first_row_index as usize;
    start(&pages[page])..pages.get(page + 1).map_or(group_rows, start)
}

pub(super) fn page_summary(index: &ColumnIndexMetaData, page: usize, rows: u64, kind: Kind) -> Summary {
    if matches!(index, ColumnIndexMetaData::NONE) || page as u64 >= index.num_pages() {
        return Summary::default();
    }
    if index.is_null_page(page) {
        return Summary { nulls: Nulls::All, ..Summary::default() };
    }
    let nulls = Nulls::of(index.null_count(page).map(|n| n as u64), rows);
    let text = |bytes: Option<&[u8]>| std::str::from_utf8(bytes?).ok().map(|text| Bound::Text(text.to_owned()));
    let (low, high) = match index {
        ColumnIndexMetaData::BOOLEAN(i) if kind == Kind::Bool => {
            (i.min_value(page).map(|v| Bound::Int(i64::from(*v))), i.max_value(page).map(|v| Bound::Int(i64::from(*v))))
        }
        ColumnIndexMetaData::INT32(i) if kind.is_whole() => {
            (i.min_value(page).map(|v| Bound::Int(i64::from(*v))), i.max_value(page).map(|v| Bound::Int(i64::from(*v))))
        }
        ColumnIndexMetaData::INT64(i) if kind.is_whole() => {
            (i.min_value(page).map(|v| Bound::Int(*v)), i.max_value(page).map(|v| Bound::Int(*v)))
        }
        ColumnIndexMetaData::FLOAT(i) if kind == Kind::Float => (
            i.min_value(page).map(|v| Bound::Float(f64::from(*v))),
            i.max_value(page).map(|v| Bound::Float(f64::from(*v))),
        ),
        ColumnIndexMetaData::DOUBLE(i) if kind == Kind::Float => {
            (i.min_value(page).map(|v| Bound::Float(*v)), i.max_value(page).map(|v| Bound::Float(*v)))
        }
        ColumnIndexMetaData::BYTE_ARRAY(i) if kind == Kind::Text => (text(i.min_value(page)), text(i.max_value(page))),
        _ => (None, None),
    };
    Summary { low, high, nulls }
}

/// The intersection of two lists of ranges.
pub(super) fn both(a: &[Range<usize>], b: &[Range<usize>]) -> Vec<Range<usize>> {
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < a.len() && j < b.len() {
        let (from, to) = (a[i].start.max(b[j].start), a[i].end.min(b[j].end));
        if from < to {
            out.push(from..to);
        }
        if a[i].end < b[j].end { i += 1 } else { j += 1 }
    }
    out
}
