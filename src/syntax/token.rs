//! Tokens: the kinds that the lexer makes, and the finer kinds that `layout` turns some of them into.
//!
//! A token is a kind without payload; its text is looked up by its place. So it is one byte, `Copy`, and a soft word such as `on` can
//! be a name without losing its spelling. The second half of [`Token`] never comes out of the lexer: SCL uses `[`, `(`, `,`, `:` and
//! `in` for several things each, and the grammar is free of conflicts because `layout` has told them apart before.

use logos::Logos;

/// What the lexer carries along.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scan {
    /// For `'` and `"`: no closing quote was found up to the end of the text once, so it is searched on one line only from then on.
    unclosed: [bool; 2],
}

/// The kind of a token.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(extras = Scan)]
#[logos(skip r"[ \t\r\f\u{FEFF}]+")]
pub enum Token {
    /// The end of a line.
    #[token("\n")]
    Newline,
    /// `# …`, up to the end of the line.
    #[regex(r"#[^\n]*", allow_greedy = true)]
    Comment,
    /// Between triple double quotes.
    #[token("\"\"\"", block_comment)]
    BlockComment,
    /// A block comment without an end, up to the end of the text.
    UnterminatedComment,
    /// A string without a closing quote, up to the end of its line.
    UnterminatedString,
    /// `name@` without 32 hexadecimal digits behind.
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*@\p{XID_Continue}*", priority = 1)]
    MalformedReuse,
    /// A character that begins no token.
    Invalid,

    /// `;`
    #[token(";")]
    Semicolon,
    /// `=`
    #[token("=")]
    Define,
    /// `:=`
    #[token(":=")]
    Update,
    /// `?`
    #[token("?")]
    Question,
    /// `(` of a group, tuple, table, series or lambda.
    #[token("(")]
    OpenParen,
    /// `)`
    #[token(")")]
    CloseParen,
    /// `[` of an array.
    #[token("[")]
    OpenArray,
    /// `]`
    #[token("]")]
    CloseBracket,
    /// `{`
    #[token("{")]
    OpenBrace,
    /// `}`
    #[token("}")]
    CloseBrace,
    /// `,`
    #[token(",")]
    Comma,
    /// `:`
    #[token(":")]
    Colon,
    /// `.`
    #[token(".")]
    Dot,
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// `**`
    #[token("**")]
    Power,
    /// `+/-` or `±`
    #[token("+/-")]
    #[token("±")]
    PlusMinus,
    /// `==`
    #[token("==")]
    Equal,
    /// `!=`
    #[token("!=")]
    NotEqual,
    /// `<`
    #[token("<")]
    Less,
    /// `<=`
    #[token("<=")]
    LessEqual,
    /// `>`
    #[token(">")]
    Greater,
    /// `>=`
    #[token(">=")]
    GreaterEqual,

    /// `and`
    #[token("and")]
    And,
    /// `or`
    #[token("or")]
    Or,
    /// `not`
    #[token("not")]
    Not,
    /// `in`, for membership.
    #[token("in")]
    In,
    /// `if` between operands.
    #[token("if")]
    If,
    /// `else`
    #[token("else")]
    Else,
    /// `use`
    #[token("use")]
    Use,
    /// `from`
    #[token("from")]
    From,
    /// `to`
    #[token("to")]
    To,
    /// `with`
    #[token("with")]
    With,
    /// `step`
    #[token("step")]
    Step,
    /// `chunks`
    #[token("chunks")]
    Chunks,
    /// `select`
    #[token("select")]
    Select,
    /// `where`
    #[token("where")]
    Where,
    /// `column`
    #[token("column")]
    Column,
    /// `print`
    #[token("print")]
    Print,
    /// `view`
    #[token("view")]
    View,
    /// `vary`
    #[token("vary")]
    Vary,
    /// `tag`
    #[token("tag")]
    Tag,
    /// `info`
    #[token("info")]
    Info,
    /// `range`
    #[token("range")]
    Range,
    /// `map`
    #[token("map")]
    Map,
    /// `filter`
    #[token("filter")]
    Filter,
    /// `reduce`
    #[token("reduce")]
    Reduce,
    /// `sum`
    #[token("sum")]
    Sum,
    /// `any`
    #[token("any")]
    Any,
    /// `all`
    #[token("all")]
    All,
    /// `real`
    #[token("real")]
    Real,
    /// `imag`
    #[token("imag")]
    Imag,
    /// `Table`
    #[token("Table")]
    Table,
    /// `Quantity`
    #[token("Quantity")]
    Quantity,
    /// `Bool`
    #[token("Bool")]
    Bool,
    /// `String`
    #[token("String")]
    StringType,
    /// `Series`
    #[token("Series")]
    Series,
    /// `BoolArray`
    #[token("BoolArray")]
    BoolArray,
    /// `StrArray`
    #[token("StrArray")]
    StrArray,
    /// `IntArray`
    #[token("IntArray")]
    IntArray,
    /// `FloatArray`
    #[token("FloatArray")]
    FloatArray,
    /// `ComplexArray`
    #[token("ComplexArray")]
    ComplexArray,
    /// `Structure`
    #[token("Structure")]
    Structure,
    /// The other words of atomistic and chemical modelling.
    #[token("Calculator")]
    #[token("Algorithm")]
    #[token("Property")]
    #[token("FixedAtoms")]
    #[token("FixedLine")]
    #[token("FixedPlane")]
    #[token("FixedCOM")]
    #[token("Species")]
    #[token("Reaction")]
    Atomistic,
    /// `true`, and `True` where it is no name.
    #[token("true")]
    True,
    /// `false`, and `False` where it is no name.
    #[token("false")]
    False,
    /// `null` or `default`
    #[token("null")]
    #[token("default")]
    Null,

    /// `for`; a soft word, as the next four.
    #[token("for")]
    For,
    /// `on`
    #[token("on")]
    On,
    /// `core` or `cores`
    #[token("core")]
    #[token("cores")]
    Core,
    /// `file`
    #[token("file")]
    File,
    /// `url`
    #[token("url")]
    Url,

    /// Digits.
    #[regex(r"[0-9]+", priority = 5)]
    Int,
    /// A number with a point or an exponent.
    #[regex(r"([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")]
    Float,
    /// A string with its quotes.
    #[token("'", quoted)]
    #[token("\"", quoted)]
    Str,
    /// A name.
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*", priority = 1)]
    Name,
    /// `°C` and the like, which are names of units only.
    #[regex(r"°\p{XID_Continue}*")]
    Degree,
    /// `name@` and 32 hexadecimal digits.
    #[regex(r"[\p{XID_Start}_]\p{XID_Continue}*@[0-9a-fA-F]{32}", priority = 9)]
    Reuse,

    /// Begins what is parsed as a statement.
    StartStatement,
    /// Begins what is parsed as a bare expression.
    StartExpression,
    /// A name or string before the `:` of a series, a dict, a lambda or `detail`.
    Key,
    /// `(` of a call.
    OpenCall,
    /// `[` of an index or slice.
    OpenIndex,
    /// `[` of the unit of a number, a series or an array.
    OpenUnit,
    /// `[` of the unit that a printed value is converted to.
    OpenTarget,
    /// `,` between selected columns.
    SelectComma,
    /// `:` before `name`, `array` or `columns`.
    PropertyColon,
    /// `in` before the number of chunks.
    InChunks,
    /// `if` of `if(…, …, …)`.
    IfCall,
    /// The sign of a complex number's first part, where no operand stands before it.
    LiteralSign,
    /// The real part of a complex number.
    RealPart,
    /// `j` after a number.
    Imaginary,
}

impl Token {
    /// Whether it can be used as a name.
    pub fn is_name(self) -> bool {
        matches!(self, Token::Name | Token::For | Token::On | Token::Core | Token::File | Token::Url)
    }

    /// Whether it is a name that has a meaning of its own in some places.
    pub fn is_soft(self) -> bool {
        self.is_name() && self != Token::Name
    }

    /// Whether an operand can begin with it and none can go on with it; names aside.
    pub fn begins_operand(self) -> bool {
        use Token::*;
        self.is_number()
            || self.is_source()
            || matches!(self, Str | True | False | Null | Not | Column | OpenBrace)
            || matches!(self, Range | Info | Map | Filter | Reduce | Sum | Any | All | Real | Imag)
    }

    /// Whether it can be a column's name or a dict's key.
    pub fn is_key(self) -> bool {
        self.is_name() || self == Token::Str
    }

    /// Whether it makes its statement faulty whatever stands around it.
    pub fn is_faulty(self) -> bool {
        matches!(self, Token::UnterminatedComment | Token::UnterminatedString | Token::MalformedReuse | Token::Invalid)
    }

    /// Whether an operand can end with it.
    pub fn ends_operand(self) -> bool {
        self.is_key()
            || matches!(self, Token::Int | Token::Float | Token::Imaginary | Token::True | Token::False | Token::Null | Token::Reuse)
            || matches!(self, Token::CloseParen | Token::CloseBracket | Token::CloseBrace | Token::Chunks)
    }

    /// Whether a statement cannot end with it, so that the next line continues it.
    pub fn wants_more(self) -> bool {
        use Token::*;
        self.is_comparison()
            || self.is_source()
            || matches!(self, Define | Update | Comma | SelectComma | Plus | Minus | Star | Slash | Power | PlusMinus | Dot | Colon)
            || matches!(self, And | Or | Not | In | InChunks | If | IfCall | Else | With | Use | From | To | Step | Select | Where)
            || matches!(self, Column | Range | PropertyColon | View | Vary | Tag | Print)
    }

    /// Whether it compares.
    pub fn is_comparison(self) -> bool {
        use Token::*;
        matches!(self, Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual)
    }

    /// Whether it says what a file holds.
    pub fn is_source(self) -> bool {
        use Token::*;
        matches!(self, Quantity | Bool | StringType | Series | Table | Structure)
            || matches!(self, BoolArray | StrArray | IntArray | FloatArray | ComplexArray)
    }

    /// Whether `(` after it opens the arguments of a function with a word of its own.
    pub fn is_function(self) -> bool {
        use Token::*;
        matches!(self, Print | Info | Range | Map | Filter | Reduce | Sum | Any | All | Real | Imag | Table | IfCall)
    }

    /// Whether it is a word that cannot be a name.
    pub fn is_reserved(self) -> bool {
        use Token::*;
        self.is_function()
            || self.is_source()
            || self.joins()
            || matches!(self, Not | Chunks | Column | View | Vary | Tag | Atomistic | True | False | Null)
    }

    /// Whether it is a word that joins what stands before and behind, so that it was hardly meant as a name.
    pub fn joins(self) -> bool {
        use Token::*;
        matches!(self, And | Or | In | InChunks | If | Else | Use | From | To | With | Step | Select | Where)
    }

    /// Whether it is a word, reserved or not.
    pub fn is_word(self) -> bool {
        self.is_name() || self.is_reserved()
    }

    /// Whether it is a plus or minus sign.
    pub fn is_sign(self) -> bool {
        matches!(self, Token::Plus | Token::Minus)
    }

    /// Whether it is a number without sign.
    pub fn is_number(self) -> bool {
        matches!(self, Token::Int | Token::Float)
    }

    /// Whether it opens any kind of bracket.
    pub fn opens(self) -> bool {
        use Token::*;
        matches!(self, OpenParen | OpenCall | OpenArray | OpenIndex | OpenUnit | OpenTarget | OpenBrace)
    }

    /// Whether it closes any kind of bracket.
    pub fn closes(self) -> bool {
        matches!(self, Token::CloseParen | Token::CloseBracket | Token::CloseBrace)
    }
}

/// Takes everything up to the next triple quote.
fn block_comment(lexer: &mut logos::Lexer<'_, Token>) -> Token {
    let rest = lexer.remainder();
    let end = rest.find("\"\"\"");
    lexer.bump(end.map_or(rest.len(), |at| at + 3));
    if end.is_some() { Token::BlockComment } else { Token::UnterminatedComment }
}

/// Takes a string up to its closing quote, on whatever line that is; without one, up to the end of its line.
fn quoted(lexer: &mut logos::Lexer<'_, Token>) -> Token {
    let quote = lexer.slice().as_bytes()[0];
    let rest = lexer.remainder().as_bytes();
    let unclosed = lexer.extras.unclosed[usize::from(quote == b'"')];
    if let Some(end) = closing_quote(rest, quote, unclosed) {
        lexer.bump(end + 1);
        return Token::Str;
    }
    lexer.extras.unclosed[usize::from(quote == b'"')] = true;
    let line = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    lexer.bump(line);
    Token::UnterminatedString
}

/// Where the string's closing quote stands, a backslash taking away the meaning of what follows it.
fn closing_quote(rest: &[u8], quote: u8, one_line: bool) -> Option<usize> {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match *byte {
            b'\\' => at += 1,
            b'\n' if one_line => return None,
            found if found == quote => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}
