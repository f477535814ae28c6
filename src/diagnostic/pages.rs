//! What the codes of diagnostics mean: the pages of `stdlib/codes/`, one for each code.
//!
//! ````text
//! # The step of a slice is zero
//!
//! Paragraphs, in words of the people who read them.
//!
//! ```scl wrong
//! a program that has exactly this code; behind `wrong` may stand the mode to run it in
//! ```
//!
//! ```json file data.json
//! a file that the programs read
//! ```
//!
//! ```scl right
//! a program that runs without anything to say
//! ```
//! ````
//!
//! What no program can cause on demand has no programs, but a paragraph that begins with [`NO_EXAMPLE`] and says why.

use super::nearest;

/// The sign of a page without programs.
pub const NO_EXAMPLE: &str = "No example: ";

/// All pages, in the order of their codes.
static PAGES: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// The explanation of a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    /// As in [`super::Diagnostic::code`].
    pub code: &'static str,
    /// What it means, in a few words.
    pub title: &'static str,
    /// All behind the title.
    body: &'static str,
}

/// A part of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A paragraph.
    Text(&'static str),
    /// A program that has the code.
    Wrong {
        /// The argument of `--mode`, where the default would not do.
        mode: Option<&'static str>,
        /// Its lines.
        program: &'static str,
    },
    /// A file that the programs of the page read.
    File {
        /// Its name.
        name: &'static str,
        /// Its lines.
        content: &'static str,
    },
    /// A program without fault.
    Right {
        /// Its lines.
        program: &'static str,
    },
}

/// All pages, in the order of their codes.
pub fn pages() -> impl Iterator<Item = Page> {
    PAGES.iter().map(|(code, text)| Page::new(code, text))
}

/// The page of a code, which may be in lower case.
pub fn page(code: &str) -> Option<Page> {
    let code = code.to_ascii_uppercase();
    let at = PAGES.binary_search_by(|(known, _)| (*known).cmp(&code)).ok()?;
    PAGES.get(at).map(|(code, text)| Page::new(code, text))
}

/// The code that was most likely meant, of those that begin with `kind`: all, or only `E` or `W`.
pub fn nearest_code(code: &str, kind: &str) -> Option<&'static str> {
    let code = code.to_ascii_uppercase();
    let mut codes: Vec<&'static str> = pages().map(|page| page.code).filter(|code| code.starts_with(kind)).collect();
    // of several that are as near, the one that begins alike
    let common = |other: &str| other.bytes().zip(code.bytes()).take_while(|(left, right)| left == right).count();
    codes.sort_by_key(|other| std::cmp::Reverse(common(other)));
    nearest(&code, codes)
}

impl Page {
    fn new(code: &'static str, text: &'static str) -> Page {
        let (title, body) = text.split_once('\n').unwrap_or((text, ""));
        Page { code, title: title.trim_start_matches("# "), body }
    }

    /// The whole page for a terminal, programs indented by four blanks.
    pub fn text(&self) -> String {
        let parts = self.parts().into_iter().map(|part| match part {
            Part::Text(text) => format!("\n{text}\n"),
            Part::Wrong { mode: None, program } => block("Wrong:", program),
            Part::Wrong { mode: Some(mode), program } => block(&format!("Wrong with `--mode {mode}`:"), program),
            Part::File { name, content } => block(&format!("The file {name}:"), content),
            Part::Right { program } => block("Right:", program),
        });
        std::iter::once(format!("{}: {}\n", self.code, self.title)).chain(parts).collect()
    }

    /// Paragraphs, programs and files, in their order.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut rest = self.body.trim();
        while !rest.is_empty() {
            let (part, after) = match rest.strip_prefix("```") {
                Some(block) => fenced(block),
                None => {
                    let (text, after) = rest.split_once("\n\n").unwrap_or((rest, ""));
                    (Some(Part::Text(text)), after)
                }
            };
            parts.extend(part);
            rest = after.trim();
        }
        parts
    }
}

fn block(heading: &str, lines: &str) -> String {
    let indented = lines.lines().map(|line| if line.is_empty() { "\n".to_owned() } else { format!("    {line}\n") });
    format!("\n{heading}\n\n{}", indented.collect::<String>())
}

/// The block behind three backquotes, and what follows it; no part when its head is none of those above.
fn fenced(block: &'static str) -> (Option<Part>, &'static str) {
    let (head, block) = block.split_once('\n').unwrap_or((block, ""));
    let (content, after) = block.split_once("```").unwrap_or((block, ""));
    let part = match head.split(' ').collect::<Vec<_>>().as_slice() {
        ["scl", "wrong"] => Some(Part::Wrong { mode: None, program: content }),
        ["scl", "wrong", mode] => Some(Part::Wrong { mode: Some(mode), program: content }),
        ["scl", "right"] => Some(Part::Right { program: content }),
        [_, "file", name] => Some(Part::File { name, content }),
        _ => None,
    };
    (part, after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_title_paragraphs_and_blocks() {
        let page =
            Page::new("E0001", "# A title\n\none\ntwo\n\n```scl wrong deferred\na\n\nb\n```\n```json file a.json\n{}\n```\n\nthree\n");
        assert_eq!(page.title, "A title");
        let wrong = Part::Wrong { mode: Some("deferred"), program: "a\n\nb\n" };
        let file = Part::File { name: "a.json", content: "{}\n" };
        assert_eq!(page.parts(), [Part::Text("one\ntwo"), wrong, file, Part::Text("three")]);
    }

    #[test]
    fn codes_are_found_in_any_case_and_guessed_by_their_beginning() {
        assert_eq!(page("e0305").map(|page| page.code), Some("E0305"));
        assert_eq!(page("E9999"), None);
        assert_eq!(nearest_code("w0699", "").map(|code| &code[..3]), Some("W06"));
        assert_eq!(nearest_code("E035", ""), Some("E0350"));
        assert_eq!(nearest_code("E0604", "W"), Some("W0604"));
        assert_eq!(nearest_code("nonsense", ""), None);
    }
}
