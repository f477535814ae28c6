//! The faults of a text that is not SCL, one constructor each.
//!
//! | codes | of |
//! |---|---|
//! | E0101 – E0109 | characters, strings, comments, brackets |
//! | E0110 – E0129 | statements and expressions |
//! | E0130 – E0139 | resource annotations |
//! | E0140 – E0149 | bare expressions |
//! | E0190 – E0199 | what is not supported, and how many more there are |

use super::ast::{CompareOp, Expr, ExprKind};
use crate::diagnostic::{Diagnostic, nearest};
use crate::source::Span;

/// A character that begins no token.
pub(super) fn invalid_character(at: Span, found: char) -> Diagnostic {
    let shown = if found.is_control() || found.is_whitespace() { format!("U+{:04X}", found as u32) } else { format!("`{found}`") };
    let fault = Diagnostic::error("E0101", format!("the character {shown} has no meaning here"), at);
    match replacement(found) {
        Some(help) => fault.help(help),
        None => fault,
    }
}

/// What is written instead of characters that other languages, or word processors, use.
fn replacement(found: char) -> Option<&'static str> {
    Some(match found {
        '^' => "a power is written `**`",
        '%' => "there is no remainder operator; a percentage is a number with the unit `[percent]`",
        '&' => "write `and`",
        '|' => "write `or`",
        '!' => "write `not`, or `!=` to compare",
        '≤' => "write `<=`",
        '≥' => "write `>=`",
        '≠' => "write `!=`",
        '×' | '·' | '⋅' => "write `*`",
        '÷' => "write `/`",
        '−' | '–' | '—' => "write `-`",
        '‘' | '’' | '“' | '”' | '„' | '«' | '»' | '`' => "a string stands between `'` or `\"`",
        '\u{A0}' => "this looks like a blank, but is a no-break space",
        _ => return None,
    })
}

/// A string that does not end.
pub(super) fn unterminated_string(opening: Span, quote: char) -> Diagnostic {
    let help = format!("put a closing `{quote}`; within the string it is written `\\{quote}`");
    Diagnostic::error("E0102", "the string is not closed", opening).here("it begins here").help(help)
}

/// A block comment that does not end.
pub(super) fn unterminated_comment(opening: Span) -> Diagnostic {
    Diagnostic::error("E0103", "the comment is not closed", opening).here("it begins here").help("put `\"\"\"` at its end")
}

/// `name@` without a proper identifier behind.
pub(super) fn malformed_reuse(at: Span) -> Diagnostic {
    Diagnostic::error("E0104", "a variable of another model is written as its name, `@` and 32 hexadecimal digits", at)
}

/// Nested beyond the budget.
pub(super) fn too_deep(at: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0105", "the statement is nested too deep", at).here("the limit is reached here");
    fault.help("give parts of it names of their own")
}

/// A bracket that is open at the end of its statement, or closed by another kind.
pub(super) fn unclosed(at: Span, opener: Span, bracket: &Bracket, found: &str) -> Diagnostic {
    let message = format!("expected `{}` to close the {}{found}", bracket.closer, bracket.noun);
    let fault = Diagnostic::error("E0106", message, at).here(if found.is_empty() { "expected after this" } else { "" });
    fault.label(opener, format!("the {} opened here", bracket.noun))
}

/// The words for a kind of bracket.
pub(super) struct Bracket {
    /// What it is called.
    pub(super) noun: &'static str,
    /// What ends it.
    pub(super) closer: char,
}

/// A closing bracket too many.
pub(super) fn unopened(at: Span, closer: &str) -> Diagnostic {
    Diagnostic::error("E0107", format!("`{closer}` closes nothing"), at)
}

/// Brackets with nothing in them.
pub(super) fn empty_brackets(brackets: Span, wanted: &str) -> Diagnostic {
    Diagnostic::error("E0108", format!("expected {wanted} between the brackets"), brackets).here("there is nothing")
}

/// An operand is missing.
pub(super) fn expected_expression(at: Span, after: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0110", format!("expected an expression after `{after}`{found}"), at)
}

/// Something else was expected.
pub(super) fn expected(at: Span, wanted: &str, after: &str, found: &str) -> Diagnostic {
    Diagnostic::error("E0111", format!("expected {wanted} after `{after}`{found}"), at)
}

/// What cannot follow what stands before it.
pub(super) fn unexpected(at: Span, found: &str, after: &str) -> Diagnostic {
    Diagnostic::error("E0112", format!("`{found}` cannot follow `{after}`"), at)
}

/// No statement begins like this.
pub(super) fn not_a_statement(at: Span, found: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0113", format!("`{found}` cannot start a statement"), at);
    fault.help("a statement defines something (`name = …`), prints, views, imports, exports, varies or tags")
}

/// A line that goes on where the one before was complete.
pub(super) fn not_a_continuation(at: Span, found: &str, before: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0113", format!("`{found}` cannot start a statement, nor continue the one before"), at);
    fault.label(before, "the statement before ends here").help("define something (`name = …`) or print it (`print(…)`)")
}

/// `a == 1` as a statement.
pub(super) fn expression_as_statement(expr: &Expr) -> Diagnostic {
    let fault = Diagnostic::error("E0114", "an expression is not a statement", expr.span);
    match &expr.kind {
        ExprKind::Comparison(left, operator, _) if operator.node == CompareOp::Equal && matches!(left.kind, ExprKind::Reference(_)) => {
            fault.help("write `=` to define the name, or print the comparison: `print(…)`")
        }
        ExprKind::Call { function, .. } if nearest(&function.node, ["print"]).is_some() => fault.help("did you mean `print(…)`?"),
        _ => fault.help("print it (`print(…)`) or give it a name (`name = …`)"),
    }
}

/// A reserved word as a name.
pub(super) fn reserved_word(at: Span, word: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0115", format!("`{word}` is a reserved word"), at).here("it cannot be used as a name");
    fault.help(format!("choose another name; only as a key it may be quoted: `'{word}'`"))
}

/// A function of the language without its arguments.
pub(super) fn reserved_function(at: Span, word: &str, form: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0115", format!("`{word}` is a reserved word"), at).here("it cannot stand alone");
    fault.help(format!("write `{form}`"))
}

/// `1 < x < 3`
pub(super) fn chained_comparison(at: Span, first: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0116", "comparisons cannot be chained", at).label(first, "the first comparison");
    fault.help("compare twice and join with `and`, as in `a < b and b < c`")
}

/// `in n chunks`
pub(super) fn chunk_count(at: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0117", "the number of chunks must be a positive integer literal", at);
    fault.help("write a number such as `in 4 chunks`")
}

/// `x in 2 chunks`
pub(super) fn misplaced_chunks(at: Span) -> Diagnostic {
    let message = "only `map(…)`, `filter(…)` and `reduce(…)` can be split into chunks";
    Diagnostic::error("E0118", message, at).help("`in K chunks` comes directly after the closing parenthesis, before `for` and `on`")
}

/// `x [m]` outside print.
pub(super) fn unit_of_value(at: Span) -> Diagnostic {
    let message = "a unit can only follow a number, a series or an array, and what is printed or viewed";
    Diagnostic::error("E0119", message, at)
        .help("to give a value a unit, multiply it, as in `x * 1 [m]`; an index must be an integer literal")
}

/// `f(x)[0]`
pub(super) fn accessor_of_value(at: Span, accessor: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0120", format!("`{accessor}` can only follow a name"), at);
    fault.help("give the value before it a name, and use that")
}

/// `2x`
pub(super) fn glued_number(at: Span, number: &str, word: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0121", format!("`{word}` cannot follow the number `{number}` directly"), at);
    match word {
        "j" | "J" => fault.help(format!("the imaginary unit stands after a blank: `{number} {word}`")),
        _ if !word.chars().all(char::is_alphabetic) => {
            fault.help("a name cannot begin with a digit, and a number is written with digits, a point and an exponent only")
        }
        _ => fault.help(format!("a unit stands in brackets, `{number} [{word}]`, and a product has its sign, `{number}*{word}`")),
    }
}

/// Two statements on one line.
pub(super) fn missing_separator(at: Span, found: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0122", format!("expected `;` or a new line before `{found}`"), at);
    fault.here("another statement begins here")
}

/// An import of a form that does not exist.
pub(super) fn import_form(at: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0123", "an import says what is imported, and from which module", at);
    fault.help("write `use name, … from module`, `from module use name, …` or `use module.name`")
}

/// `map((x), s)`
pub(super) fn lambda_form(at: Span, opener: Span, function: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0124", format!("the first parameter of `{function}` must be a function"), at);
    let help = "write the name of a function, or a lambda with its parameters before a colon, as in `(x, y: x + y)`";
    fault.label(opener, "a lambda would begin here").help(help)
}

/// `Tabel from file …`
pub(super) fn unknown_source(at: Span, word: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0125", format!("`{word}` cannot be read from a file"), at);
    match nearest(word, SOURCES) {
        Some(source) => fault.help(format!("did you mean `{source}`?")),
        None => fault.help(format!("what can be read: {}", SOURCES.join(", "))),
    }
}

/// What a file can hold.
const SOURCES: [&str; 11] =
    ["Quantity", "Bool", "String", "Series", "Table", "BoolArray", "StrArray", "IntArray", "FloatArray", "ComplexArray", "Structure"];

/// `7 // 2`
pub(super) fn floor_division(at: Span) -> Diagnostic {
    Diagnostic::error("E0126", "there is no operator `//`", at)
        .help("a quotient is `/`; to round it, import a function such as `floor`; a comment begins with `#`")
}

/// `if(a = 1, …)`
pub(super) fn define_in_expression(at: Span) -> Diagnostic {
    Diagnostic::error("E0127", "`=` cannot stand within an expression", at).help("to compare, write `==`")
}

/// `a = 1, 2`
pub(super) fn bare_comma(at: Span) -> Diagnostic {
    Diagnostic::error("E0128", "a list needs brackets", at).help("a tuple is `(a, b)`, an array `[1, 2]`, a series `(name: 1, 2)`")
}

/// A name at the beginning, and then nothing that makes a statement of it.
pub(super) fn headless(at: Span, found: &str, after: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0129", format!("`{found}` cannot follow `{after}` at the beginning of a statement"), at);
    fault.help("a statement defines something (`name = …`), prints, views, imports, exports (`name to file 'path'`), varies or tags")
}

/// `for …` or `on …` twice.
pub(super) fn repeated_annotation(word: &str, first: Span, again: Span) -> Diagnostic {
    Diagnostic::error("E0130", format!("`{word}` is given twice"), again).label(first, "the first time")
}

/// `on 2` without a word behind.
pub(super) fn missing_core(count: Span) -> Diagnostic {
    Diagnostic::error("E0131", "expected `cores` or `core` after the number of cores", count)
}

/// `with …` where no `on …` stands before.
pub(super) fn memory_without_cores(at: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0132", "`with` can only follow `on … cores`", at);
    fault.help("the memory is per core: `on 2 cores with 3 [GB]`")
}

/// A resource annotation on what is no variable.
pub(super) fn misplaced_annotation(at: Span) -> Diagnostic {
    let fault = Diagnostic::error("E0133", "only the definition or update of a variable can have a resource annotation", at);
    fault.help("it stands at the end of the statement: `name = … for 1 [hour] on 2 cores`")
}

/// No expression where one was asked for.
pub(super) fn no_expression(at: Span) -> Diagnostic {
    Diagnostic::error("E0140", "expected an expression", at)
}

/// More than one expression where one was asked for.
pub(super) fn second_expression(at: Span) -> Diagnostic {
    Diagnostic::error("E0141", "expected one expression only", at).here("another one begins here")
}

/// Atomistic and chemical modelling.
pub(super) fn unsupported(at: Span, word: &str) -> Diagnostic {
    Diagnostic::error("E0190", format!("`{word}` is not supported yet"), at)
}

/// A text too long for its places to be numbered.
pub(super) fn too_long(at: Span) -> Diagnostic {
    Diagnostic::error("E0198", "the text is longer than 4 GiB", at)
}

/// Stands for those that are not shown.
pub(super) fn more(count: usize, next: Span) -> Diagnostic {
    let plural = if count == 1 { "" } else { "s" };
    Diagnostic::error("E0199", format!("and {count} more syntax error{plural}"), next).here("the next one")
}
