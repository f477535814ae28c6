//! Rules of annotations: `?`, `in K chunks`, formats of files.

use std::sync::Arc;

use crate::check::faults;
use crate::diagnostic::Diagnostic;
use crate::source::Spanned;
use crate::syntax::ast::{Expr, ExprKind, Name};

/// Whether `?` may stand after an expression: where not all operands are needed for the value.
pub fn may_be_non_strict(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::If { .. } | ExprKind::And(_) | ExprKind::Or(_) | ExprKind::Not(_) | ExprKind::Comparison(..) | ExprKind::Bool(_) => true,
        ExprKind::Group(inner) => may_be_non_strict(inner),
        _ => false,
    }
}

/// The most chunks of a statement; each is a task of its own.
const MOST_CHUNKS: u32 = 100_000;

/// The number of chunks: at least one.
pub fn chunks(digits: &Spanned<Arc<str>>) -> Result<u32, Diagnostic> {
    match digits.node.parse::<u32>() {
        Ok(0) => Err(faults::no_chunks(digits.span)),
        Ok(count) if count <= MOST_CHUNKS => Ok(count),
        Ok(_) | Err(_) => Err(faults::too_many_chunks(digits.span, MOST_CHUNKS)),
    }
}

/// The first input that cannot be split because it is not a name with accessors.
pub fn unchunkable_input(inputs: &[Expr]) -> Option<Diagnostic> {
    let input = inputs.iter().find(|input| !is_reference(input))?;
    Some(faults::chunks_of_expression(input.span))
}

fn is_reference(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Reference(_) => true,
        ExprKind::Key(base, _) | ExprKind::Index(base, _) | ExprKind::Slice(base, _) => is_reference(base),
        _ => false,
    }
}

/// Why nothing can be read from a path or written to it.
pub fn file_format(path: &Name) -> Option<Diagnostic> {
    match suffix(&path.node) {
        _ if path.node.is_empty() => Some(faults::empty_path(path.span)),
        Some("json" | "yaml" | "yml" | "csv" | "tsv") => None,
        _ => Some(faults::file_format(path)),
    }
}

/// Whether a file holds cells, which only tables and series have.
pub fn is_separated(path: &str) -> bool {
    matches!(suffix(path), Some("csv" | "tsv"))
}

/// The last suffix that tells the format; `.zz` only says that the file is compressed.
fn suffix(path: &str) -> Option<&str> {
    let path = path.strip_suffix(".zz").unwrap_or(path);
    path.rsplit_once('.').map(|(_, suffix)| suffix)
}
