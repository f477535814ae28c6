//! A bound on how deep a tree can get, kept while its tokens go by.
//!
//! LALRPOP's own stack is on the heap, but whoever walks, prints or drops a tree recurses. What adds depth is counted: brackets, and
//! within each of them the chains of `else`, of `not`, and of signs, powers and accessors. A chain ends where the grammar begins a
//! sibling instead of a child: at a comma all of them, at `and` and `or` those of `not`, at a binary operator the tight ones.

use super::token::Token;

/// The most that may be open at once. Trees get a small constant factor deeper, for the levels of precedence within a bracket.
const BUDGET: u32 = 256;

/// What a bracket costs; more than a link of a chain, as every level of precedence may stand in it.
const BRACKET: u32 = 2;

/// Chains within one bracket.
#[derive(Clone, Copy, Default)]
struct Chains {
    elses: u32,
    nots: u32,
    tight: u32,
}

impl Chains {
    fn total(self) -> u32 {
        self.elses + self.nots + self.tight
    }
}

/// How deep the statement is at the token seen last.
#[derive(Default)]
pub(super) struct Depth {
    around: Vec<Chains>,
    here: Chains,
    outside: u32,
}

impl Depth {
    /// The same as new, with the room that it has.
    pub(super) fn cleared(mut self) -> Depth {
        self.around.clear();
        Depth { around: self.around, ..Depth::default() }
    }

    /// Takes note of a token; says whether the budget still holds.
    pub(super) fn see(&mut self, token: Token, after_operand: bool) -> bool {
        if token.opens() {
            self.here.tight += u32::from(token == Token::OpenIndex);
            self.around.push(self.here);
            self.outside += self.here.total() + BRACKET;
            self.here = Chains::default();
        } else if token.closes() {
            self.close();
        } else {
            self.link(token, after_operand);
        }
        self.outside + self.here.total() <= BUDGET
    }

    fn close(&mut self) {
        if let Some(around) = self.around.pop() {
            self.outside -= around.total() + BRACKET;
            self.here = around;
        }
    }

    fn link(&mut self, token: Token, after_operand: bool) {
        let here = &mut self.here;
        match token {
            Token::Power | Token::Dot | Token::PropertyColon => here.tight += 1,
            Token::Plus | Token::Minus if !after_operand => here.tight += 1,
            Token::Plus | Token::Minus | Token::Star | Token::Slash | Token::In => here.tight = 0,
            Token::Not => here.nots += 1,
            Token::And | Token::Or | Token::If => *here = Chains { elses: here.elses, ..Chains::default() },
            Token::Else => *here = Chains { elses: here.elses + 1, ..Chains::default() },
            Token::Comma => *here = Chains::default(),
            _ if token.is_comparison() => here.tight = 0,
            _ => {}
        }
    }
}
