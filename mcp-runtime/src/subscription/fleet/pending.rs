//! The changes that are still to be told to the others.

use std::collections::{HashSet, VecDeque};

use super::Change;

/// A set of changes in the order in which each was first added. Beyond its limit it is one `Everything`.
///
/// What has been absorbed, because it is told anyhow, is counted by whoever adds.
#[derive(Debug)]
pub(super) struct Pending {
    order: VecDeque<Change>,
    keys: HashSet<Change>,
    limit: usize,
}

impl Pending {
    pub(super) fn new(limit: usize) -> Self {
        Self { order: VecDeque::new(), keys: HashSet::new(), limit }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    /// Adds a change; how many this made superfluous, be it itself.
    pub(super) fn add(&mut self, change: &Change) -> usize {
        if self.keys.contains(&Change::Everything) || self.keys.contains(change) {
            return 1;
        }
        if *change == Change::Everything || self.len() == self.limit {
            let absorbed = self.len() + usize::from(*change != Change::Everything);
            self.become_everything();
            // One change stands for all of these, and counts once.
            return if *change == Change::Everything { absorbed } else { absorbed - 1 };
        }
        self.keys.insert(change.clone());
        self.order.push_back(change.clone());
        0
    }

    /// Takes out the first ones.
    pub(super) fn take(&mut self, max: usize) -> Vec<Change> {
        let taken: Vec<_> = self.order.drain(..max.min(self.order.len())).collect();
        for change in &taken {
            self.keys.remove(change);
        }
        taken
    }

    /// Puts changes that were taken before the present ones; how many became superfluous.
    pub(super) fn put_back(&mut self, taken: impl Iterator<Item = Change>) -> usize {
        let later = std::mem::take(&mut self.order);
        self.keys.clear();
        taken.chain(later).map(|change| self.add(&change)).sum()
    }

    fn become_everything(&mut self) {
        self.order.clear();
        self.keys.clear();
        self.order.push_back(Change::Everything);
        self.keys.insert(Change::Everything);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(number: usize) -> Change {
        Change::resource(&format!("x://{number}")).unwrap()
    }

    #[test]
    fn each_change_is_there_once_in_the_order_of_its_first_time() {
        let mut pending = Pending::new(10);
        let absorbed: usize = [1, 2, 1, 3, 2].map(|number| pending.add(&part(number))).iter().sum();
        assert_eq!(absorbed, 2);
        assert_eq!(pending.take(2), [part(1), part(2)]);
        assert_eq!(pending.add(&part(1)), 0);
        assert_eq!(pending.take(9), [part(3), part(1)]);
        assert_eq!(pending.len(), 0);
    }

    #[test]
    fn what_was_taken_goes_back_to_the_front() {
        let mut pending = Pending::new(10);
        for number in [1, 2, 3] {
            pending.add(&part(number));
        }
        let taken = pending.take(2);
        pending.add(&part(2));
        assert_eq!(pending.put_back(taken.into_iter()), 1);
        assert_eq!(pending.take(9), [part(1), part(2), part(3)]);
    }

    #[test]
    fn beyond_the_limit_it_is_everything() {
        let mut pending = Pending::new(2);
        let adds = [1, 2, 3, 4].map(|number| pending.add(&part(number)));
        // Four were added; one, which stands for all, is left.
        assert_eq!(adds.iter().sum::<usize>(), 3);
        assert_eq!(pending.take(9), [Change::Everything]);
        assert_eq!(pending.add(&part(1)), 0);
        assert_eq!(pending.put_back([part(2), part(3)].into_iter()), 2);
        assert_eq!(pending.take(9), [Change::Everything]);
    }

    #[test]
    fn everything_stands_for_what_was_there() {
        let mut pending = Pending::new(10);
        let adds = [part(1), Change::Tools, Change::Everything, Change::Everything, part(2)];
        assert_eq!(adds.iter().map(|change| pending.add(change)).sum::<usize>(), 4);
        assert_eq!(pending.take(9), [Change::Everything]);
    }
}
