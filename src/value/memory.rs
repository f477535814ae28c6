//! Memory of large columns that are written part by part, a place with `unsafe`: it is not zeroed as a whole first
//! and comes in huge pages.
//!
//! Zeroing costs as much as a simple computation where memory is used again, and each page of 4 KiB that is new costs microseconds.
//! So a part is zeroed when it is about to be written, in the processor's cache, and the kernel is asked for pages of 2 MiB.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From this size on it is worth to ask for huge pages, as numpy does.
const LARGE: usize = 4 << 20;

/// The size of a page.
const PAGE: usize = 4096;

/// A vector of a given length whose elements are yet to be written.
#[derive(Debug)]
pub struct Raw<T> {
    /// It is empty, and its capacity is enough.
    vec: Vec<T>,
    len: usize,
    /// How many elements have been written since slots were handed out.
    written: AtomicUsize,
}

/// A part of a [`Raw`], for one thread to write.
#[derive(Debug)]
pub struct Slot<'a, T> {
    place: &'a mut [MaybeUninit<T>],
    written: &'a AtomicUsize,
}

impl<T: Copy + Default> Raw<T> {
    /// Memory for so many elements.
    pub fn with_len(len: usize) -> Self {
        let mut vec = Vec::with_capacity(len);
        advise(vec.spare_capacity_mut());
        Raw { vec, len, written: AtomicUsize::new(0) }
    }

    /// All of the memory, in order, in parts of `size` elements (at least one) and a shorter one at the end.
    pub fn slots(&mut self, size: usize) -> impl Iterator<Item = Slot<'_, T>> {
        self.written = AtomicUsize::new(0);
        let written = &self.written;
        self.vec.spare_capacity_mut()[..self.len].chunks_mut(size.max(1)).map(move |place| Slot { place, written })
    }

    /// All of the memory, in order, in parts of these sizes, whose sum must be the length.
    pub fn slots_of(&mut self, sizes: impl IntoIterator<Item = usize>) -> Vec<Slot<'_, T>> {
        self.written = AtomicUsize::new(0);
        let written = &self.written;
        let mut rest = &mut self.vec.spare_capacity_mut()[..self.len];
        let slot = |size: usize| {
            let (place, others) = std::mem::take(&mut rest).split_at_mut_checked(size)?;
            rest = others;
            Some(Slot { place, written })
        };
        sizes.into_iter().map_while(slot).collect()
    }

    /// The vector; `None` unless every slot was written since they were handed out the last time.
    pub fn finish(mut self) -> Option<Vec<T>> {
        if *self.written.get_mut() != self.len {
            return None;
        }
        // SAFETY: There are at least `len` elements of capacity. Slots are disjoint, a slot is used up when it is written, and it counts
        // no element that it has not written. So the count is `len` only when all are. That they were written by other threads is seen
        // here, because the slots, which borrow `self`, are gone.
        unsafe { self.vec.set_len(self.len) };
        Some(self.vec)
    }

    /// The vector that `write` fills part by part, being told where a part begins.
    pub fn filled(len: usize, size: usize, mut write: impl FnMut(usize, &mut [T])) -> Vec<T> {
        let mut raw = Raw::with_len(len);
        raw.slots(size).enumerate().for_each(|(i, slot)| write(i * size.max(1), slot.zeroed()));
        raw.finish().unwrap_or_default()
    }
}

impl<'a, T: Copy + Default> Slot<'a, T> {
    /// The elements, zero as yet; it is free of cost as long as a slot fits into the processor's cache.
    pub fn zeroed(self) -> &'a mut [T] {
        self.place.fill(MaybeUninit::new(T::default()));
        self.written.fetch_add(self.place.len(), Ordering::Relaxed);
        // SAFETY: The line before the last has written all of them.
        unsafe { self.place.assume_init_mut() }
    }

    /// Writes elements, of which there must be as many as the slot has.
    pub fn write(self, elements: impl IntoIterator<Item = T>) {
        let mut count = 0;
        for (place, element) in self.place.iter_mut().zip(elements) {
            place.write(element);
            count += 1;
        }
        self.written.fetch_add(count, Ordering::Relaxed);
    }

    /// Writes a copy of elements, of which there must be as many as the slot has.
    pub fn copy(self, elements: &[T]) {
        let len = self.place.len().min(elements.len());
        self.place[..len].write_copy_of_slice(&elements[..len]);
        self.written.fetch_add(len, Ordering::Relaxed);
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.place.len()
    }

    /// Whether there are no elements, which is not so.
    pub fn is_empty(&self) -> bool {
        self.place.is_empty()
    }
}

/// Asks for huge pages where that is worth it; that they are refused does no harm.
fn advise<T>(memory: &mut [MaybeUninit<T>]) {
    let bytes = size_of_val(memory);
    if bytes < LARGE {
        return;
    }
    let start = memory.as_mut_ptr().cast::<u8>();
    let rim = start.align_offset(PAGE).min(bytes);
    // SAFETY: The address is within the memory, and so are all pages that begin there. The advice changes nothing of what they hold.
    unsafe { libc::madvise(start.add(rim).cast(), (bytes - rim) & !(PAGE - 1), libc::MADV_HUGEPAGE) };
}

#[cfg(test)]
mod tests {
    use rayon::prelude::*;

    use super::*;

    #[test]
    fn slots_make_up_the_vector() {
        for (len, size) in [(0, 3), (1, 3), (7, 3), (9, 3), (2_000_003, 4096), (5, 0)] {
            let mut raw = Raw::with_len(len);
            let slots: Vec<(usize, Slot<i64>)> = raw.slots(size).enumerate().collect();
            slots.into_par_iter().for_each(|(i, slot)| {
                let start = (i * size.max(1)) as i64;
                if i % 2 == 0 { slot.write(start..) } else { slot.zeroed().iter_mut().zip(start..).for_each(|(to, from)| *to = from) }
            });
            assert_eq!(raw.finish(), Some((0..len as i64).collect::<Vec<_>>()));
        }
    }

    #[test]
    fn slots_of_unlike_sizes_make_up_the_vector() {
        let mut raw = Raw::with_len(6);
        raw.slots_of([3, 0, 1, 2]).into_iter().zip([&[1, 2, 3][..], &[], &[4], &[5, 6]]).for_each(|(slot, part)| slot.copy(part));
        assert_eq!(raw.finish(), Some(vec![1, 2, 3, 4, 5, 6]));
        let mut raw = Raw::<i64>::with_len(4);
        raw.slots_of([3, 2]).into_iter().for_each(|slot| slot.copy(&[1, 1, 1]));
        assert_eq!(raw.finish(), None);
    }

    #[test]
    fn what_was_not_written_is_not_given() {
        let mut raw = Raw::<f64>::with_len(10);
        raw.slots(4).take(2).for_each(|slot| slot.write([1.0; 4]));
        assert_eq!(raw.finish(), None);
        let mut raw = Raw::<f64>::with_len(10);
        raw.slots(4).for_each(|slot| slot.write([1.0; 3]));
        raw.slots(5).for_each(|slot| slot.write([1.0; 4]));
        assert_eq!(raw.finish(), None);
        let mut raw = Raw::<f64>::with_len(10);
        raw.slots(4).for_each(|slot| slot.write([1.0; 4]));
        drop(raw.slots(5));
        assert_eq!(raw.finish(), None);
    }
}
