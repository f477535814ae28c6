//! Closing an expression over its inputs, so that it can be evaluated elsewhere.

use std::collections::HashMap;
use std::sync::Arc;

use super::uses_of;
use crate::model::{Callee, Expr, ExprKind, Function, FunctionId, Model, Task, VarId};

/// A task and the variables whose values are its inputs, in their order.
pub fn close(model: &Model, name: Arc<str>, expr: &Expr) -> (Task, Vec<VarId>) {
    let inputs = uses_of(expr, &model.functions);
    let names = inputs.iter().map(|id| model.variables[id.index()].name.clone()).collect();
    let places = inputs.iter().enumerate().map(|(place, id)| (*id, VarId(place as u32))).collect();
    (Closing::new(model, places).task(name, expr.clone(), names), inputs)
}

/// A map, filter or reduce without its data, which become its first inputs.
#[derive(Clone, Debug)]
pub struct ChunkedTask {
    /// Evaluates one chunk. Of a reduce it also folds the results of all chunks.
    pub task: Task,
    /// The data, one for each of the first inputs.
    pub data: Vec<Expr>,
    /// The variables whose values are the other inputs.
    pub captured: Vec<VarId>,
    /// Whether results are folded rather than joined.
    pub folds: bool,
}

/// Takes the data out of a map, filter or reduce; `None` when the expression is none of them.
pub fn chunked(model: &Model, name: Arc<str>, expr: &Expr) -> Option<ChunkedTask> {
    let mut expr = expr.clone();
    let mut data = Vec::new();
    let folds = matches!(expr.kind, ExprKind::Reduce { .. });
    // beyond all variables of the model, so that they cannot be confused with one
    let stand_in = |place: usize| VarId((model.variables.len() + place) as u32);
    let mut take = |input: &mut Expr| {
        let kind = ExprKind::Variable(stand_in(data.len()));
        let span = input.span;
        data.push(std::mem::replace(input, Expr { span, kind }));
    };
    match &mut expr.kind {
        ExprKind::Map { inputs, .. } => inputs.iter_mut().for_each(&mut take),
        ExprKind::Filter { input, .. } | ExprKind::Reduce { input, .. } => take(input),
        _ => return None,
    }
    let all = uses_of(&expr, &model.functions);
    let captured: Vec<VarId> = all.into_iter().filter(|id| id.index() < model.variables.len()).collect();
    let order = (0..data.len()).map(stand_in).chain(captured.iter().copied());
    let places: HashMap<VarId, VarId> = order.enumerate().map(|(place, id)| (id, VarId(place as u32))).collect();
    let data_names = data.iter().enumerate().map(|(place, data)| match &data.kind {
        ExprKind::Variable(id) => model.variables[id.index()].name.clone(),
        _ => Arc::from(format!("data{place}")),
    });
    let names = data_names.chain(captured.iter().map(|id| model.variables[id.index()].name.clone())).collect();
    let task = Closing::new(model, places).task(name, expr, names);
    Some(ChunkedTask { task, data, captured, folds })
}

/// Replaces the ids of a model by places in a task.
struct Closing<'m> {
    model: &'m Model,
    inputs: HashMap<VarId, VarId>,
    places: HashMap<FunctionId, FunctionId>,
    functions: Vec<Option<Function>>,
}

impl<'m> Closing<'m> {
    fn new(model: &'m Model, inputs: HashMap<VarId, VarId>) -> Self {
        Closing { model, inputs, places: HashMap::new(), functions: Vec::new() }
    }

    fn task(mut self, name: Arc<str>, mut expr: Expr, inputs: Vec<Arc<str>>) -> Task {
        self.replace(&mut expr);
        let functions = self.functions.into_iter().map(|function| function.expect("each place is filled when its function was closed"));
        Task { name, expr, functions: functions.collect(), inputs }
    }

    fn replace(&mut self, expr: &mut Expr) {
        expr.visit_mut(&mut |expr| match &mut expr.kind {
            ExprKind::Variable(id) => *id = self.inputs.get(id).copied().unwrap_or(*id),
            ExprKind::Call(id, _) => *id = self.function(*id),
            ExprKind::Map { function, .. } | ExprKind::Filter { function, .. } | ExprKind::Reduce { function, .. } => {
                if let Callee::Function(id, _) = &mut **function {
                    *id = self.function(*id);
                }
            }
            _ => {}
        });
    }

    /// The place of a function, which is closed when it is first met; functions do not recurse.
    fn function(&mut self, id: FunctionId) -> FunctionId {
        if let Some(place) = self.places.get(&id) {
            return *place;
        }
        let place = FunctionId(self.functions.len() as u32);
        self.places.insert(id, place);
        self.functions.push(None);
        let mut function = self.model.functions[id.index()].clone();
        self.replace(&mut function.body);
        self.functions[place.index()] = Some(function);
        place
    }
}
