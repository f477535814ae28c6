//! Habits of other notations: what someone who writes `def f(x)`, `5 m` or `print x` probably meant.
//!
//! A habit is recognised by the tokens next to the one that did not fit, and answered by how the same is written here. It only ever
//! adds the help to a fault that was found by other means, so a wrong guess hides nothing.

use super::Place;
use crate::syntax::lexer::Lexeme;
use crate::syntax::token::Token;

impl Place<'_> {
    /// How it is written here.
    pub(super) fn habit(&self) -> Option<String> {
        let habits = [
            Place::foreign_statement,
            Place::reassignment,
            Place::foreign_import,
            Place::renamed_import,
            Place::foreign_comment,
            Place::qualified_name,
            Place::define_in_dict,
            Place::define_of_function,
            Place::path_without_medium,
            Place::unequal,
            Place::range_arguments,
            Place::cores,
            Place::print_without_parentheses,
            Place::amount_without_brackets,
            Place::unit_without_brackets,
            Place::unit_expression,
            Place::implied_product,
            Place::bare_lambda,
            Place::foreign_condition,
            Place::half_condition,
            Place::method,
            Place::key_in_brackets,
            Place::bare_column,
            Place::bare_series,
        ];
        habits.iter().find_map(|habit| habit(self))
    }

    /// `def f(x)`, `for i in …`, `let a = 1`
    fn foreign_statement(&self) -> Option<String> {
        let first = *self.tokens.first().filter(|_| self.at == 1)?;
        let help = match first.text(self.text) {
            "def" | "function" | "func" | "fn" | "fun" => "a function is defined as `name(x) = …`",
            "for" | "while" | "foreach" => {
                "there are no loops: `map`, `filter`, `reduce` and `sum` go through series, and `range` makes one"
            }
            "let" | "var" | "const" | "val" | "int" | "float" | "double" | "real" | "string" | "set" => {
                "a variable is defined as `name = …`"
            }
            "return" => "the value of a function is what stands behind its `=`",
            "echo" | "puts" | "show" | "display" => "a value is printed as `print(…)`",
            _ => return None,
        };
        Some(help.to_owned())
    }

    /// `x += 1`, `x++`
    fn reassignment(&self) -> Option<String> {
        let operator = self.found.filter(|_| self.at == 1)?;
        let arithmetic = matches!(operator.token, Token::Plus | Token::Minus | Token::Star | Token::Slash | Token::Power);
        let again = matches!(self.next_token(), Some(Token::Define | Token::Plus | Token::Minus));
        let name = self.after();
        (arithmetic && again).then(|| format!("a variable has one value; give the new one a name of its own: `name = {name} …`"))
    }

    /// `from math import sqrt`
    fn foreign_import(&self) -> Option<String> {
        let imports = self.found?.text(self.text) == "import" && self.tokens.first()?.token == Token::From;
        imports.then(|| "write `from module use name`".to_owned())
    }

    /// `use numpy as np`
    fn renamed_import(&self) -> Option<String> {
        let imports = matches!(self.tokens.first()?.token, Token::Use | Token::From) && self.found?.text(self.text) == "as";
        imports.then(|| "what is imported keeps its name, and modules have none: `use sqrt, exp from numpy`".to_owned())
    }

    /// `// text`, `/* text */`
    fn foreign_comment(&self) -> Option<String> {
        let (first, second) = (self.found.filter(|_| self.at == 0)?, self.tokens.get(1)?);
        let is_comment = first.token == Token::Slash && matches!(second.token, Token::Slash | Token::Star | Token::Power);
        (is_comment && first.end == second.start).then(|| "a comment begins with `#`".to_owned())
    }

    /// `numpy.sqrt(4)`
    fn qualified_name(&self) -> Option<String> {
        self.found.filter(|found| matches!(found.token, Token::OpenParen | Token::OpenCall))?;
        let [.., module, dot, name] = &self.tokens[..self.at] else { return None };
        let is_path = module.token == Token::Name && dot.token == Token::Dot && name.token.is_name();
        let (module, name) = (self.shown(*module), self.shown(*name));
        is_path.then(|| format!("functions are imported by name: `use {name} from {module}`, then `{name}(…)`"))
    }

    /// `{a = 1}`
    fn define_in_dict(&self) -> Option<String> {
        self.opener.filter(|opener| opener.token == Token::OpenBrace)?;
        let defines = self.found_token() == Some(Token::Define) || self.next_token() == Some(Token::Define);
        defines.then(|| "a member of a dict is written `key: value`".to_owned())
    }

    /// `f(x) := x`
    fn define_of_function(&self) -> Option<String> {
        let updates = self.found_token() == Some(Token::Update) && self.tokens.get(1)?.token == Token::OpenCall;
        updates.then(|| "a function is defined with `=`, and only variables are updated".to_owned())
    }

    /// `Table from 'data.json'`, `a to 'data.json'`
    fn path_without_medium(&self) -> Option<String> {
        let path = self.found.filter(|found| found.token == Token::Str && self.expected.has("\"file\""))?;
        Some(format!("write `{} file {}`", self.after(), self.shown(path)))
    }

    /// `a <> b`
    fn unequal(&self) -> Option<String> {
        let (before, found) = (self.before?, self.found?);
        let is_pair = before.token == Token::Less && found.token == Token::Greater && before.end == found.start;
        is_pair.then(|| "write `!=`".to_owned())
    }

    /// `range(10)`
    fn range_arguments(&self) -> Option<String> {
        let opener = self.opener.filter(|_| self.found.is_some_and(|found| found.token.closes()))?;
        let function = self.tokens.iter().take_while(|lexeme| **lexeme != opener).last()?;
        (function.token == Token::Range)
            .then(|| "a range has a start, an end that it does not reach, and a step: `range(0, 10, 1)`".to_owned())
    }

    /// `on 4 cpus`
    fn cores(&self) -> Option<String> {
        let on = self.tokens.get(self.at.checked_sub(2)?)?.token == Token::On;
        (on && self.is_number_before_name()).then(|| format!("write `on {} cores`", self.after()))
    }

    /// `print x`
    fn print_without_parentheses(&self) -> Option<String> {
        let prints = self.at == 1 && self.before_token() == Some(Token::Print) && self.found_token() != Some(Token::Define);
        prints.then(|| "what is printed stands in parentheses: `print(…)`".to_owned())
    }

    /// `for 2 hours`, `with 2 GB`
    fn amount_without_brackets(&self) -> Option<String> {
        let word = self.tokens.get(self.at.checked_sub(2)?)?.token;
        let annotates = matches!(word, Token::For | Token::With) && self.is_number_before_name();
        annotates.then(|| "time and memory have a unit in brackets: `for 2 [hour]`, `on 4 cores with 2 [GB]`".to_owned())
    }

    /// `5 m`
    fn unit_without_brackets(&self) -> Option<String> {
        let (number, unit) = (self.after(), self.shown(self.found?));
        self.is_number_before_name().then(|| format!("a unit stands in brackets: `{number} [{unit}]`"))
    }

    fn is_number_before_name(&self) -> bool {
        let apart = self.before.zip(self.found).is_some_and(|(number, name)| number.end < name.start && !name.first);
        apart && self.before_token().is_some_and(Token::is_number) && self.found_token() == Some(Token::Name)
    }

    /// `[kg m]`, `[m/(s*kg)]`
    fn unit_expression(&self) -> Option<String> {
        self.opener.filter(|opener| matches!(opener.token, Token::OpenUnit | Token::OpenTarget | Token::OpenIndex))?;
        let found = self.found?;
        if found.token.is_word() && self.before.is_some_and(|before| before.token.is_name()) {
            let (before, unit) = (self.after(), self.shown(found));
            return Some(format!("units are joined by `*` or `/`: `{before}*{unit}`"));
        }
        let parenthesis = matches!(found.token, Token::OpenParen | Token::OpenCall);
        parenthesis.then(|| "there are no parentheses in units; divide by each: `J/mol/K`".to_owned())
    }

    /// `3(4 + 5)`
    fn implied_product(&self) -> Option<String> {
        let opens = self.found.is_some_and(|found| matches!(found.token, Token::OpenParen | Token::OpenCall) && !found.first);
        (opens && self.before_token().is_some_and(Token::is_number)).then(|| format!("a product has its sign: `{}*(…)`", self.after()))
    }

    /// `map(x: 2*x, s)`, `map(lambda x: 2*x, s)`, `map(x -> 2*x, s)`
    fn bare_lambda(&self) -> Option<String> {
        let opener = self.opener.filter(|opener| opener.token == Token::OpenCall)?;
        let function = self.tokens.iter().take_while(|lexeme| **lexeme != opener).last()?;
        let iterates = matches!(function.token, Token::Map | Token::Filter | Token::Reduce);
        let colon = matches!(self.found_token(), Some(Token::Colon | Token::PropertyColon));
        let word = self.before.is_some_and(|before| before.text(self.text) == "lambda");
        let arrow = self.found_token() == Some(Token::Minus) && self.next_token() == Some(Token::Greater);
        (iterates && (colon || word || arrow)).then(|| "a lambda stands in parentheses, as in `(x: 2*x)`".to_owned())
    }

    /// `if c then a else b`, `c ? a : b`
    fn foreign_condition(&self) -> Option<String> {
        let condition = self.found_token() == Some(Token::If) || self.before_token() == Some(Token::Question);
        condition.then(|| "a choice is written `a if condition else b` or `if(condition, a, b)`".to_owned())
    }

    /// `a if condition`
    fn half_condition(&self) -> Option<String> {
        let misses = self.expected.has("\"else\"");
        misses.then(|| "a choice has both branches: `a if condition else b`".to_owned())
    }

    /// `s.sum()`, `t.select(a)`
    fn method(&self) -> Option<String> {
        let found = self.found.filter(|_| self.before_token() == Some(Token::Dot))?;
        match found.token {
            Token::Select | Token::Where => Some("a query follows the name of the table: `t select a where column:b > 1`".to_owned()),
            token if token.is_function() && self.next_token() == Some(Token::OpenCall) => {
                Some(format!("there are no methods; write `{}(…)`", self.shown(found)))
            }
            _ => None,
        }
    }

    /// `d['key']`
    fn key_in_brackets(&self) -> Option<String> {
        let opens = |lexeme: Option<&Lexeme>| {
            lexeme.is_some_and(|lexeme| matches!(lexeme.token, Token::OpenIndex | Token::OpenUnit | Token::OpenTarget))
        };
        let key = if opens(self.found.as_ref()) { self.tokens.get(self.at + 1) } else { self.found.as_ref() };
        let key = key.filter(|key| key.token == Token::Str && (opens(self.before.as_ref()) || opens(self.found.as_ref())))?;
        Some(format!("a key or a column follows a point: `.{}`", self.shown(*key)))
    }

    /// `where colum:a > 1`
    fn bare_column(&self) -> Option<String> {
        let colon = matches!(self.found_token(), Some(Token::Colon | Token::PropertyColon));
        let query = self.tokens[..self.at].iter().any(|lexeme| lexeme.token == Token::Where);
        (colon && query).then(|| "a column of the queried table is written `column:name`".to_owned())
    }

    /// `s = v: 1, 2`
    fn bare_series(&self) -> Option<String> {
        let colon = matches!(self.found_token(), Some(Token::Colon | Token::PropertyColon));
        let named = self.at == 3 && self.tokens.get(1)?.token == Token::Define && self.before?.token.is_key();
        (colon && named).then(|| "a series stands in parentheses: `(name: 1, 2)`".to_owned())
    }
}
