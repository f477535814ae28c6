use proptest::prelude::*;

use super::*;
use crate::source::Span;

const ASCII: Style = Style { color: false, unicode: false };

fn drawn(text: &str, style: Style, make: impl Fn(FileId) -> Diagnostic) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("model.scl", text);
    render(&[make(file)], &sources, style)
}

fn error(start: usize, end: usize) -> impl Fn(FileId) -> Diagnostic {
    move |file| Diagnostic::error("E0301", "something is wrong", Span::new(file, start, end)).here("here")
}

#[test]
fn labels_note_and_help() {
    let text = "a = 1 [m]\nb = a + 2 [s]\n";
    let report = drawn(text, ASCII, |file| {
        Diagnostic::error("E0301", "lengths and times cannot be added", Span::new(file, 14, 23))
            .here("[length] + [time]")
            .label(Span::new(file, 0, 9), "a is in meter")
            .note("units convert within one dimension only")
            .help("divide by a time first")
    });
    let expected = "\
error[E0301]: lengths and times cannot be added
   ,-[ model.scl:2:5 ]
   |
 1 | a = 1 [m]
   | ^^^^|^^^^
   |     `------ a is in meter
 2 | b = a + 2 [s]
   |     ^^^^|^^^^
   |         `------ [length] + [time]
   |
   | Help: divide by a time first
   |
   | Note: units convert within one dimension only
---'
";
    assert_eq!(report, expected);
}

#[test]
fn unicode_and_several_lines() {
    let report = drawn("é = (1,\n 2,\n 3)\n", Style { color: false, unicode: true }, error(5, 17));
    let expected = "\
error[E0301]: something is wrong
   ╭─[ model.scl:1:5 ]
   │
 1 │ ╭─▶ é = (1,
   ┆ ┆
 3 │ ├─▶  3)
   │ │
   │ ╰───────── here
───╯
";
    assert_eq!(report, expected);
}

#[test]
fn colour_is_only_used_when_asked_for() {
    assert!(drawn("a = 1\n", Style { color: true, unicode: true }, error(4, 5)).starts_with("\u{1b}[31merror[E0301]\u{1b}[0m: "));
    assert!(!drawn("a = \u{1b}[31m1\n", ASCII, error(4, 5)).contains('\u{1b}'));
}

#[test]
fn the_end_of_the_text_is_widened_to_what_can_be_seen() {
    let place = |text, at| drawn(text, ASCII, error(at, at)).lines().skip(3).take(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(place("a = 1", 5), [" 1 | a = 1", "   |     |"]);
    assert_eq!(place("a = 1\n\n", 7), [" 1 | a = 1", "   |     |"]);
    assert_eq!(place("a = 1\nb = 2\n", 5), [" 1 | a = 1", "   |      |"]);
    assert_eq!(place("", 0), [" 1 |", "   | |"]);
}

#[test]
fn a_long_line_is_cut_around_its_mark() {
    let text = format!("\nx = {}\ny = 1\n", "1 + ".repeat(2_000_000));
    let report = drawn(&text, ASCII, error(4_000_001, 4_000_002));
    let expected = "\
error[E0301]: something is wrong
   ,-[ model.scl:2:4000001 ]
   |
 2 | ...1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1...
   |                                                                |
   |                                                                `-- here
---'
";
    assert_eq!(report, expected);
    let wide = drawn(&text, ASCII, |file| error(2, 6_000_003)(file).label(Span::new(file, 8_000_006, 8_000_007), "y"));
    assert!(wide.len() < 2000, "{wide}");
}

#[test]
fn distant_marks_are_drawn_apart() {
    let report = drawn(&"a = 1\n".repeat(1000), ASCII, |file| error(600, 601)(file).label(Span::new(file, 3600, 3601), "far away"));
    let expected = "\
error[E0301]: something is wrong
     ,-[ model.scl:101:1 ]
     |
 101 | a = 1
     | |
     | `-- here
     |
     |-[ model.scl:601:1 ]
     |
 601 | a = 1
     | |
     | `-- far away
-----'
";
    assert_eq!(report, expected);
}

#[test]
fn without_a_place_the_rest_is_shown() {
    let warning = Diagnostic::warning("E0302", "no place", Span::new(FileId(7), 1, 2)).note("a\u{7}").help("b");
    assert_eq!(render(&[warning], &SourceMap::new(), ASCII), "warning[E0302]: no place\n  Note: a \n  Help: b\n");
}

#[test]
fn a_thousand_reports_on_a_large_file_take_no_time() {
    let mut sources = SourceMap::new();
    let file = sources.add("model.scl", "length = 1 [m]\n".repeat(70_000));
    let diagnostics: Vec<_> =
        (0..1000).map(|index| error(index * 1000, index * 1000 + 3)(file).label(Span::new(file, 0, 6), "first")).collect();
    let start = std::time::Instant::now();
    let report = render(&diagnostics, &sources, ASCII);
    // Generous for an unoptimised build on a busy machine; indexing the file for each report would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    assert_eq!(report.matches("error[E0301]").count(), 1000);
}

proptest! {
    #[test]
    fn no_span_panics(
        text in "([a-c é→😀\t\n]|\r\n|\u{2028}|\u{85}|\u{1}|\u{c}|[xy]{300}){0,12}",
        spans in prop::collection::vec((0_usize..2000, 0_usize..2000), 1..4),
        message in "[a\n\u{1}é]{0,4}",
        style in (any::<bool>(), any::<bool>()),
    ) {
        let mut sources = SourceMap::new();
        let file = sources.add("m\u{1}.scl", text.as_str());
        let scale = 2000 / (text.len() + 2).min(2000);
        let span = |(start, end): (usize, usize)| Span::new(file, start / scale, end / scale);
        let mut diagnostic = Diagnostic::error("E1", message.clone(), span(spans[0])).here(message.clone());
        for other in &spans[1..] {
            diagnostic = diagnostic.label(span(*other), message.clone());
        }
        let report = render(std::slice::from_ref(&diagnostic), &sources, Style { color: style.0, unicode: style.1 });
        prop_assert!(report.contains("m .scl:"));
        let json = crate::report::json(&[diagnostic], &sources);
        prop_assert!(json["diagnostics"][0]["labels"][0]["line"].as_u64().is_some_and(|line| line >= 1));
    }
}

#[test]
fn a_place_without_words_is_marked_as_well() {
    let fault = |file| Diagnostic::error("E0301", "something is wrong", Span::new(file, 4, 9));
    let marked = |report: &str| report.lines().filter(|line| line.contains('^')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(marked(&drawn("a = 1 + 2\nb = 3\n", ASCII, fault)), ["   |     ^^|^^"]);
    let other_line = |file| fault(file).label(Span::new(file, 14, 15), "another");
    assert_eq!(marked(&drawn("a = 1 + 2\nb = 3\n", ASCII, other_line)).first().map(String::as_str), Some("   |     ^^|^^"));
}
