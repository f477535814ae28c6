//! One constructor for each warning.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::source::Spanned;

pub fn not_allowed(code: &Spanned<Arc<str>>, is_error: bool, nearest: Option<&str>) -> Diagnostic {
    let message = if is_error { format!("the error {} cannot be allowed", code.node) } else { format!("there is no code `{}`", code.node) };
    let warning = Diagnostic::warning("W0613", message, code.span);
    match nearest {
        Some(nearest) => warning.help(format!("did you mean `{nearest}`?")),
        None => warning.help("only warnings can be allowed; their codes stand in brackets before the message, as in `warning[W0604]`"),
    }
}
