//! The adapter between lexer and grammar: it splits the tokens into statements and says more precisely what some of them are.
//!
//! SCL writes several things with the same sign. `[` opens an array, an index, the unit of a literal or the unit to print in; a name
//! before `:` may be a key or have a property; `for` may be a name or begin an annotation on the next line. With the few tokens around
//! and the kinds of the open brackets all of that can be told, while an LALR grammar cannot. So tokens get finer kinds here, one to one,
//! never a new text or place; and each statement becomes a piece that is parsed by itself, so that one fault costs one statement.
//!
//! ```text
//! x = s[0] [km]     Name Define Name OpenIndex Int CloseBracket OpenTarget Name CloseBracket
//! ```

use std::ops::Range;

use super::depth::Depth;
use super::lexer::{self, Lexeme};
use super::token::Token;

/// The tokens of one statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which of [`Layout::tokens`]; at least one.
    pub tokens: Range<usize>,
    /// The token, if any, at which it is nested too deep to be parsed.
    pub too_deep: Option<usize>,
}

/// A text as the grammar takes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Of all statements, without separators.
    pub tokens: Vec<Lexeme>,
    /// In the order of the text.
    pub pieces: Vec<Piece>,
}

/// Splits a text into statements and classifies its tokens.
pub fn layout(text: &str) -> Layout {
    let raw = lexer::meaningful(text);
    let done = Layout { tokens: Vec::with_capacity(raw.len()), pieces: Vec::new() };
    let mut adapter = Adapter { text, raw, done, current: Current::default() };
    for at in 0..adapter.raw.len() {
        adapter.take(at);
    }
    adapter.finish_piece();
    adapter.done
}

/// What an open bracket is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bracket {
    /// None is open.
    Top,
    /// The arguments of a function or a statement.
    Call,
    /// The arguments of map, filter or reduce.
    IterateCall,
    /// The arguments of info.
    InfoCall,
    /// A group, tuple or table.
    Group,
    /// A series.
    Series,
    /// A lambda.
    Lambda,
    /// A dict.
    Brace,
    /// An index or slice.
    Index,
    /// A unit of either kind.
    Unit,
    /// An array.
    Array,
}

/// An open bracket.
#[derive(Clone, Copy)]
struct Frame {
    bracket: Bracket,
    /// Whether a list of selected columns is going on in it.
    selecting: bool,
}

/// The statement that is being read.
struct Current {
    start: usize,
    /// Never empty: the first is [`Bracket::Top`].
    frames: Vec<Frame>,
    closed: Bracket,
    depth: Depth,
    too_deep: Option<usize>,
    /// Both `use` and `from` were seen.
    import_joined: bool,
}

impl Default for Current {
    fn default() -> Self {
        let top = Frame { bracket: Bracket::Top, selecting: false };
        Current { start: 0, frames: vec![top], closed: Bracket::Top, depth: Depth::default(), too_deep: None, import_joined: false }
    }
}

impl Current {
    /// Begins another statement, at a token.
    fn begin(&mut self, start: usize) {
        self.frames.truncate(1);
        self.set_selecting(false);
        let (frames, depth) = (std::mem::take(&mut self.frames), std::mem::take(&mut self.depth));
        *self = Current { start, frames, closed: Bracket::Top, depth: depth.cleared(), too_deep: None, import_joined: false };
    }

    fn frame(&self) -> Frame {
        self.frames.last().copied().unwrap_or(Frame { bracket: Bracket::Top, selecting: false })
    }

    fn open(&mut self, bracket: Bracket) {
        self.frames.push(Frame { bracket, selecting: false });
    }

    fn close(&mut self) {
        self.closed = self.frame().bracket;
        if self.frames.len() > 1 {
            self.frames.pop();
        }
    }

    fn set_selecting(&mut self, selecting: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.selecting = selecting;
        }
    }
}

struct Adapter<'t> {
    text: &'t str,
    raw: Vec<Lexeme>,
    done: Layout,
    current: Current,
}

impl Adapter<'_> {
    fn take(&mut self, at: usize) {
        let lexeme = self.raw[at];
        if lexeme.token == Token::Semicolon {
            return self.finish_piece();
        }
        if lexeme.first && self.begins_statement(at) {
            self.finish_piece();
        }
        let token = self.refine(at);
        let after_operand = self.previous().is_some_and(Token::ends_operand);
        if !self.current.depth.see(token, after_operand) && self.current.too_deep.is_none() {
            self.current.too_deep = Some(self.done.tokens.len());
        }
        self.done.tokens.push(Lexeme { token, ..lexeme });
    }

    fn finish_piece(&mut self) {
        let end = self.done.tokens.len();
        if self.current.start < end {
            self.done.pieces.push(Piece { tokens: self.current.start..end, too_deep: self.current.too_deep });
        }
        self.current.begin(end);
    }

    /// The token before, within the statement.
    fn previous(&self) -> Option<Token> {
        self.done.tokens.get(self.current.start..)?.last().map(|lexeme| lexeme.token)
    }

    fn raw_token(&self, at: usize) -> Option<Token> {
        self.raw.get(at).map(|lexeme| lexeme.token)
    }

    fn raw_text(&self, at: usize) -> &str {
        self.raw.get(at).map_or("", |lexeme| lexeme.text(self.text))
    }

    /// Whether the token, the first of its line, begins a statement instead of continuing one. Some do so even within brackets, as
    /// they stand nowhere else: a bracket that was never closed costs one statement, not the rest of the text. A line that cannot
    /// continue the one before is a piece of its own even if it is no statement, so that it alone is faulty.
    fn begins_statement(&self, at: usize) -> bool {
        let Some(previous) = self.previous() else { return false };
        let importing = self.is_half_import();
        let complete = self.current.frames.len() == 1 && !previous.wants_more();
        match self.raw[at].token {
            Token::Print | Token::View | Token::Vary | Token::Tag => true,
            token if token.is_word() && self.is_definition(at) => true,
            Token::Use => !importing,
            Token::From => !importing && (complete || self.is_import(at)),
            Token::For | Token::On if self.number_follows(at) => false,
            Token::Core if previous.is_number() => false,
            token if token.is_name() || token == Token::Reuse => complete || self.is_export(at),
            token => complete && token.begins_operand() && !previous.is_soft(),
        }
    }

    /// Whether the statement is an import of which `from` or `use` is still to come.
    fn is_half_import(&self) -> bool {
        let mut tokens = self.done.tokens[self.current.start..].iter().map(|lexeme| lexeme.token);
        let (head, third) = (tokens.next(), tokens.nth(1));
        match head {
            Some(Token::Use) => !self.current.import_joined && third != Some(Token::Dot),
            Some(Token::From) => !self.current.import_joined,
            _ => false,
        }
    }

    fn number_follows(&self, at: usize) -> bool {
        let sign = usize::from(self.raw_token(at + 1).is_some_and(Token::is_sign));
        self.raw_token(at + 1 + sign).is_some_and(Token::is_number)
    }

    /// Whether `name =`, `name :=` or `name(parameters) =` stands here.
    fn is_definition(&self, at: usize) -> bool {
        let after = match self.raw_token(at + 1) {
            Some(Token::OpenParen) => {
                let parameters = self.raw[at + 2..].iter().take_while(|lexeme| lexeme.token.is_word() || lexeme.token == Token::Comma);
                let close = at + 2 + parameters.count();
                if self.raw_token(close) == Some(Token::CloseParen) { close + 1 } else { return false }
            }
            _ => at + 1,
        };
        matches!(self.raw_token(after), Some(Token::Define | Token::Update))
    }

    /// Whether `from module use` stands here.
    fn is_import(&self, at: usize) -> bool {
        let path = self.raw[at + 1..].iter().take_while(|lexeme| lexeme.token.is_name() || lexeme.token == Token::Dot);
        self.raw_token(at + 1 + path.count()) == Some(Token::Use)
    }

    /// Whether the line goes on with `to file 'path'`.
    fn is_export(&self, at: usize) -> bool {
        let line = self.raw[at + 1..].iter().take_while(|lexeme| !lexeme.first).count();
        let medium = |token| matches!(token, Token::File | Token::Url);
        self.raw[at + 1..at + 1 + line].windows(3).any(|to| to[0].token == Token::To && medium(to[1].token) && to[2].token == Token::Str)
    }

    /// The token's finer kind; keeps account of the brackets.
    fn refine(&mut self, at: usize) -> Token {
        let token = self.raw[at].token;
        match token {
            Token::OpenParen => self.open_parenthesis(at),
            Token::OpenArray => self.open_bracket(at),
            Token::OpenBrace => {
                self.current.open(Bracket::Brace);
                token
            }
            Token::CloseParen | Token::CloseBracket | Token::CloseBrace => {
                self.current.close();
                token
            }
            Token::Comma => self.comma(at),
            Token::Colon if self.is_property(at) => Token::PropertyColon,
            Token::Int | Token::Float if self.is_real_part(at) => Token::RealPart,
            Token::Plus | Token::Minus if self.is_literal_sign(at) => Token::LiteralSign,
            _ if token.is_word() || token == Token::Str => self.word(at),
            _ => token,
        }
    }

    fn open_parenthesis(&mut self, at: usize) -> Token {
        let previous = self.previous();
        let call = match previous {
            Some(Token::Map | Token::Filter | Token::Reduce) => Some(Bracket::IterateCall),
            Some(Token::Info) => Some(Bracket::InfoCall),
            Some(token) if token.is_name() || token.is_function() => Some(Bracket::Call),
            _ => None,
        };
        if let Some(bracket) = call {
            self.current.open(bracket);
            return Token::OpenCall;
        }
        let keyed = self.raw_token(at + 1).is_some_and(Token::is_key) && self.raw_token(at + 2) == Some(Token::Colon);
        let is_function = self.current.frame().bracket == Bracket::IterateCall && previous == Some(Token::OpenCall);
        self.current.open(match (is_function, keyed) {
            (true, _) => Bracket::Lambda,
            (false, true) => Bracket::Series,
            (false, false) => Bracket::Group,
        });
        Token::OpenParen
    }

    fn open_bracket(&mut self, at: usize) -> Token {
        let (bracket, token) = match self.previous() {
            Some(Token::Int | Token::Float | Token::Imaginary) => (Bracket::Unit, Token::OpenUnit),
            Some(Token::CloseParen) if self.current.closed == Bracket::Series => (Bracket::Unit, Token::OpenUnit),
            Some(Token::CloseBracket) if self.current.closed == Bracket::Array => (Bracket::Unit, Token::OpenUnit),
            Some(previous) if previous.ends_operand() && self.is_index(at) => (Bracket::Index, Token::OpenIndex),
            Some(previous) if previous.ends_operand() => (Bracket::Unit, Token::OpenTarget),
            _ => (Bracket::Array, Token::OpenArray),
        };
        self.current.open(bracket);
        token
    }

    /// Whether the bracket begins with an integer that is no part of a unit, or with a colon.
    fn is_index(&self, at: usize) -> bool {
        let sign = usize::from(self.raw_token(at + 1).is_some_and(Token::is_sign));
        match self.raw_token(at + 1 + sign) {
            Some(Token::Int) => !matches!(self.raw_token(at + 2 + sign), Some(Token::Star | Token::Slash | Token::Power)),
            Some(Token::Colon) => sign == 0,
            _ => false,
        }
    }

    /// A comma belongs to the selected columns while a key follows it, but not if that is the `detail:` of info.
    fn comma(&mut self, at: usize) -> Token {
        let key_follows = self.raw_token(at + 1).is_some_and(Token::is_key) && self.raw_token(at + 2) != Some(Token::Colon);
        let selecting = self.current.frame().selecting && key_follows;
        self.current.set_selecting(selecting);
        if selecting { Token::SelectComma } else { Token::Comma }
    }

    fn is_property(&self, at: usize) -> bool {
        let of = self.previous().is_some_and(|token| token.is_key() || matches!(token, Token::CloseBracket | Token::Reuse));
        of && self.current.frame().bracket != Bracket::Index && matches!(self.raw_text(at + 1), "name" | "array" | "columns")
    }

    fn is_real_part(&self, at: usize) -> bool {
        let sign = self.raw_token(at + 1).is_some_and(Token::is_sign);
        sign && self.raw_token(at + 2).is_some_and(Token::is_number) && self.is_imaginary(at + 3)
    }

    /// Whether a complex number begins behind the sign, and no operand ends before it.
    fn is_literal_sign(&self, at: usize) -> bool {
        let binary = self.previous().is_some_and(|token| token.ends_operand() || token == Token::RealPart);
        let number = self.raw_token(at + 1).is_some_and(Token::is_number);
        !binary && number && (self.is_imaginary(at + 2) || self.is_real_part(at + 1))
    }

    /// Whether `j` stands here, behind a number and a blank on the same line.
    fn is_imaginary(&self, at: usize) -> bool {
        let (Some(number), Some(unit)) = (at.checked_sub(1).and_then(|before| self.raw.get(before)), self.raw.get(at)) else {
            return false;
        };
        let outside = !matches!(self.current.frame().bracket, Bracket::Index | Bracket::Unit);
        outside && number.token.is_number() && number.end < unit.start && !unit.first && matches!(unit.text(self.text), "j" | "J")
    }

    fn word(&mut self, at: usize) -> Token {
        let token = self.raw[at].token;
        if self.current.frame().bracket == Bracket::Unit && token.is_word() {
            return Token::Name;
        }
        match token {
            Token::Use | Token::From => self.current.import_joined |= self.previous().is_some(),
            Token::Select => self.current.set_selecting(true),
            Token::Where => self.current.set_selecting(false),
            _ => {}
        }
        match token {
            Token::If if !self.previous().is_some_and(Token::ends_operand) && self.raw_token(at + 1) == Some(Token::OpenParen) => {
                Token::IfCall
            }
            Token::In if self.counts_chunks(at) => Token::InChunks,
            _ if token.is_key() && self.is_key(at) => Token::Key,
            Token::Name => self.name(at),
            _ => token,
        }
    }

    /// Whether `chunks` follows at the distance of a number or a name, of which the grammar takes only an integer.
    fn counts_chunks(&self, at: usize) -> bool {
        let sign = usize::from(self.raw_token(at + 1).is_some_and(Token::is_sign));
        let counted = self.raw_token(at + 1 + sign).is_some_and(|token| token.is_number() || token.is_name());
        counted && self.raw_token(at + 2 + sign) == Some(Token::Chunks)
    }

    fn is_key(&self, at: usize) -> bool {
        if self.raw_token(at + 1) != Some(Token::Colon) {
            return false;
        }
        match self.current.frame().bracket {
            Bracket::Series => self.previous() == Some(Token::OpenParen),
            Bracket::Lambda => matches!(self.previous(), Some(Token::OpenParen | Token::Comma)) && self.raw[at].token.is_name(),
            Bracket::Brace => matches!(self.previous(), Some(Token::OpenBrace | Token::Comma)),
            Bracket::InfoCall => self.previous() == Some(Token::Comma),
            _ => false,
        }
    }

    /// `True` and `False` are names only where they are defined or are keys; `j` may be the imaginary unit.
    fn name(&self, at: usize) -> Token {
        let named = self.previous() == Some(Token::Dot) || matches!(self.raw_token(at + 1), Some(Token::Define | Token::Update));
        match self.raw_text(at) {
            "True" if !named => Token::True,
            "False" if !named => Token::False,
            "j" | "J" if self.previous().is_some_and(Token::is_number) && self.is_imaginary(at) => Token::Imaginary,
            _ => Token::Name,
        }
    }
}
