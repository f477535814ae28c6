//! One constructor for each fault that the checker finds.
//!
//! Codes: `E02xx` names, `E03xx` types and shapes, `E05xx` annotations, `E06xx` files and imports, `W…` warnings.

use std::sync::Arc;

use crate::builtin;
use crate::diagnostic::{Diagnostic, nearest};
use crate::model::{Comparison, Type};
use crate::source::{Span, Spanned};
use crate::syntax::ast::{Iterate, Name};
use crate::units::{Unit, UnitError};
use crate::value::Value;

pub mod dimensions;

/// Whose parameters a fault is about.
pub enum Owner {
    /// A function's.
    Function(Arc<str>),
    /// A lambda's.
    Lambda,
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Owner::Function(name) => write!(f, "function `{name}`"),
            Owner::Lambda => f.write_str("this lambda"),
        }
    }
}

fn did_you_mean(fault: Diagnostic, suggestion: Option<&str>) -> Diagnostic {
    match suggestion {
        Some(suggestion) => fault.help(format!("did you mean `{suggestion}`?")),
        None => fault,
    }
}

// names

pub fn unknown_name(span: Span, name: &str, suggestion: Option<&str>) -> Diagnostic {
    let fault = Diagnostic::error("E0201", format!("unknown name `{name}`"), span).here("not defined anywhere");
    match (foreign_name(name), module_of(name)) {
        (Some(help), _) => fault.help(help),
        (None, Some(module)) => fault.help(format!("import it: `use {name} from {module}`")),
        (None, None) if builtin::modules().any(|module| module == name) => {
            fault.help(format!("`{name}` is a module; import from it by name: `use … from {name}`"))
        }
        (None, None) => did_you_mean(fault, suggestion),
    }
}

pub fn unknown_name_in_condition(span: Span, name: &str) -> Diagnostic {
    Diagnostic::error("E0201", format!("unknown name `{name}`"), span)
        .here("not defined anywhere")
        .help(format!("a column of the queried table is written `column:{name}`"))
}

pub fn unknown_function(name: &Name, suggestion: Option<&str>) -> Diagnostic {
    let fault = Diagnostic::error("E0202", format!("unknown function `{}`", name.node), name.span).here("not defined anywhere");
    match module_of(&name.node) {
        Some(module) => fault.help(format!("import it: `use {} from {module}`", name.node)),
        None => did_you_mean(fault, suggestion.or_else(|| nearest(&name.node, LANGUAGE_FUNCTIONS))),
    }
}

/// Functions that are words of the language.
const LANGUAGE_FUNCTIONS: [&str; 10] = ["map", "filter", "reduce", "sum", "any", "all", "range", "real", "imag", "info"];

/// What values are called elsewhere, and how they are written here.
fn foreign_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "None" | "none" | "NULL" | "Null" | "nil" | "NA" | "NaN" | "missing" => "a missing value is `null`",
        "TRUE" | "FALSE" => "the booleans are `true` and `false`",
        _ => return None,
    })
}

/// The first native module that has the name.
fn module_of(name: &str) -> Option<&'static str> {
    builtin::modules().find(|module| builtin::import(module, name).is_some())
}

pub fn repeated_definition(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::error("E0203", format!("repeated definition of `{}`", name.node), name.span)
        .here("defined again")
        .label(first, "first defined here")
        .help("variables, functions and imports share one namespace, and each name is defined once")
}

/// Members of a long cycle that are shown.
const SHOWN_OF_CYCLE: usize = 12;

pub fn cycle(path: &[(&str, Span)], closing: Span) -> Diagnostic {
    let (first, defined) = path.first().copied().unwrap_or(("", closing));
    let mut fault = Diagnostic::error("E0204", format!("cyclic dependency: `{first}` needs its own value"), closing)
        .here(format!("this needs `{first}`"))
        .label(defined, format!("`{first}` is defined here"));
    let shown = path.get(..SHOWN_OF_CYCLE).unwrap_or(path);
    for (name, span) in shown.iter().skip(1) {
        fault = fault.label(*span, format!("through `{name}`"));
    }
    let more = path.len() - shown.len();
    let more = (more > 0).then(|| format!("… ({more} more)"));
    let names: Vec<&str> = shown.iter().map(|(name, _)| *name).chain(more.as_deref()).chain([first]).collect();
    fault.note(format!("the cycle is {}", names.join(" -> ")))
}

pub fn calls_too_deep(name: &str, span: Span, call: Span) -> Diagnostic {
    Diagnostic::error("E0205", format!("calls nest too deeply in function `{name}`"), span)
        .label(call, "the deepest of its calls")
        .help("assign intermediate results to variables")
}

pub fn no_parameters(name: &Name) -> Diagnostic {
    Diagnostic::error("E0206", format!("function `{}` has no parameter", name.node), name.span)
        .here("a function definition must have at least one parameter")
        .help(format!("a constant is a variable: `{} = …`", name.node))
}

pub fn repeated_parameter(parameter: &Name, first: Span, owner: &Owner) -> Diagnostic {
    Diagnostic::error("E0207", format!("duplicate parameter `{}` in {owner}", parameter.node), parameter.span)
        .label(first, "first used here")
}

pub fn unused_parameter(parameter: &Name, owner: &Owner) -> Diagnostic {
    Diagnostic::error("E0208", format!("parameter `{}` of {owner} is not used", parameter.node), parameter.span)
        .here("every parameter must occur in the body")
        .help("remove it, or use it")
}

pub fn function_as_value(span: Span, name: &str, defined: Span) -> Diagnostic {
    Diagnostic::error("E0209", format!("invalid use of function `{name}` as a value"), span)
        .label(defined, "it is defined here")
        .help(format!("call it, `{name}(…)`, or give its name to map, filter or reduce"))
}

pub fn not_callable(name: &Name, what: &str, defined: Option<Span>) -> Diagnostic {
    let fault = Diagnostic::error("E0210", format!("`{}` is not callable", name.node), name.span).here(format!("this is {what}"));
    let fault = fault.help("a function is defined as `name(x) = …`; in map, filter and reduce it stands first, then the series");
    match defined {
        Some(span) => fault.label(span, "defined here"),
        None => fault,
    }
}

pub fn unknown_import(name: &Name, module: &str) -> Diagnostic {
    let fault = Diagnostic::error("E0211", format!("`{}` could not be imported from `{module}`", name.node), name.span);
    let known: Vec<&str> = builtin::names(module).collect();
    if known.is_empty() {
        let fault = fault.here("there is no native module of that name");
        return match nearest(module, builtin::modules()) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault.note(format!("native modules: {}", builtin::modules().collect::<Vec<_>>().join(", "))),
        };
    }
    did_you_mean(fault.here("not among its native functions and constants"), nearest(&name.node, known))
}

pub fn reference_to_varied(span: Span, name: &str, defined: Span) -> Diagnostic {
    Diagnostic::error("E0212", format!("reference to series `{name}` in a vary statement"), span)
        .label(defined, "it only has a value in a group of persistent models, which are not supported yet")
}

pub fn reuse(span: Span, name: &str, uuid: &str) -> Diagnostic {
    Diagnostic::error("E0213", format!("reference `{name}@{uuid}` could not be resolved"), span)
        .here("reuse of another model's variable needs persistent models, which are not supported yet")
}

pub fn update_outside_workflow(span: Span) -> Diagnostic {
    Diagnostic::error("E0214", "variables can be updated in workflow mode only", span)
        .help("run without `--mode`, or change the definition")
}

pub fn repeated_update(name: &Name, first: Span) -> Diagnostic {
    Diagnostic::error("E0215", format!("multiple updates of variable `{}`", name.node), name.span).label(first, "first updated here")
}

pub fn update_of_unknown(name: &Name, suggestion: Option<&str>) -> Diagnostic {
    let fault = Diagnostic::error("E0216", format!("there is no variable `{}` to update", name.node), name.span);
    match suggestion {
        Some(suggestion) => fault.help(format!("did you mean `{suggestion}`?")),
        None => fault.help(format!("define it: `{} = …`", name.node)),
    }
}

pub fn update_of_non_strict(name: &Name, defined: Span) -> Diagnostic {
    Diagnostic::error("E0217", format!("non-strict variable `{}` cannot be updated", name.node), name.span)
        .label(defined, "marked with `?` here")
}

pub fn update_changes_references(new: Span, old: Span, names: &[&str]) -> Diagnostic {
    let names = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    Diagnostic::error("E0218", format!("invalid or missing references: {names}"), new)
        .here("an update must refer to the same variables")
        .label(old, "as the definition")
}

pub fn info_outside_print(span: Span) -> Diagnostic {
    Diagnostic::error("E0219", "`info` is allowed only directly in print", span).help("write `print(info(…))`")
}

pub fn unknown_detail(detail: &Name) -> Diagnostic {
    Diagnostic::error("E0220", format!("unknown detail `{}`", detail.node), detail.span).help("use `less`, `more` or `all`")
}

pub fn column_outside_query(span: Span, column: &str) -> Diagnostic {
    Diagnostic::error("E0221", format!("`column:{column}` is allowed only as one side of a comparison in `where`"), span)
}

// literals and units

pub fn integer_too_large(span: Span) -> Diagnostic {
    Diagnostic::error("E0301", "integer literal is too large", span)
        .here("more than 128 bits")
        .help("write it as a float, for instance with an exponent")
}

pub fn index_too_large(span: Span) -> Diagnostic {
    Diagnostic::error("E0303", "index is too large", span)
}

pub fn zero_step(span: Span) -> Diagnostic {
    Diagnostic::error("E0304", "slice step cannot be zero", span)
}

pub fn unknown_unit(span: Span, name: &str, suggestion: Option<&str>) -> Diagnostic {
    let fault = Diagnostic::error("E0305", format!("unit '{name}' is not defined in the unit registry"), span);
    match (glued_power(name), suggestion) {
        (Some(power), _) => fault.help(format!("a power of a unit is written `{power}`")),
        (None, Some(_)) => did_you_mean(fault, suggestion),
        (None, None) => fault.help(
            "prefixes and names go together (`kJ/mol`, `km/h`); brackets behind a name may hold an integer index as well, but no variable",
        ),
    }
}

/// What `m3` was meant to be: `m**3`.
fn glued_power(name: &str) -> Option<String> {
    let base = name.trim_end_matches(|digit: char| digit.is_ascii_digit());
    let power = &name[base.len()..];
    (!power.is_empty() && !base.is_empty() && Unit::parse(base).is_ok()).then(|| format!("{base}**{power}"))
}

pub fn unit(span: Span, error: &UnitError) -> Diagnostic {
    Diagnostic::error("E0306", error.to_string(), span)
}

pub fn scaled_unit(span: Span) -> Diagnostic {
    Diagnostic::error("E0307", "a unit expression cannot have a scaling factor", span)
        .here("only `1` may stand for a number here")
        .help("multiply the number instead, or use a prefix such as `km`")
}

pub fn unit_exponent(span: Span) -> Diagnostic {
    Diagnostic::error("E0308", "this is not an exponent of a unit", span)
}

pub fn nominal_kind(span: Span) -> Diagnostic {
    Diagnostic::error("E0309", "an uncertainty is supported only for real numbers", span)
}

pub fn deviation_kind(span: Span) -> Diagnostic {
    Diagnostic::error("E0310", "the uncertainty must be a real number", span)
}

pub fn negative_deviation(span: Span) -> Diagnostic {
    Diagnostic::error("E0311", "uncertainty cannot be negative", span)
}

pub fn unit_of_no_numbers(element: Span, unit: Span) -> Diagnostic {
    Diagnostic::error("E0356", "an array with a unit must have bare numbers as elements", element)
        .here("not a bare number")
        .label(unit, "the unit of all elements")
}

pub fn unit_of_series_with_units(element: Span, unit: Span) -> Diagnostic {
    Diagnostic::error("E0312", "a series with a unit must have bare numbers or nulls as elements", element)
        .here("not a bare number")
        .label(unit, "this unit is for all elements")
        .help("give the unit either to each element or to the series")
}

pub fn ragged_array(row: Span, expected: usize, found: usize) -> Diagnostic {
    Diagnostic::error("E0313", "rows of an array must have equal lengths", row)
        .here(format!("{} here, {expected} in the first row", counted(found, "element")))
}

pub fn uneven_array(element: Span) -> Diagnostic {
    Diagnostic::error("E0314", "an array cannot mix rows and single elements", element)
}

pub fn array_element(element: Span) -> Diagnostic {
    Diagnostic::error("E0315", "array elements must be literals", element)
        .here("a bare number, a string, true, false or an array may stand here")
        .help("computed elements go into a series: `(name: a, b)`, and `:array` makes it an array")
}

pub fn array_types(element: Span, first: &Value, other: &Value) -> Diagnostic {
    let message = format!("array elements must have one type, not {} and {}", first.type_name(), other.type_name());
    Diagnostic::error("E0317", message, element)
}

pub fn repeated_key(key: &Name, first: Span) -> Diagnostic {
    Diagnostic::error("E0316", format!("repeating key `{}` in dict", key.node), key.span).label(first, "first used here")
}

// types

pub fn operand(span: Span, operation: &str, expected: &str, found: &Type) -> Diagnostic {
    Diagnostic::error("E0320", format!("invalid type in expression: {operation} needs {expected}"), span).here(format!("this is {found}"))
}

pub fn operand_help(fault: Diagnostic, found: &Type) -> Diagnostic {
    match found {
        Type::Series { .. } | Type::Array { .. } => fault.help("there is no element-wise arithmetic; use `map((x: …), series)`"),
        Type::Str => fault.help("strings can be compared, but neither joined nor computed with"),
        Type::Bool => fault.help("a number for a boolean is `if(…, 1, 0)`"),
        Type::Tuple(_) | Type::Dict(_) | Type::Table { .. } => fault.help("take its parts: an element `[0]`, a key or column `.name`"),
        Type::Any | Type::Native(_) | Type::Number { .. } | Type::Function => fault,
    }
}

pub fn comparison_mismatch(span: Span, left: (Span, &Type), right: (Span, &Type)) -> Diagnostic {
    Diagnostic::error("E0321", format!("type mismatch: {} cannot be compared with {}", left.1, right.1), span)
        .label(left.0, format!("{}", left.1))
        .label(right.0, format!("{}", right.1))
}

pub fn comparison_type(span: Span, found: &Type) -> Diagnostic {
    let fault =
        Diagnostic::error("E0322", format!("invalid type used in comparison: {}", found.name()), span).here(format!("this is {found}"));
    match found {
        Type::Series { .. } => {
            fault.help("to compare each element, `map((x: x > …), series)`; rows are selected by `where column:name > …`")
        }
        _ => fault,
    }
}

pub fn comparison_order(span: Span, op: Comparison, found: &Type) -> Diagnostic {
    let plural = match found {
        Type::Str => "strings",
        Type::Bool => "booleans",
        _ => "complex numbers",
    };
    Diagnostic::error("E0323", format!("comparison of {plural} is not possible with \"{}\" operator", op), span)
        .help("they can only be compared with `==` and `!=`")
}

pub fn branch_mismatch(then: (Span, &Type), otherwise: (Span, &Type)) -> Diagnostic {
    Diagnostic::error("E0324", format!("type mismatch: one branch is {}, the other {}", then.1, otherwise.1), otherwise.0)
        .here(format!("this is {}", otherwise.1))
        .label(then.0, format!("this is {}", then.1))
        .help("both branches of an if must have the same type")
}

pub fn null_branch(null: Span, other: (Span, &Type)) -> Diagnostic {
    Diagnostic::error("E0325", format!("type mismatch: one branch is null, the other {}", other.1), null)
        .label(other.0, format!("this is {}", other.1))
        .help("both branches of an if must have the same type")
}

pub fn branch_lengths(then: (Span, usize), otherwise: (Span, usize)) -> Diagnostic {
    Diagnostic::error("E0326", format!("series of different lengths in the branches: {} and {}", then.1, otherwise.1), then.0)
        .here(counted(then.1, "element"))
        .label(otherwise.0, counted(otherwise.1, "element"))
}

pub fn element_types(series: Span, first: (Span, &Type), other: (Span, &Type)) -> Diagnostic {
    Diagnostic::error("E0327", "series elements must have one type", other.0)
        .here(format!("this is {}", other.1))
        .label(first.0, format!("this is {}", first.1))
        .label(series, "in this series")
}

pub fn table_column(span: Span, found: &Type) -> Diagnostic {
    Diagnostic::error("E0329", "the type of a table column must be series", span).here(format!("this is {found}"))
}

pub fn table_lengths(first: (Span, usize), other: (Span, usize)) -> Diagnostic {
    Diagnostic::error("E0330", format!("table columns must have one size, but sizes {} and {} were found", first.1, other.1), other.0)
        .here(counted(other.1, "element"))
        .label(first.0, counted(first.1, "element"))
}

pub fn table_names(name: &str, first: Span, other: Span) -> Diagnostic {
    Diagnostic::error("E0331", format!("repeating column name `{name}` in table"), other).label(first, "first used here")
}

pub fn unknown_key(span: Span, key: &str, known: &[&str]) -> Diagnostic {
    let fault = Diagnostic::error("E0332", format!("key `{key}` not found in dict"), span);
    suggest_among(fault, key, known, "keys")
}

pub fn unknown_column(span: Span, column: &str, known: &[&str]) -> Diagnostic {
    let fault = Diagnostic::error("E0333", format!("column `{column}` not found in table"), span);
    suggest_among(fault, column, known, "columns")
}

/// Of a long list of names so many are listed, and so many are compared.
const LISTED: usize = 30;
const COMPARED: usize = 500;

fn suggest_among(fault: Diagnostic, name: &str, known: &[&str], what: &str) -> Diagnostic {
    let fault = did_you_mean(fault, nearest(name, known.iter().copied().take(COMPARED)));
    let listed = known.get(..LISTED).unwrap_or(known).join(", ");
    let more = known.len().saturating_sub(LISTED);
    fault.note(format!("its {what} are {listed}{}", if more > 0 { format!(" and {more} more") } else { String::new() }))
}

pub fn key_of(span: Span, key: &str, found: &Type) -> Diagnostic {
    let fault = Diagnostic::error("E0334", format!("invalid use of `.{key}`: {found} has no keys"), span);
    match found {
        Type::Series { name: Some(name), .. } if **name == *key => {
            fault.help(format!("it is the series `{key}` itself; leave `.{key}` out"))
        }
        _ => fault,
    }
}

pub fn index_of(span: Span, found: &Type) -> Diagnostic {
    Diagnostic::error("E0335", format!("invalid use of an index: {found} has no elements"), span)
}

pub fn index_range(span: Span, index: i64, len: usize) -> Diagnostic {
    Diagnostic::error("E0336", format!("index out of range, index: {index}, data length: {len}"), span)
}

pub fn property_of(span: Span, property: &str, found: &Type) -> Diagnostic {
    Diagnostic::error("E0337", format!("{found} has no property \"{property}\""), span)
}

pub fn series_array(span: Span, element: &Type) -> Diagnostic {
    Diagnostic::error("E0338", format!("a series with {element} as element cannot become an array"), span)
        .help("array elements must be numbers, booleans, strings or arrays of one shape")
}

pub fn iterate_input(span: Span, what: &str, found: &Type) -> Diagnostic {
    Diagnostic::error("E0339", format!("{what} inputs must be either series or table-like"), span)
        .here(format!("this is {found}"))
        .help("a series is `(name: 1, 2, 3)`, a table `((a: 1, 2), (b: 3, 4))`")
}

pub fn map_arity(span: Span, parameters: usize, inputs: usize) -> Diagnostic {
    Diagnostic::error("E0340", "the numbers of parameters of the function and of map inputs must be equal", span).here(format!(
        "{}, {}",
        counted(parameters, "parameter"),
        counted(inputs, "input")
    ))
}

pub fn map_lengths(first: (Span, usize), other: (Span, usize)) -> Diagnostic {
    Diagnostic::error("E0341", "map inputs must have equal size", other.0)
        .here(counted(other.1, "element"))
        .label(first.0, counted(first.1, "element"))
}

pub fn callee_arity(span: Span, what: &str, expected: usize, found: usize) -> Diagnostic {
    Diagnostic::error("E0342", format!("the function of {what} must have exactly {expected} {}", plural(expected, "parameter")), span)
        .here(format!("this has {found}"))
}

fn counted(count: usize, word: &str) -> String {
    format!("{count} {}", plural(count, word))
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

pub fn one_input(span: Span, kind: Iterate) -> Diagnostic {
    let what = match kind {
        Iterate::Map => "map",
        Iterate::Filter => "filter",
        Iterate::Reduce => "reduce",
    };
    Diagnostic::error("E0343", format!("{what} takes exactly one series or table"), span)
}

pub fn filter_type(span: Span, found: &Type) -> Diagnostic {
    Diagnostic::error("E0344", "the function of filter must be of boolean type", span).here(format!("this is {found}"))
}

pub fn arity(span: Span, name: &str, expected: &str, found: usize) -> Diagnostic {
    Diagnostic::error(
        "E0345",
        format!("function `{name}` takes {expected}, but {found} {} given", if found == 1 { "was" } else { "were" }),
        span,
    )
}

pub fn series_of(span: Span, what: &str, expected: &str, found: &Type) -> Diagnostic {
    Diagnostic::error("E0346", format!("`{what}` needs a series of {expected}"), span).here(format!("this is {found}"))
}

pub fn series_needed(span: Span, what: &str, found: &Type) -> Diagnostic {
    let fault = Diagnostic::error("E0347", format!("`{what}` needs a series"), span).here(format!("this is {found}"));
    match found {
        Type::Tuple(_) => fault.help("write the values in place: `(a, b)`, or make a series: `(name: a, b)`"),
        _ => fault,
    }
}

pub fn scalars_needed(span: Span, what: &str, expected: &str, found: &Type) -> Diagnostic {
    Diagnostic::error("E0348", format!("all arguments of `{what}` must be {expected}"), span).here(format!("this is {found}"))
}

pub fn range_type(span: Span, found: &Type) -> Diagnostic {
    Diagnostic::error("E0349", "range arguments must be real numbers", span).here(format!("this is {found}"))
}

pub fn range_null(span: Span) -> Diagnostic {
    Diagnostic::error("E0350", "a range argument may not be null", span)
}

pub fn query_source(span: Span, found: &Type) -> Diagnostic {
    Diagnostic::error("E0351", "a query needs a table or a series", span).here(format!("this is {found}"))
}

pub fn select_of_series(span: Span) -> Diagnostic {
    Diagnostic::error("E0352", "a series has no columns to select from", span).help("only `where` may follow a series")
}

pub fn query_column(span: Span, column: &str, series: &str) -> Diagnostic {
    Diagnostic::error("E0353", format!("column \"{column}\" does not match the name of the series"), span)
        .here(format!("the series is named `{series}`"))
        .help("query the whole table to use several columns")
}

pub fn print_unit(span: Span, found: &Type) -> Diagnostic {
    Diagnostic::error("E0354", "a print parameter with a unit must be numeric", span).here(format!("this is {found}"))
}

pub fn filename(span: Span, found: &Type) -> Diagnostic {
    Diagnostic::error("E0355", "a file name must be a string", span).here(format!("this is {found}"))
}

// annotations

pub fn chunks_within_expression(chunks: Span, iterate: Span) -> Diagnostic {
    Diagnostic::error("E0530", "parallel map, filter and reduce must be the whole value of a variable", chunks)
        .label(iterate, "this is a part of an expression")
        .help("assign it to a variable of its own")
}

pub fn chunks_of_expression(input: Span) -> Diagnostic {
    Diagnostic::error("E0531", "all inputs of a parallel map, filter or reduce must be references", input)
        .here("not a name")
        .help("assign it to a variable of its own")
}

pub fn no_chunks(span: Span) -> Diagnostic {
    Diagnostic::error("E0532", "the number of chunks must be a positive integer number", span)
}

pub fn too_many_chunks(span: Span, most: u32) -> Diagnostic {
    Diagnostic::error("E0533", "the number of chunks is too large", span).help(format!("{most} is the most"))
}

pub fn more_chunks_than_elements(chunks: &Spanned<u32>, input: Span, len: usize) -> Diagnostic {
    Diagnostic::error("E0535", format!("{} chunks are more than there are elements", chunks.node), chunks.span)
        .label(input, counted(len, "element"))
        .help(format!("write `in {} chunks` or less", len.max(1)))
}

pub fn non_strict_of_strict(mark: Span, value: Span) -> Diagnostic {
    Diagnostic::error("E0534", "the non-strict mark is valid only with if and boolean expressions", mark)
        .label(value, "here all operands are needed")
}

// files, tags

pub fn url(span: Span) -> Diagnostic {
    Diagnostic::error("E0621", "data from or to a url are not implemented", span).help("copy the data to a file")
}

pub fn empty_path(span: Span) -> Diagnostic {
    Diagnostic::error("E0622", "invalid filename: the name is empty", span)
}

pub fn file_format(path: &Name) -> Diagnostic {
    Diagnostic::error("E0623", format!("the format of \"{}\" is not supported", path.node), path.span)
        .help("the suffix tells the format: .json, .yaml or .yml, and .csv or .tsv for tables")
        .note("HDF5 and Parquet are not supported yet")
}

pub fn separated(span: Span, found: &Type) -> Diagnostic {
    Diagnostic::error("E0625", "only tables and series can be written as comma-separated cells", span)
        .here(format!("this is {found}"))
        .help("write it to a .json or .yaml file, which hold any value")
}

pub fn separated_source(path: Span) -> Diagnostic {
    Diagnostic::error("E0626", "a file of comma-separated cells holds a table, or a series when it has one column", path)
        .help("read it as `Table from file …` and take what you need: `t.column[0]`")
}

pub fn structure_source(span: Span) -> Diagnostic {
    Diagnostic::error("E0624", "atomistic structures are not supported yet", span)
}

pub fn vary_without_table(span: Span) -> Diagnostic {
    Diagnostic::error("E0631", "vary needs a literal table", span).help("write `vary ((name: 1, 2, 3))`")
}

pub fn tag_without_table(span: Span) -> Diagnostic {
    Diagnostic::error("E0632", "tag needs a dict or a table with one row", span).help("write `tag {key: value}`")
}

pub fn tag_with_rows(span: Span) -> Diagnostic {
    Diagnostic::error("E0633", "tag table must have only one row", span)
}

pub fn tag_with_reference(span: Span) -> Diagnostic {
    Diagnostic::error("E0634", "tag values must be literals", span)
}

pub fn vary_has_no_effect(span: Span) -> Diagnostic {
    Diagnostic::warning("W0601", "vary statement has no effect", span).help("it needs persistent models, which are not supported yet")
}

pub fn view_is_not_drawn(mode: &Name) -> Diagnostic {
    Diagnostic::warning("W0603", format!("view {} is not drawn", mode.node), mode.span)
        .help("graphics are not supported yet; the parameters are computed, which finds their faults")
}

pub fn sign_before_power(sign: Span) -> Diagnostic {
    Diagnostic::warning("W0604", "the sign belongs to the base of the power", sign)
        .here("this is raised to the power, sign included")
        .help("write `-(x**2)` if the power is to be negated, or `(-x)**2` if this is meant")
}

pub fn complex_operand(number: Span) -> Diagnostic {
    Diagnostic::warning("W0605", "this is one complex number, not a sum", number)
        .here("the operator applies to both of its parts")
        .help("write `(1+2 j)` if this is meant, or `1+(2 j)` for a sum")
}

pub fn tag_has_no_effect(span: Span) -> Diagnostic {
    Diagnostic::warning("W0602", "tags are interpreted only in workflow evaluation mode", span)
        .help("they need persistent models, which are not supported yet; the statement has no effect")
}
