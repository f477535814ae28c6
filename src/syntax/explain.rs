//! From "this token did not fit" to a sentence that helps.
//!
//! LALRPOP tells where it could not go on and what would have fitted, up to thirty tokens. The rules below look at the tokens around
//! the place for a fault that people make, from the most special to the most general; the list is used, boiled down to a few words,
//! only when none of them applies.

mod habits;

use super::diagnostics as fault;
use super::diagnostics::Bracket;
use super::lexer::Lexeme;
use super::parser::Misfit;
use super::token::Token;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, Span};

/// The diagnostic of a construct of atomistic or chemical modelling, if there is one.
pub(super) fn unsupported(file: FileId, text: &str, tokens: &[Lexeme]) -> Option<Diagnostic> {
    let is_one = |(at, lexeme): &(usize, &Lexeme)| match lexeme.token {
        Token::Atomistic => true,
        Token::Structure => !matches!(tokens.get(at + 1), Some(next) if matches!(next.token, Token::From | Token::Define | Token::Update)),
        _ => false,
    };
    let (at, lexeme) = tokens.iter().enumerate().find(is_one)?;
    let span = span_of(file, *lexeme);
    let defined = at == 0 && tokens.get(1).is_some_and(|next| matches!(next.token, Token::Define | Token::Update));
    let word = lexeme.text(text);
    Some(if defined { fault::reserved_word(span, word) } else { fault::unsupported(span, word) })
}

/// The diagnostic of the first token that is faulty by itself, if there is one.
pub(super) fn faulty_token(file: FileId, text: &str, tokens: &[Lexeme]) -> Option<Diagnostic> {
    let (at, lexeme) = tokens.iter().enumerate().find(|(_, lexeme)| lexeme.token.is_faulty())?;
    let opening = |length: u32| Span { file, start: lexeme.start, end: lexeme.end.min(lexeme.start + length) };
    let first = lexeme.text(text).chars().next().unwrap_or('\0');
    let fault = match lexeme.token {
        Token::UnterminatedComment => fault::unterminated_comment(opening(3)),
        Token::UnterminatedString => fault::unterminated_string(opening(1), first),
        Token::MalformedReuse => fault::malformed_reuse(span_of(file, *lexeme)),
        _ => fault::invalid_character(span_of(file, *lexeme), first),
    };
    Some(with_long_string(fault, file, text, &tokens[..at]))
}

/// The diagnostic of a token that did not fit.
pub(super) fn explain(file: FileId, text: &str, tokens: &[Lexeme], misfit: &Misfit) -> Diagnostic {
    let place = Place::new(file, text, tokens, misfit);
    let rules = [
        Place::reserved,
        Place::glued,
        Place::chunks,
        Place::accessor,
        Place::operator,
        Place::annotation,
        Place::brackets,
        Place::comparison,
        Place::lambda,
        Place::import,
        Place::source,
    ];
    let fault = rules.iter().find_map(|rule| rule(&place)).unwrap_or_else(|| place.general());
    let fault = match place.habit() {
        Some(help) => fault.help(help),
        None => fault,
    };
    with_long_string(fault, file, text, &tokens[..misfit.at.min(tokens.len())])
}

/// Points at a string before the fault that runs over a line's end, for a quote may be missing there.
fn with_long_string(fault: Diagnostic, file: FileId, text: &str, before: &[Lexeme]) -> Diagnostic {
    let is_long = |lexeme: &&Lexeme| lexeme.token == Token::Str && lexeme.text(text).contains('\n');
    match before.iter().rev().find(is_long) {
        Some(string) => fault.label(span_of(file, *string), "this string goes over several lines"),
        None => fault,
    }
}

fn span_of(file: FileId, lexeme: Lexeme) -> Span {
    Span { file, start: lexeme.start, end: lexeme.end }
}

/// The tokens around the one that did not fit.
struct Place<'t> {
    file: FileId,
    text: &'t str,
    tokens: &'t [Lexeme],
    at: usize,
    found: Option<Lexeme>,
    before: Option<Lexeme>,
    opener: Option<Lexeme>,
    expected: Expected<'t>,
}

impl<'t> Place<'t> {
    fn new(file: FileId, text: &'t str, tokens: &'t [Lexeme], misfit: &'t Misfit) -> Self {
        let at = misfit.at;
        let before = at.checked_sub(1).and_then(|before| tokens.get(before)).copied();
        let expected = Expected(&misfit.expected);
        Place { file, text, tokens, at, found: tokens.get(at).copied(), before, opener: innermost_open(tokens, at), expected }
    }

    fn span(&self, lexeme: Lexeme) -> Span {
        span_of(self.file, lexeme)
    }

    /// The text of a token, cut so that it fits into a line.
    fn shown(&self, lexeme: Lexeme) -> String {
        const LONGEST: usize = 24;
        let line = lexeme.text(self.text).lines().next().unwrap_or("");
        match line.char_indices().nth(LONGEST) {
            Some((cut, _)) => format!("{}…", &line[..cut]),
            None => line.to_owned(),
        }
    }

    fn found_token(&self) -> Option<Token> {
        self.found.map(|lexeme| lexeme.token)
    }

    fn before_token(&self) -> Option<Token> {
        self.before.map(|lexeme| lexeme.token)
    }

    fn next_token(&self) -> Option<Token> {
        self.tokens.get(self.at + 1).map(|lexeme| lexeme.token)
    }

    /// Where the fault is: at the token, or behind the last one.
    fn here(&self) -> Span {
        let last = self.found.or(self.before);
        last.map_or(Span::new(self.file, 0, 0), |lexeme| self.span(lexeme))
    }

    fn after(&self) -> String {
        self.before.map_or_else(String::new, |before| self.shown(before))
    }

    /// `, found …`
    fn found_text(&self) -> String {
        self.found.map_or_else(String::new, |found| format!(", found `{}`", self.shown(found)))
    }

    /// A reserved word where a name belongs.
    fn reserved(&self) -> Option<Diagnostic> {
        let defines = |token| matches!(token, Some(Token::Define | Token::Update));
        if let Some(found) = self.found.filter(|found| found.token.is_reserved()) {
            let named = self.at > 0 && self.expected.has("NAME") && !self.expected.has("INT") && !found.token.joins();
            let is_key = self.next_token() == Some(Token::Colon) && self.expected.has("KEY");
            let is_name = self.defines_word() || self.before_token() == Some(Token::Dot) || named || is_key;
            if is_name {
                return Some(fault::reserved_word(self.span(found), &self.shown(found)));
            }
        }
        let before = self.before.filter(|before| before.token.is_reserved())?;
        let (span, word) = (self.span(before), self.shown(before));
        if (self.at == 1 && defines(self.found_token())) || self.found_token() == Some(Token::Colon) {
            return Some(fault::reserved_word(span, &word));
        }
        let form = alone(before.token, &word)?;
        Some(fault::reserved_function(span, &word, &form))
    }

    /// Whether the statement begins like the definition of a variable or a function.
    fn defines_word(&self) -> bool {
        let is_definition = |lexeme: &Lexeme| matches!(lexeme.token, Token::Define | Token::Update);
        let is_call = self.next_token() == Some(Token::OpenCall);
        self.at == 0 && if is_call { self.tokens.iter().any(is_definition) } else { self.tokens.get(1).is_some_and(is_definition) }
    }

    /// `2j`, `9x`
    fn glued(&self) -> Option<Diagnostic> {
        let pair = if self.at == 0 { self.tokens.first().zip(self.tokens.get(1)) } else { self.before.as_ref().zip(self.found.as_ref()) };
        let (number, word) = pair?;
        let glued = number.token.is_number() && word.token.is_word() && number.end == word.start;
        glued.then(|| fault::glued_number(self.span(*word), &self.shown(*number), &self.shown(*word)))
    }

    fn chunks(&self) -> Option<Diagnostic> {
        if self.before_token() == Some(Token::InChunks) {
            return Some(fault::chunk_count(self.here()));
        }
        match self.found_token()? {
            Token::InChunks => Some(fault::misplaced_chunks(self.here())),
            Token::Chunks => Some(fault::chunk_count(self.before.map_or(self.here(), |before| self.span(before)))),
            _ => None,
        }
    }

    /// A unit or an accessor behind something that takes none.
    fn accessor(&self) -> Option<Diagnostic> {
        let found = self.found?;
        let after_value = self.before_token().is_some_and(Token::ends_operand);
        match found.token {
            Token::OpenTarget => Some(fault::unit_of_value(self.to_closer(found))),
            Token::OpenIndex | Token::Dot | Token::PropertyColon | Token::Select | Token::Where
                if after_value && self.expected.has("\"*\"") =>
            {
                Some(fault::accessor_of_value(self.span(found), &self.shown(found)))
            }
            _ => None,
        }
    }

    /// `//`, and `=` or `,` where it makes no sense.
    fn operator(&self) -> Option<Diagnostic> {
        let (before, found) = (self.before?, self.found?);
        match (before.token, found.token) {
            (Token::Slash, Token::Slash) if before.end == found.start => {
                Some(fault::floor_division(self.span(before).to(self.span(found))))
            }
            (token, Token::Define) if token.ends_operand() && (self.is_value() || self.expected.has("\"*\"")) => {
                Some(fault::define_in_expression(self.span(found)))
            }
            (token, Token::Comma) if token.ends_operand() && self.is_value() && self.opener.is_none() => {
                Some(fault::bare_comma(self.span(found)))
            }
            _ => None,
        }
    }

    /// `for …`, `on …`, `with …` where no definition ends.
    fn annotation(&self) -> Option<Diagnostic> {
        let annotates = matches!(self.found_token(), Some(Token::For | Token::On | Token::With));
        let after_value = self.before_token().is_some_and(Token::ends_operand);
        let number = self.next_token().is_some_and(|token| token.is_number() || token.is_sign());
        (annotates && after_value && number && !self.is_headless()).then(|| fault::misplaced_annotation(self.here()))
    }

    /// Whether an expression has begun before.
    fn is_value(&self) -> bool {
        let begins =
            |token| matches!(token, Token::Define | Token::Update | Token::Print | Token::View | Token::Vary | Token::Tag | Token::Where);
        self.tokens[..self.at].iter().any(|lexeme| begins(lexeme.token))
    }

    /// From an opening bracket to the next closing one.
    fn to_closer(&self, opener: Lexeme) -> Span {
        let closer = self.tokens[self.at..].iter().find(|lexeme| lexeme.token.closes());
        closer.map_or(self.span(opener), |closer| self.span(opener).to(self.span(*closer)))
    }

    fn brackets(&self) -> Option<Diagnostic> {
        let closer = self.found.filter(|found| found.token.closes());
        let Some(opener) = self.opener else {
            return closer.map(|closer| fault::unopened(self.span(closer), &self.shown(closer)));
        };
        let bracket = bracket_of(opener.token)?;
        match (closer, self.found) {
            (Some(closer), _) if self.before == Some(opener) && self.shown(closer).starts_with(bracket.closer) => {
                Some(fault::empty_brackets(self.span(opener).to(self.span(closer)), &self.expected.summary(1)?))
            }
            (Some(closer), _) if !self.shown(closer).starts_with(bracket.closer) => {
                Some(fault::unclosed(self.span(closer), self.span(opener), &bracket, &self.found_text()))
            }
            (None, None) if self.expected.has_closer(&bracket) && !self.before.is_some_and(|before| before.token.wants_more()) => {
                Some(fault::unclosed(self.here(), self.span(opener), &bracket, ""))
            }
            _ => None,
        }
    }

    /// `1 < 2 < 3`
    fn comparison(&self) -> Option<Diagnostic> {
        let compares = |token: Token| token.is_comparison() || token == Token::In;
        let found = self.found.filter(|found| compares(found.token))?;
        let mut depth = 0_usize;
        let same_level = self.tokens[..self.at].iter().rev().find(|lexeme| {
            depth += usize::from(lexeme.token.closes());
            let here = depth == 0;
            depth = depth.saturating_sub(usize::from(lexeme.token.opens()));
            here && (compares(lexeme.token) || lexeme.token.opens() || matches!(lexeme.token, Token::And | Token::Or | Token::Comma))
        })?;
        compares(same_level.token).then(|| fault::chained_comparison(self.span(found), self.span(*same_level)))
    }

    /// Parentheses directly after `map(` and the like that hold no lambda.
    fn lambda(&self) -> Option<Diagnostic> {
        let opener = self.opener.filter(|opener| opener.token == Token::OpenParen)?;
        let index = self.tokens[..self.at].iter().rposition(|lexeme| *lexeme == opener)?;
        let [.., function, call] = self.tokens.get(..index)? else { return None };
        let iterates = matches!(function.token, Token::Map | Token::Filter | Token::Reduce) && call.token == Token::OpenCall;
        let in_header = !self.tokens[index..self.at].iter().any(|lexeme| lexeme.token == Token::Key);
        (iterates && in_header).then(|| fault::lambda_form(self.here(), self.span(opener), &self.shown(*function)))
    }

    /// `Tabel from file …`
    fn source(&self) -> Option<Diagnostic> {
        let kind = self.before.filter(|before| before.token == Token::Name)?;
        let from_file = self.found_token() == Some(Token::From) && matches!(self.next_token(), Some(Token::File | Token::Url));
        from_file.then(|| fault::unknown_source(self.span(kind), &self.shown(kind)))
    }

    /// `use math`, `import math`, `from math use *`
    fn import(&self) -> Option<Diagnostic> {
        let (first, last) = (*self.tokens.first()?, *self.tokens.last()?);
        let foreign = first.token == Token::Name && first.text(self.text) == "import" && self.at == 1;
        let whole = || self.span(first).to(self.span(last));
        match first.token {
            Token::Use | Token::From if self.found.is_none() => Some(fault::import_form(whole())),
            Token::Use | Token::From if self.found_token() == Some(Token::Star) => Some(fault::import_form(self.here())),
            _ => (foreign && !self.found.is_some_and(|found| found.token.opens())).then(|| fault::import_form(whole())),
        }
    }

    /// When no special rule applies.
    fn general(&self) -> Diagnostic {
        let (here, after, found) = (self.here(), self.after(), self.found_text());
        let wants_operand = self.expected.has("INT") && self.expected.has("\"(\"");
        match self.found {
            Some(token) if self.at == 0 => fault::not_a_statement(here, &self.shown(token)),
            Some(token) if self.is_headless() => fault::headless(here, &self.shown(token), &after),
            _ if wants_operand => fault::expected_expression(here, &after, &found),
            Some(token) if self.opener.is_none() && self.begins_another(token) => fault::missing_separator(here, &self.shown(token)),
            Some(token) if self.opener.is_none() && token.first && self.expected.has("\"*\"") => {
                fault::not_a_continuation(here, &self.shown(token), self.before.map_or(here, |before| self.span(before)))
            }
            Some(token) => match self.expected.summary(5) {
                Some(wanted) => self.at_opener(fault::expected(here, &wanted, &after, &found)),
                None => fault::unexpected(here, &self.shown(token), &after),
            },
            None => {
                let wanted = self.expected.summary(5).unwrap_or_else(|| "more".to_owned());
                self.at_opener(fault::expected(here, &wanted, &after, ""))
            }
        }
    }

    /// Whether the statement has got no further than the name, or the place to export, that it begins with.
    fn is_headless(&self) -> bool {
        let begins = self.tokens.first().is_some_and(|first| first.token.is_name() || first.token == Token::Reuse);
        begins && self.opener.is_none() && (self.at == 1 || self.expected.has("\"to\"")) && !self.is_value()
    }

    /// Whether a statement begins with the token, on the line of another.
    fn begins_another(&self, token: Lexeme) -> bool {
        match token.token {
            Token::Print | Token::View | Token::Vary | Token::Tag | Token::Use => true,
            other => other.is_name() && matches!(self.next_token(), Some(Token::Define | Token::Update)),
        }
    }

    /// Shows the bracket that is open.
    fn at_opener(&self, fault: Diagnostic) -> Diagnostic {
        match self.opener.and_then(|opener| Some((opener, bracket_of(opener.token)?))) {
            Some((opener, bracket)) => fault.label(self.span(opener), format!("the {} opened here", bracket.noun)),
            None => fault,
        }
    }
}

/// The bracket that is open before the token `at`.
pub(super) fn innermost_open(tokens: &[Lexeme], at: usize) -> Option<Lexeme> {
    let mut open = Vec::new();
    for lexeme in &tokens[..at.min(tokens.len())] {
        if lexeme.token.opens() {
            open.push(*lexeme);
        } else if lexeme.token.closes() {
            open.pop();
        }
    }
    open.pop()
}

fn bracket_of(token: Token) -> Option<Bracket> {
    match token {
        Token::OpenParen | Token::OpenCall => Some(Bracket { noun: "parenthesis", closer: ')' }),
        Token::OpenArray | Token::OpenIndex | Token::OpenUnit | Token::OpenTarget => Some(Bracket { noun: "bracket", closer: ']' }),
        Token::OpenBrace => Some(Bracket { noun: "brace", closer: '}' }),
        _ => None,
    }
}

/// How a word is used that cannot stand alone.
fn alone(token: Token, word: &str) -> Option<String> {
    match token {
        Token::Range => Some("range(start, stop, step)` or `range from start to stop step step".to_owned()),
        Token::Column => Some("column:name".to_owned()),
        _ if token.is_source() && token != Token::Table => Some(format!("{word} from file 'path'")),
        _ if token.is_function() && !matches!(token, Token::IfCall | Token::Print) => Some(format!("{word}(…)")),
        _ => None,
    }
}

/// What would have fitted, as LALRPOP lists it.
struct Expected<'t>(&'t [String]);

impl Expected<'_> {
    fn has(&self, token: &str) -> bool {
        self.0.iter().any(|expected| expected == token)
    }

    fn has_closer(&self, bracket: &Bracket) -> bool {
        self.has(&format!("\"{}\"", bracket.closer))
    }

    /// In words; `None` when there is nothing to say in at most `limit` of them.
    fn summary(&self, limit: usize) -> Option<String> {
        let mut wanted = self.kinds();
        if wanted.len() > 1 && limit == 1 {
            wanted.truncate(1);
        }
        match wanted.as_slice() {
            [] => None,
            [only] => Some(only.clone()),
            [most @ .., last] if wanted.len() <= limit => Some(format!("{} or {last}", most.join(", "))),
            _ => None,
        }
    }

    /// Groups of tokens by a word for the group, the others as they are written.
    fn kinds(&self) -> Vec<String> {
        let operand = self.has("INT") && self.has("\"(\"");
        let operator = self.has("\"*\"") && self.has("\"**\"") && self.has("\"+\"");
        let complete = self.has("\"for\"") && !self.has("NAME");
        let mut kinds = Vec::new();
        kinds.extend(self.literal(operand).map(str::to_owned));
        kinds.extend(operator.then(|| "an operator".to_owned()));
        let grouped = operand || operator || complete;
        kinds.extend(self.0.iter().filter_map(|token| self.spelling(token, grouped)).map(|token| format!("`{token}`")));
        kinds.extend(complete.then(|| "the end of the statement".to_owned()));
        kinds
    }

    /// A word for the names and literals in the list.
    fn literal(&self, operand: bool) -> Option<&'static str> {
        let (name, int, string) = (self.has("NAME"), self.has("INT"), self.has("STRING"));
        match (operand, name, int, string) {
            _ if self.has("KEY") && !int => Some("a key and a colon (`key: …`)"),
            (true, ..) => Some("an expression"),
            (_, true, true, _) => Some("a unit"),
            (_, true, _, true) => Some("a name or a string"),
            (_, true, ..) => Some("a name"),
            (_, _, true, _) if self.has("FLOAT") => Some("a number"),
            (_, _, true, _) => Some("an integer"),
            (.., true) => Some("a string"),
            _ => None,
        }
    }

    /// A token as it is written, unless it is part of a group or would only confuse.
    fn spelling<'e>(&self, token: &'e str, grouped: bool) -> Option<&'e str> {
        let plain = token.strip_prefix('"')?.strip_suffix('"')?;
        let soft = matches!(plain, "for" | "on" | "core" | "file" | "url") && self.has("NAME");
        let sign = matches!(plain, "+" | "-") && self.has("INT");
        match plain {
            "call(" if !grouped => Some("("),
            "," | ")" | "]" | "}" | "else" | "to" | "step" => Some(plain),
            _ if grouped
                || soft
                || sign
                || plain.ends_with('[')
                || matches!(plain, "j" | "property:" | "select," | "if(" | "in chunks") =>
            {
                None
            }
            _ => Some(plain),
        }
    }
}
