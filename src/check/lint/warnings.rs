//! One constructor for each warning.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::model::Variable;
use crate::source::{Span, Spanned};
use crate::syntax::ast::Name;

pub fn unused_variable(variable: &Variable) -> Diagnostic {
    let here = match variable.request {
        Some(_) => "nothing prints, exports or uses it, and its job is run all the same",
        None => "nothing prints, exports or uses it, so it is not computed",
    };
    Diagnostic::warning("W0606", format!("variable `{}` is not used", variable.name), variable.name_span)
        .here(here)
        .help(format!("print it or remove it; or call it `_{}` if that is meant", variable.name))
}

pub fn no_output(last: Span, has_jobs: bool) -> Diagnostic {
    let why = if has_jobs { "so only its jobs are run, and kept" } else { "so nothing is computed" };
    Diagnostic::warning("W0607", format!("this program prints and saves nothing, {why}"), last)
        .help("print the results, `print(…)`, or write them to files, `… to file 'name.yaml'`")
}

pub fn unused_import(name: &Name) -> Diagnostic {
    Diagnostic::warning("W0608", format!("import `{}` is not used", name.node), name.span).help("remove it")
}

pub fn shadowed(name: &str, parameter: Span, what: &str, outer: Span) -> Diagnostic {
    Diagnostic::warning("W0609", format!("parameter `{name}` hides {what} of the same name"), parameter)
        .here("within this function the name means the parameter")
        .label(outer, "hidden there")
        .help("choose another name for the parameter")
}

pub fn two_heavy_calls(first: Span, second: Span, request: Span) -> Diagnostic {
    Diagnostic::warning("W0610", "two calls that may take long share one job", second)
        .here("this could be a job of its own")
        .label(first, "beside this")
        .label(request, "one job, with these resources, for both")
        .help("give one of them a name of its own, and each its own resources")
}

pub fn trivial_job(variable: &Variable, request: Span) -> Diagnostic {
    Diagnostic::warning("W0611", format!("`{}` is too little work for a job", variable.name), request)
        .here("a job costs seconds to start, and minutes to hours in a queue")
        .label(variable.expr.span, "this takes microseconds")
        .help("remove the annotation; what has none is computed at once")
}

pub fn factor_of_one(factor: Span) -> Diagnostic {
    Diagnostic::warning("W0612", "this factor is 1: it only converts units by hand", factor)
        .help("sums and comparisons convert units by themselves; `print(x [unit])` shows x in any unit; `0 [unit] + x` is x in that unit")
}

pub fn not_allowed(code: &Spanned<Arc<str>>, is_error: bool, nearest: Option<&str>) -> Diagnostic {
    let message = if is_error { format!("the error {} cannot be allowed", code.node) } else { format!("there is no code `{}`", code.node) };
    let warning = Diagnostic::warning("W0613", message, code.span);
    match nearest {
        Some(nearest) => warning.help(format!("did you mean `{nearest}`?")),
        None => warning.help("only warnings can be allowed; their codes stand in brackets before the message, as in `warning[W0604]`"),
    }
}
