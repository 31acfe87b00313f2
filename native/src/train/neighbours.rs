//! What one merge does to the symbols on one side of it.
//!
//! Occurrences of a merge are many and their neighbours few: changes are summed by neighbour here, in an array
//! by id, and reach the map of pairs once for each neighbour.

/// What one neighbour went through.
#[derive(Debug, Default)]
pub struct Neighbour {
    /// The id of the neighbouring symbol.
    pub id: u32,
    /// How often it stood beside the part that was merged away.
    pub lost: i64,
    /// How often it now stands beside the new symbol in a pair that may be merged.
    pub gained: i64,
    /// Where those new pairs are, ascending.
    pub positions: Vec<u32>,
}

/// The neighbours on one side.
#[derive(Debug, Default)]
pub struct Neighbours {
    /// One more than the index of an id in `list`, or 0.
    index_of: Vec<u32>,
    /// The first `used` are in use; the others keep their allocations for the next merge.
    list: Vec<Neighbour>,
    used: usize,
}

impl Neighbours {
    /// Notes that `id` stood `count` times beside the part that was merged away, in a pair that counted.
    #[inline]
    pub fn lose(&mut self, id: u32, count: i64) {
        self.neighbour(id).lost += count;
    }

    /// Notes that `id` stands `count` times beside the new symbol, in a pair at `position`.
    #[inline]
    pub fn gain(&mut self, id: u32, count: i64, position: u32) {
        let neighbour = self.neighbour(id);
        neighbour.gained += count;
        neighbour.positions.push(position);
    }

    #[inline]
    fn neighbour(&mut self, id: u32) -> &mut Neighbour {
        if self.index_of.len() <= id as usize {
            self.index_of.resize(id as usize + 1, 0);
        }
        let index = &mut self.index_of[id as usize];
        if *index == 0 {
            if self.used == self.list.len() {
                self.list.push(Neighbour::default());
            }
            self.list[self.used].id = id;
            self.used += 1;
            *index = self.used as u32;
        }
        &mut self.list[*index as usize - 1]
    }

    /// All neighbours noted since the last [`Neighbours::clear`].
    pub fn noted(&self) -> &[Neighbour] {
        &self.list[..self.used]
    }

    /// Forgets what was noted.
    pub fn clear(&mut self) {
        for neighbour in &mut self.list[..self.used] {
            self.index_of[neighbour.id as usize] = 0;
            neighbour.lost = 0;
            neighbour.gained = 0;
            neighbour.positions.clear();
        }
        self.used = 0;
    }
}
