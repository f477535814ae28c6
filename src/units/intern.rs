//! The process-wide table of units that were met, and each thread's memory of what it did with them.
//!
//! Each order of factors has an id of its own; a class is the id of the first order that was met, so units compare by class.
//! Ids hold as long as the process, and so do entries, which are never freed: a program meets few units. A thread looks up
//! what it computed before without a lock and without an allocation.

use std::cell::RefCell;
use std::hash::Hash;
use std::sync::{LazyLock, PoisonError, RwLock};

use super::conversion::{self, Conversion};
use super::dimension::Dimension;
use super::product::{Product, Root};
use super::table::{Name, TABLE};
use super::{Unit, UnitError, text};
use crate::hash::Map;

static INTERNER: LazyLock<RwLock<Interner>> = LazyLock::new(|| RwLock::new(Interner::new()));

thread_local! {
    static MEMORY: RefCell<Memory> = RefCell::default();
}

/// All that is known of a unit.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) product: Product,
    pub(super) root: Root,
    pub(super) dimension: Dimension,
    /// As [`Product::curved`].
    pub(super) curved: Result<Option<Name>, ()>,
    /// When it is exactly the difference of an affine unit, that unit.
    pub(super) affine_of_delta: Option<Name>,
    /// As it prints.
    pub(super) text: Box<str>,
}

type Key = Vec<(Name, u64)>;

#[derive(Default)]
struct Interner {
    entries: Vec<&'static Entry>,
    orders: Map<Key, Unit>,
    classes: Map<Key, u32>,
}

/// What a thread has seen.
#[derive(Default)]
struct Memory {
    /// The entries of the interner, as far as this thread knows them.
    entries: Vec<&'static Entry>,
    names: Map<Box<str>, Name>,
    products: Map<(u32, u32), Unit>,
    quotients: Map<(u32, u32), Unit>,
    powers: Map<(u32, u64), Unit>,
    conversions: Map<(u32, u32), Result<Conversion, UnitError>>,
}

/// What is known of `unit`.
pub(super) fn entry(unit: Unit) -> &'static Entry {
    let place = unit.order as usize;
    MEMORY.with_borrow_mut(|memory| {
        if place >= memory.entries.len() {
            let known = memory.entries.len();
            memory.entries.extend(&INTERNER.read().unwrap_or_else(PoisonError::into_inner).entries[known..]);
        }
        memory.entries[place]
    })
}

/// The memorised unit of a name as written.
pub(super) fn resolve(name: &str) -> Result<Name, UnitError> {
    if let Some(known) = MEMORY.with_borrow(|memory| memory.names.get(name).copied()) {
        return Ok(known);
    }
    let found = TABLE.resolve(name)?;
    MEMORY.with_borrow_mut(|memory| memory.names.insert(name.into(), found));
    Ok(found)
}

/// The unit of a product.
pub(super) fn intern(product: Product) -> Unit {
    let known = INTERNER.read().unwrap_or_else(PoisonError::into_inner).orders.get(&product.key()).copied();
    known.unwrap_or_else(|| INTERNER.write().unwrap_or_else(PoisonError::into_inner).add(product))
}

/// The memorised product.
pub(super) fn multiply(left: Unit, right: Unit) -> Unit {
    let compute = || intern(entry(left).product.multiply(&entry(right).product, 1.0).with_deltas());
    memorised(|memory| &mut memory.products, (left.order, right.order), compute)
}

/// The memorised quotient.
pub(super) fn divide(left: Unit, right: Unit) -> Unit {
    let compute = || intern(entry(left).product.multiply(&entry(right).product, -1.0).with_deltas());
    memorised(|memory| &mut memory.quotients, (left.order, right.order), compute)
}

/// The memorised power.
pub(super) fn power(unit: Unit, exponent: f64) -> Unit {
    let compute = || intern(entry(unit).product.power(exponent).with_deltas());
    memorised(|memory| &mut memory.powers, (unit.order, exponent.to_bits()), compute)
}

/// The memorised conversion.
pub(super) fn conversion(from: Unit, to: Unit) -> Result<Conversion, UnitError> {
    let compute = || conversion::between(from, entry(from), to, entry(to));
    memorised(|memory| &mut memory.conversions, (from.order, to.order), compute)
}

/// Looks up, or computes and keeps; the memory is not borrowed while computing, which may use it too.
fn memorised<K: Eq + Hash, V: Clone>(map: impl Fn(&mut Memory) -> &mut Map<K, V>, key: K, compute: impl FnOnce() -> V) -> V {
    if let Some(known) = MEMORY.with_borrow_mut(|memory| map(memory).get(&key).cloned()) {
        return known;
    }
    let value = compute();
    MEMORY.with_borrow_mut(|memory| map(memory).insert(key, value.clone()));
    value
}

impl Interner {
    /// The interner that knows [`Unit::NONE`] as its first unit.
    fn new() -> Interner {
        let mut interner = Interner::default();
        interner.add(Product::default());
        interner
    }

    fn add(&mut self, product: Product) -> Unit {
        let key = product.key();
        if let Some(&known) = self.orders.get(&key) {
            return known;
        }
        let order = u32::try_from(self.entries.len()).expect("no program meets four thousand million units");
        let class = *self.classes.entry(product.sorted_key()).or_insert(order);
        self.entries.push(Box::leak(Box::new(Entry::new(product))));
        let unit = Unit { order, class };
        self.orders.insert(key, unit);
        unit
    }
}

impl Entry {
    fn new(product: Product) -> Entry {
        let root = product.root();
        let dimension = root.dimension();
        let affine_of_delta = match product.factors() {
            &[(name, 1.0)] => TABLE.affine_of_delta(name),
            _ => None,
        };
        let curved = product.curved();
        let text = product.printed(text::short).into();
        Entry { product, root, dimension, curved, affine_of_delta, text }
    }
}
