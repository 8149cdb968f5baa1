//! The keys of a stream that have changed since they were last told.

use std::collections::VecDeque;

/// A set of key positions in the order of their first change. It holds each at most once, so it can't overflow.
#[derive(Debug)]
pub(super) struct DirtyKeys {
    order: VecDeque<u16>,
    marked: Marks,
}

/// One bit a key.
#[derive(Debug)]
enum Marks {
    Few(u64),
    Many(Box<[u64]>),
}

impl DirtyKeys {
    /// An empty set of positions below `keys`.
    pub(super) fn new(keys: usize) -> Self {
        let marked = if keys <= 64 { Marks::Few(0) } else { Marks::Many(vec![0; keys.div_ceil(64)].into()) };
        Self { order: VecDeque::new(), marked }
    }

    /// Adds a position; false if it is there already.
    pub(super) fn insert(&mut self, key: u16) -> bool {
        let (word, bit) = self.marked.word(key);
        if *word & bit != 0 {
            return false;
        }
        *word |= bit;
        self.order.push_back(key);
        true
    }

    /// Takes positions in their order until their sizes come to `budget`; at least one, if there is any.
    pub(super) fn take(&mut self, budget: usize, size: impl Fn(u16) -> usize) -> Vec<u16> {
        let mut left = budget;
        let mut count = 0;
        while let Some(&key) = self.order.get(count) {
            let size = size(key);
            if count > 0 && size > left {
                break;
            }
            left = left.saturating_sub(size);
            count += 1;
            let (word, bit) = self.marked.word(key);
            *word &= !bit;
        }
        if count == self.order.len() {
            return Vec::from(std::mem::take(&mut self.order));
        }
        self.order.drain(..count).collect()
    }

    /// Takes one position out; false if it is not there.
    pub(super) fn remove(&mut self, key: u16) -> bool {
        let (word, bit) = self.marked.word(key);
        let found = *word & bit != 0;
        if found {
            *word &= !bit;
            self.order.retain(|other| *other != key);
        }
        found
    }

    pub(super) fn clear(&mut self) {
        while let Some(key) = self.order.pop_front() {
            let (word, bit) = self.marked.word(key);
            *word &= !bit;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

impl Marks {
    fn word(&mut self, key: u16) -> (&mut u64, u64) {
        let (word, bit) = (usize::from(key / 64), 1 << (key % 64));
        match self {
            Self::Few(marks) => (marks, bit),
            Self::Many(marks) => (&mut marks[word], bit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_is_there_once_in_the_order_of_its_first_change() {
        for keys in [64, 65, 1027] {
            let mut dirty = DirtyKeys::new(keys);
            assert!([5, 63, 0].into_iter().all(|key| dirty.insert(key)));
            assert!(!dirty.insert(63));
            assert_eq!(dirty.take(usize::MAX, |_| 1), [5, 63, 0]);
            assert!(dirty.is_empty() && dirty.insert(63), "what was taken can change again");
            dirty.clear();
            assert!(dirty.is_empty() && dirty.insert(63));
            assert!(dirty.insert(7) && dirty.remove(63) && !dirty.remove(63));
            assert_eq!(dirty.take(0, |_| 1), [7]);
        }
    }

    #[test]
    fn a_budget_is_kept_and_one_key_always_fits() {
        let mut dirty = DirtyKeys::new(10);
        (0..6).for_each(|key| assert!(dirty.insert(key)));
        let size = |key| if key == 3 { 100 } else { 10 };
        assert_eq!(dirty.take(25, size), [0, 1]);
        assert!(dirty.insert(0));
        assert_eq!(dirty.take(25, size), [2]);
        assert_eq!(dirty.take(25, size), [3]);
        assert_eq!(dirty.take(30, size), [4, 5, 0]);
        assert!(dirty.is_empty());
    }
}
