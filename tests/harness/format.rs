//! `scl fmt` and the formatter behind it: goldens, properties over all programs of the project, the real binary.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use libtest_mimic::{Failed, Trial};
use proptest::sample::select;
use proptest::test_runner::TestCaseError;
use scl::source::{FileId, SourceMap};
use scl::syntax::token::Token;
use scl::syntax::{self, dump, format, layout, lexer};

use crate::binary::{Place, Ran};
use crate::golden;
use crate::syntax::{VOCABULARY, check, require};

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let mut trials = golden::folder("format", formatted);
    let tests: [(&str, Test); 12] = [
        ("every program of the project keeps its meaning", every_program),
        ("any tokens keep their meaning", any_tokens),
        ("any statements and comments keep their meaning", any_statements),
        ("blanks and line ends do not matter", any_spacing),
        ("wide lines do not multiply", wide_lines),
        ("examples are formatted", examples),
        ("files are rewritten as a whole", in_place),
        ("links and permissions are kept", links_and_permissions),
        ("standard input goes to standard output", standard_input),
        ("results that cannot be written are missed", full_output),
        ("--check writes nothing", check_only),
        ("what is wrong is not touched", not_touched),
    ];
    trials.extend(tests.into_iter().map(|(name, test)| Trial::test(format!("format: {name}"), test)));
    trials
}

fn formatted(path: &Path, text: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add(path.file_name().unwrap_or_default().to_string_lossy(), text);
    format::format(file, text).unwrap_or_else(|faults| faults.iter().map(|fault| golden::diagnostic_text(&sources, fault)).collect())
}

/// What formatting must not change.
#[derive(Debug, PartialEq)]
struct Meaning {
    tree: String,
    comments: Vec<String>,
}

fn meaning(text: &str) -> Meaning {
    let tree = dump::dump(&syntax::parse(FileId::default(), text).0);
    let comments = lexer::comments(text).into_iter().map(|place| text[place].trim_end().to_owned()).collect();
    Meaning { tree, comments }
}

/// Formats a text in all ways that must give the same; whether it was a program without errors.
fn exercise(text: &str) -> Result<bool, TestCaseError> {
    let Ok(once) = format::format(FileId::default(), text) else { return Ok(false) };
    let (before, after) = (meaning(text), meaning(&once));
    require(before == after, || format!("{text}\nbecame\n{once}\n{before:?}\n{after:?}"))?;
    let again = format::format(FileId::default(), &once);
    require(again.as_ref() == Ok(&once), || format!("{text}\nbecame\n{once}\nand then {again:?}"))?;
    require(once.is_empty() || once.ends_with('\n') && !once.ends_with("\n\n"), || format!("the end of {once:?}"))?;
    Ok(true)
}

fn programs(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        match path.is_dir() {
            true => programs(&path, found),
            false => found.extend(path.extension().is_some_and(|extension| extension == "scl").then_some(path)),
        }
    }
}

/// The texts of all programs of the project, in a fixed order.
fn texts() -> Vec<String> {
    let mut found = Vec::new();
    ["tests", "examples", "stdlib"].iter().for_each(|folder| programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut found));
    found.sort();
    found.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

fn every_program() -> Result<(), Failed> {
    let mut sound = 0;
    for text in texts().iter().chain(&fuzzed()?) {
        sound += usize::from(exercise(text)?);
    }
    if sound > 100 { Ok(()) } else { Err(format!("only {sound} programs are without errors: the search is broken").into()) }
}

/// What a fuzzer made of programs, as far as it is text.
fn fuzzed() -> std::io::Result<Vec<String>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/corpus/program");
    let files: Vec<PathBuf> = fs::read_dir(corpus)?.flatten().map(|entry| entry.path()).collect();
    Ok(files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect())
}

fn any_tokens() -> Result<(), Failed> {
    let soup = proptest::collection::vec((select(VOCABULARY), select(&["", " ", " ", "\t"][..])), 0..40);
    check(1024, soup, |words| exercise(&words.iter().flat_map(|(word, blank)| [*word, *blank]).collect::<String>()).map(drop))
}

/// Statements and what may stand between them, in lines of all programs.
fn any_statements() -> Result<(), Failed> {
    let statements = sound_statements();
    let between = select(
        &[
            "\n",
            ";",
            " ; ",
            "\n\n\n",
            " # c\n",
            "   # c\n",
            "        # c\n",
            "; # c\n",
            "\n  # c  \n\n",
            " \"\"\"c\"\"\"\n",
            ";\"\"\"c\"\"\" ",
            "\n\"\"\"c\n d\"\"\"",
            "\r\n",
        ][..],
    );
    let programs = proptest::collection::vec((select(statements), between), 1..8);
    check(512, programs, |parts| {
        let text: String = parts.iter().flat_map(|(statement, between)| [statement.as_str(), *between]).collect();
        let sound = exercise(&text)?;
        require(sound, || format!("{text:?} is no program"))
    })
}

/// All statements without comments in them, and without those that a new line does not separate from a number before.
fn sound_statements() -> Vec<String> {
    let statements = texts().into_iter().flat_map(|text| {
        let layout = layout::layout(&text);
        let places = layout.pieces.iter().map(|piece| &layout.tokens[piece.tokens.clone()]);
        places.map(|tokens| text[tokens[0].range().start..tokens[tokens.len() - 1].range().end].to_owned()).collect::<Vec<_>>()
    });
    let is_sound = |text: &String| {
        !text.starts_with("core") && syntax::parse(FileId::default(), text).1.is_empty() && lexer::comments(text).is_empty()
    };
    statements.filter(is_sound).collect()
}

fn any_spacing() -> Result<(), Failed> {
    let gaps = proptest::collection::vec(select(&["", "", " ", "  ", "\t", "\n "][..]), 64);
    check(1024, (select(sound_statements()), gaps), |(statement, gaps)| {
        let other = respaced(&statement, &gaps);
        let format = |text: &str| format::format(FileId::default(), text);
        require(format(&statement) == format(&other), || {
            format!("{statement:?} and {other:?} give {:?} and {:?}", format(&statement), format(&other))
        })
    })
}

/// A statement with other gaps between its tokens; a blank stays where there was one. Lines end within round brackets, but not behind
/// commas, where they would be kept, nor before words, which might begin a statement.
fn respaced(statement: &str, gaps: &[&str]) -> String {
    let tokens = layout::layout(statement).tokens;
    let mut out = String::new();
    let mut depth = 0_usize;
    for (at, lexeme) in tokens.iter().enumerate() {
        let gap = gaps[at % gaps.len()];
        let before = at.checked_sub(1).map(|before| tokens[before]);
        let was_glued = before.is_none_or(|before| before.end == lexeme.start);
        let may_end = depth > 0 && !lexeme.token.is_word() && before.is_some_and(|before| before.token != Token::Comma);
        let was_broken = before.is_some_and(|before| before.token == Token::Comma) && lexeme.first;
        match gap {
            _ if was_broken => out.push('\n'),
            "" if !was_glued => out.push(' '),
            "\n " if !may_end || lexeme.token == Token::Imaginary => out.push(' '),
            gap => out.push_str(gap),
        }
        out.push_str(lexeme.text(statement));
        depth += usize::from(lexeme.token.opens());
        depth -= usize::from(lexeme.token.closes());
    }
    out
}

/// What stands far to the right in one line must not take the others there.
fn wide_lines() -> Result<(), Failed> {
    let wide = "x".repeat(100_000);
    let elements = vec!["1"; 1000].join(",\n");
    let indented = format!("a = '{wide}' if f({elements}) else 0\n");
    let beside = format!("a={wide}#\n{}b=1 # c\n", " ".repeat(100_001));
    let comments = "\"\"\"c\"\"\"".repeat(20_000);
    let crowded = format!("a=(1,{comments}\n2){comments};{comments}\n{comments}");
    for text in [indented, beside, crowded] {
        assert!(exercise(&text)?);
        let formatted = format::format(FileId::default(), &text).unwrap_or_default();
        assert!(formatted.len() < 700_000, "{} bytes", formatted.len());
    }
    Ok(())
}

fn examples() -> Result<(), Failed> {
    let mut found = Vec::new();
    programs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"), &mut found);
    let found: Vec<String> = found.iter().map(|path| path.display().to_string()).collect();
    assert!(!found.is_empty());
    let arguments: Vec<&str> = ["fmt", "--check"].into_iter().chain(found.iter().map(String::as_str)).collect();
    Place::new().run(&arguments).prints("")
}

const ROUGH: &str = "a=1 ;b = a+2\n\n\n\nprint( a,b ) # both";
const SMOOTH: &str = "a = 1\nb = a + 2\n\nprint(a, b) # both\n";

fn in_place() -> Result<(), Failed> {
    let place = Place::new();
    let files = [place.write("rough.scl", ROUGH), place.write("smooth.scl", SMOOTH)];
    let inode = fs::metadata(&files[1])?.ino();
    place.run(&["fmt", "rough.scl", "smooth.scl"]).prints("")?;
    assert_eq!(files.each_ref().map(|file| fs::read_to_string(file).ok()), [SMOOTH, SMOOTH].map(|text| Some(text.to_owned())));
    assert_eq!(fs::metadata(&files[1])?.ino(), inode, "a file that does not change is not written");
    assert_eq!(fs::read_dir(place.path())?.count(), 2, "nothing is left behind");
    place.run(&["run", "--mode", "deferred", "rough.scl"]).prints("1 3\n")
}

fn links_and_permissions() -> Result<(), Failed> {
    let place = Place::new();
    let file = place.write("rough.scl", ROUGH);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750))?;
    std::os::unix::fs::symlink("rough.scl", place.path().join("link.scl"))?;
    place.run(&["fmt", "link.scl"]).prints("")?;
    assert!(fs::symlink_metadata(place.path().join("link.scl"))?.is_symlink());
    assert_eq!(fs::read_to_string(&file)?, SMOOTH);
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o750);
    place.write("rough.scl", ROUGH);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o440))?;
    place.run(&["fmt", "rough.scl"]).ends(1, "", &["error[E0004]", "rough.scl"])?;
    assert_eq!(fs::read_to_string(&file)?, ROUGH);
    Ok(())
}

fn piped(arguments: &[&str], text: &str) -> Result<Ran, Failed> {
    let place = Place::new();
    let mut child = place.scl(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no pipe")?.write_all(text.as_bytes())?;
    Ok(Ran::from(child.wait_with_output()?))
}

fn standard_input() -> Result<(), Failed> {
    piped(&["fmt", "-"], ROUGH)?.prints(SMOOTH)?;
    piped(&["fmt", "-"], SMOOTH)?.prints(SMOOTH)?;
    piped(&["fmt", "-"], "")?.prints("")?;
    piped(&["fmt", "--check", "-"], ROUGH)?.ends(1, "<stdin>\n", &[])?;
    piped(&["fmt", "-"], "a = (1")?.is_refused(&["error[E0106]", "<stdin>:1"])
}

fn full_output() -> Result<(), Failed> {
    let place = Place::new();
    place.write("rough.scl", ROUGH);
    for arguments in [["fmt", "-"].as_slice(), &["fmt", "--check", "rough.scl"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
        let input = fs::File::open(place.path().join("rough.scl"))?;
        Ran::from(place.scl(arguments).stdin(input).stdout(full).output()?).ends(1, "", &["error[E0905]"])?;
    }
    Ok(())
}

fn check_only() -> Result<(), Failed> {
    let place = Place::new();
    let files = [("a.scl", ROUGH), ("b.scl", SMOOTH), ("c.scl", ROUGH)].map(|(name, text)| (place.write(name, text), text));
    place.run(&["fmt", "--check", "a.scl", "b.scl", "c.scl"]).ends(1, "a.scl\nc.scl\n", &[])?;
    place.run(&["fmt", "--check", "b.scl"]).prints("")?;
    assert!(files.iter().all(|(file, text)| fs::read_to_string(file).is_ok_and(|now| now == *text)));
    Ok(())
}

fn not_touched() -> Result<(), Failed> {
    let place = Place::new();
    let [wrong, rough] = [place.write("wrong.scl", "a=1\nb=)\n"), place.write("rough.scl", ROUGH)];
    place.run(&["fmt", "wrong.scl", "missing.scl", "rough.scl"]).is_refused(&["wrong.scl:2:3", "E0001", "missing.scl"])?;
    assert_eq!(fs::read_to_string(&wrong)?, "a=1\nb=)\n");
    assert_eq!(fs::read_to_string(&rough)?, SMOOTH, "the others are formatted all the same");
    place.write("rough.scl", ROUGH);
    place.run(&["fmt", "--check", "wrong.scl", "rough.scl"]).ends(2, "rough.scl\n", &["wrong.scl"])?;
    place.run(&["fmt"]).is_refused(&["FILE"])
}
