//! The pages of `scl explain`: each code has one, and their programs do what they say.

use std::collections::BTreeSet;

use libtest_mimic::{Failed, Trial};
use scl::diagnostic::pages::{self, NO_EXAMPLE, Page, Part};
use serde_json::Value;

use crate::binary::Place;
use crate::house;

/// One for each page, and those of the command.
pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        Trial::test("explain: codes and pages are the same", complete),
        Trial::test("explain: a code is shown with its programs", shown),
        Trial::test("explain: without a code all are listed", listed),
        Trial::test("explain: an unknown code is refused", unknown),
    ];
    trials.extend(pages::pages().map(|page| Trial::test(format!("explain::{}", page.code), move || is_true(&page))));
    trials
}

fn complete() -> Result<(), Failed> {
    let said = house::codes_of_sources();
    let explained: BTreeSet<String> = pages::pages().map(|page| page.code.to_owned()).collect();
    let difference: Vec<&String> = said.symmetric_difference(&explained).collect();
    if difference.is_empty() { Ok(()) } else { Err(format!("only in the sources, or only in stdlib/codes: {difference:?}").into()) }
}

fn shown() -> Result<(), Failed> {
    let text = "E0127: `=` stands within an expression\n\n`=` defines a name and stands only behind it, at the beginning of a statement. To compare,\n\
                write `==`.\n\nWrong:\n\n    phase = 1\n    print('liquid' if phase = 1 else 'solid')\n\nRight:\n\n    phase = 1\n    \
                print('liquid' if phase == 1 else 'solid')\n";
    Place::new().run(&["explain", "E0127"]).prints(text)?;
    Place::new().run(&["explain", "e0127"]).prints(text)
}

fn listed() -> Result<(), Failed> {
    let list = Place::new().run(&["explain"]).stdout;
    let wanted: Vec<String> = pages::pages().map(|page| format!("{}  {}", page.code, page.title)).collect();
    if list.lines().eq(wanted.iter().map(String::as_str)) { Ok(()) } else { Err(list.into()) }
}

fn unknown() -> Result<(), Failed> {
    Place::new().run(&["explain", "E0128x"]).is_refused(&["error[E0003]", "`E0128x`", "did you mean `E0128`?"])?;
    Place::new().run(&["explain", "nonsense"]).is_refused(&["error[E0003]", "`scl explain` lists all codes"])
}

/// The wrong programs have this code and no other, and the right ones run without anything to say; or the page says why it has none.
fn is_true(page: &Page) -> Result<(), Failed> {
    let parts = page.parts();
    let place = Place::new();
    let (mut wrong, mut right, mut excused) = (0, 0, false);
    for part in &parts {
        match part {
            Part::Text(text) => excused |= text.starts_with(NO_EXAMPLE),
            Part::File { name, content } => drop(place.write(name, content)),
            Part::Wrong { .. } => wrong += 1,
            Part::Right { .. } => right += 1,
        }
    }
    if page.title.is_empty() || !matches!(parts.first(), Some(Part::Text(_))) || excused == (wrong > 0) || (wrong > 0) != (right > 0) {
        return Err("a page has a title, text, and either programs or the reason why it has none".into());
    }
    parts.iter().try_for_each(|part| match part {
        Part::Wrong { mode, program } => says(&place, program, mode.unwrap_or("workflow"), Some(page.code)),
        Part::Right { program } => says(&place, program, "workflow", None),
        Part::Text(_) | Part::File { .. } => Ok(()),
    })
}

/// A program has one code, however often, or nothing to say and the status 0.
fn says(place: &Place, program: &str, mode: &str, code: Option<&str>) -> Result<(), Failed> {
    place.write("program.scl", program);
    let ran = place.run(&["run", "--quiet", "--format", "json", "--mode", mode, "program.scl"]);
    let report: Value = serde_json::from_str(&ran.stderr).map_err(|error| format!("{error} in {}", ran.stderr))?;
    let diagnostics = report["diagnostics"].as_array().map_or(&[] as &[Value], Vec::as_slice);
    let codes: BTreeSet<&str> = diagnostics.iter().filter_map(|diagnostic| diagnostic["code"].as_str()).collect();
    let fails = code.is_some_and(|code| code.starts_with('E'));
    if codes == code.into_iter().collect() && (ran.code == Some(0)) != fails {
        return Ok(());
    }
    Err(format!("wanted {code:?} of\n{program}\nbut got status {:?} and {codes:?}\n{}", ran.code, ran.stderr).into())
}
