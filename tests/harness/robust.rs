//! No input breaks the program: it ends with a diagnostic or a value, soon.

use std::fmt::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};

use crate::binary::{Place, Ran};

type Test = fn() -> Result<(), Failed>;

/// All of them.
pub fn trials() -> Vec<Trial> {
    let tests: [(&str, Test); 28] = [
        ("binary rubbish", rubbish),
        ("invalid UTF-8", invalid_utf8),
        ("a character without meaning", nul),
        ("an unterminated string", open_string),
        ("an unterminated comment", open_comment),
        ("a line of 10 MB", long_line),
        ("a directory", directory),
        ("a missing file", missing),
        ("wrong arguments", wrong_arguments),
        ("nothing at all", empty),
        ("the program on standard input", standard_input),
        ("standard output that is closed", closed_output),
        ("standard output on a full disk", full_output),
        ("nested brackets of all kinds", nested_brackets),
        ("chains of operators that nest", nested_operators),
        ("a long chain of variables", chain_of_variables),
        ("a long chain of variables, the last one first", reversed_chain),
        ("a long chain of functions", chain_of_functions),
        ("a chain of functions in a large map", functions_in_a_map),
        ("arguments that wait for arguments", lazy_arguments),
        ("values that double", doubling_types),
        ("a long sum, product and conjunction", long_operations),
        ("large literals", large_literals),
        ("many prints", many_prints),
        ("many unknown names", many_unknown_names),
        ("many failures", many_failures),
        ("many warnings of one kind", many_warnings),
        ("everything is asked for", everything),
    ];
    tests.into_iter().map(|(name, test)| Trial::test(format!("robust: {name}"), move || in_time(test))).collect()
}

/// Far more than any of them takes, far less than what is quadratic in its size.
const PATIENCE: Duration = Duration::from_secs(60);

fn in_time(test: Test) -> Result<(), Failed> {
    let start = Instant::now();
    test()?;
    let taken = start.elapsed();
    if taken < PATIENCE { Ok(()) } else { Err(format!("it took {taken:?}").into()) }
}

fn rubbish() -> Result<(), Failed> {
    // bytes of a simple generator: all values, no order
    let mut state = 12345_u32;
    let mut bytes = Vec::with_capacity(100_000);
    for _ in 0..100_000 {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        bytes.push((state >> 24) as u8);
    }
    let place = Place::new();
    place.deferred(&bytes).is_refused(&["E0002"])?;
    let letters: Vec<u8> = bytes.iter().map(|byte| byte & 0x7f).collect();
    place.deferred(letters).is_refused(&["error[E"])
}

fn invalid_utf8() -> Result<(), Failed> {
    Place::new().deferred(b"a = 1\nb = \xff\xfe\n").is_refused(&["E0002", "program.scl:2:5"])
}

fn nul() -> Result<(), Failed> {
    Place::new().deferred(b"a = 1\0\nprint(a)\n").is_refused(&["E0101", "U+0000"])
}

fn open_string() -> Result<(), Failed> {
    Place::new().deferred("a = 'abc\nprint(a)\n").is_refused(&["E0102"])
}

fn open_comment() -> Result<(), Failed> {
    Place::new().deferred("a = 1\n\"\"\" it never ends\nprint(a)\n").is_refused(&["E0103"])
}

fn long_line() -> Result<(), Failed> {
    Place::new().deferred("x".repeat(10 << 20)).is_refused(&["error[E"])
}

fn directory() -> Result<(), Failed> {
    Place::new().run(&["run", "."]).is_refused(&["E0001"])
}

fn missing() -> Result<(), Failed> {
    let place = Place::new();
    for command in ["run", "check", "graph"] {
        place.run(&[command, "nothing.scl"]).is_refused(&["E0001", "nothing.scl"])?;
    }
    Ok(())
}

fn wrong_arguments() -> Result<(), Failed> {
    let place = Place::new();
    for arguments in [&["fly"][..], &["run"], &["run", "a", "b"], &["run", "--mode", "slow", "a"], &["run", "-j", "0", "a"], &["exec"], &[]]
    {
        place.run(arguments).is_refused(&["help"])?;
    }
    Ok(())
}

fn empty() -> Result<(), Failed> {
    let place = Place::new();
    for text in ["", "\n", "# a comment", "\"\"\"a\nblock\"\"\"", "\u{feff}"] {
        place.deferred(text).prints("")?;
    }
    place.write("empty.scl", "");
    place.run(&["check", "empty.scl"]).prints("")?;
    place.run(&["run", "empty.scl"]).prints("")
}

fn standard_input() -> Result<(), Failed> {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = Place::new().scl(&["run", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no input")?.write_all(b"print(1 + 1)\n")?;
    crate::binary::Ran::from(child.wait_with_output()?).prints("2\n")
}

/// Results that are lost are no success.
fn full_output() -> Result<(), Failed> {
    let place = Place::new();
    place.write("program.scl", "print(1)\nprint(2)\n");
    for arguments in [["run", "program.scl"], ["graph", "program.scl"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full")?;
        let ran = Ran::from(place.scl(&arguments).stdout(full).stderr(Stdio::piped()).spawn()?.wait_with_output()?);
        ran.ends(1, "", &["error[E0905]: standard output cannot be written"])?;
    }
    Ok(())
}

/// A reader that goes away is no fault.
fn closed_output() -> Result<(), Failed> {
    use std::process::Stdio;
    let place = Place::new();
    place.write("program.scl", "print('a')\nprint('b')\n");
    let mut child = place.scl(&["run", "program.scl"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    drop(child.stdout.take());
    crate::binary::Ran::from(child.wait_with_output()?).ends(0, "", &[])
}

fn nested_brackets() -> Result<(), Failed> {
    let place = Place::new();
    for (open, close) in [("(", ")"), ("[", "]"), ("{a: ", "}"), ("(s: ", ")"), ("f(", ")"), ("if(true, ", ", 1)"), ("map((x: x), ", ")")] {
        let program = format!("f(x) = x\na = {}1{}\nprint(a)\n", open.repeat(10_000), close.repeat(10_000));
        place.deferred(program).is_refused(&["E0105"])?;
        place.deferred(format!("a = {}", open.repeat(10_000))).is_refused(&["error[E"])?;
    }
    Ok(())
}

fn nested_operators() -> Result<(), Failed> {
    let place = Place::new();
    for (prefix, suffix) in [("not ", ""), ("- ", ""), ("2 ** ", ""), ("1 if true else ", ""), ("", ".a"), ("", "[0]")] {
        let program = format!("a = {}b{}\nb = 1\n", prefix.repeat(10_000), suffix.repeat(10_000));
        place.deferred(program).is_refused(&["E0105"])?;
    }
    Ok(())
}

fn chain_of_variables() -> Result<(), Failed> {
    let place = Place::new();
    place.deferred(chain(10_000)).prints("10000\n")?;
    place.write("program.scl", chain(10_000));
    place.run(&["run", "program.scl"]).prints("10000\n")?;
    place.deferred(chain(100_000)).prints("100000\n")
}

fn chain(length: usize) -> String {
    let steps = (1..=length).map(|index| format!("a{index} = a{} + 1\n", index - 1));
    format!("a0 = 0\n{}print(a{length})\n", steps.collect::<String>())
}

fn reversed_chain() -> Result<(), Failed> {
    let steps = (1..=10_000).rev().map(|index| format!("a{index} = if(true, a{}, 0) + 1\n", index - 1));
    Place::new().deferred(format!("print(a10000)\n{}a0 = 0\n", steps.collect::<String>())).prints("10000\n")
}

/// `f0` to `f(length - 1)`, each of which calls the one before.
fn functions(length: usize, call: impl Fn(usize) -> String) -> String {
    let steps = (1..length).map(|index| format!("f{index}(x) = {}\n", call(index - 1)));
    format!("f0(x) = x + 1\n{}", steps.collect::<String>())
}

fn chain_of_functions() -> Result<(), Failed> {
    let place = Place::new();
    let program = |length: usize| format!("{}print(f{}(0))\n", functions(length, |inner| format!("f{inner}(x) + 1")), length - 1);
    place.deferred(program(100)).prints("100\n")?;
    place.deferred(program(3000)).is_refused(&["E0205"])?;
    place.deferred(format!("f(x) = x + 1\nprint({}0{})\n", "f(".repeat(3000), ")".repeat(3000))).is_refused(&["E0105"])
}

/// Threads of a large map recurse as deep as others.
fn functions_in_a_map() -> Result<(), Failed> {
    let chain = functions(400, |inner| format!("f{inner}(x) + 1"));
    Place::new().deferred(format!("{chain}m = map(f399, range(0, 5000, 1))\nprint(m[4999])\n")).prints("5399\n")
}

/// The chain of arguments that wait for each other is as long as the number of calls, which doubles with each function.
fn lazy_arguments() -> Result<(), Failed> {
    let doubling = functions(60, |inner| format!("f{inner}(f{inner}(x))"));
    let place = Place::new();
    place.deferred(format!("{doubling}print('before')\nprint(f59(0))\nprint('after')\n")).ends(1, "'before'\n'after'\n", &["E0450"])?;
    place.deferred(format!("{doubling}print(f8(0))\n")).prints("256\n")
}

fn doubling_types() -> Result<(), Failed> {
    let tuples: String = (1..60).map(|index| format!("a{index} = (a{0}, a{0})\n", index - 1)).collect();
    Place::new().deferred(format!("a0 = (1, 2)\n{tuples}print(a3[1][1])\n")).prints("((1, 2), (1, 2))\n")
}

fn long_operations() -> Result<(), Failed> {
    let place = Place::new();
    let joined = |operator: &str, operand: &str| vec![operand; 100_000].join(operator);
    place.deferred(format!("print({})\n", joined(" + ", "1"))).prints("100000\n")?;
    place.deferred(format!("print({})\n", joined(" * ", "1"))).prints("1\n")?;
    place.deferred(format!("a = true\nprint({})\n", joined(" and ", "a"))).prints("true\n")
}

fn large_literals() -> Result<(), Failed> {
    let place = Place::new();
    let numbers: Vec<String> = (0..100_000).map(|number| number.to_string()).collect();
    let numbers = numbers.join(", ");
    place.deferred(format!("s = (v: {numbers})\nprint(sum(s), s[99999])\n")).prints("4999950000 99999\n")?;
    place.deferred(format!("a = [{numbers}]\nprint(a[99999])\n")).prints("99999\n")?;
    place.deferred(format!("t = ({numbers})\nprint(t[99999])\n")).prints("99999\n")
}

fn many_prints() -> Result<(), Failed> {
    let (mut program, mut expected) = (String::new(), String::new());
    for number in 0..10_000 {
        let _ = writeln!(program, "print({number})");
        let _ = writeln!(expected, "{number}");
    }
    Place::new().deferred(program).prints(&expected)
}

/// Only a readable number of them is shown, and only for these a similar name is looked for.
fn many_unknown_names() -> Result<(), Failed> {
    let program: String = (0..10_000).map(|number| format!("a{number} = b{number} + 1\n")).collect();
    Place::new().deferred(program).is_refused(&["E0201", "did you mean `a0`?", "and 9900 more"])
}

fn many_failures() -> Result<(), Failed> {
    let program: String = (0..2000).map(|number| format!("print({number}/0)\n")).collect();
    Place::new().deferred(program).ends(1, "", &["E0420", "and 1900 more"])
}

fn many_warnings() -> Result<(), Failed> {
    let program: String = (0..100).map(|number| format!("a{number} = -2**2\nprint(a{number})\n")).collect();
    let ran = Place::new().deferred(program);
    let shown = ran.stderr.matches("W0604").count();
    if shown == 3 && ran.stderr.contains("and 97 more") { Ok(()) } else { Err(format!("{shown} are shown\n{}", ran.stderr).into()) }
}

/// With `--all` what nothing needs is computed, so that its faults are errors, and it is not unused.
fn everything() -> Result<(), Failed> {
    let place = Place::new();
    place.write("wrong.scl", "a = 1 [m] + 1 [s]\nprint(1)\n");
    place.run(&["run", "--mode", "deferred", "wrong.scl"]).ends(0, "1\n", &["W0620"])?;
    place.run(&["run", "--mode", "deferred", "--all", "wrong.scl"]).is_refused(&["E0360"])?;
    place.write("right.scl", "a = 1 [m] + 1 [cm]\nprint(1)\n");
    place.run(&["run", "--mode", "deferred", "right.scl"]).ends(0, "1\n", &["W0606"])?;
    let ran = place.run(&["run", "--mode", "deferred", "--all", "right.scl"]);
    if ran.code == Some(0) && ran.stderr.is_empty() { Ok(()) } else { Err(format!("{ran:?}").into()) }
}
