//! Who sends: the subflows that are under way, what they use of each link, and what they get.
//!
//! A subflow that sends payload at rate `x` loads a link of its way with `x` times its *weight* there: 1 on its only path
//! without headers, more with them, less where packets are spread over several links.

/// What a subflow uses of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
    /// The link.
    pub link: u32,
    /// Bits per second on the link for each bit per second of the subflow; above 0.
    pub weight: f64,
}

/// What keeps a subflow from getting more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bottleneck {
    /// Nothing is known yet.
    Unknown,
    /// A link that is full.
    Link(u32),
    /// Its own limit: a sender that has no more to send, a window.
    Limit,
}

/// One subflow under way.
#[derive(Clone, Debug)]
pub struct Subflow {
    /// Its way.
    pub uses: Vec<Use>,
    /// By use: where this subflow stands among the users of the link.
    places: Vec<u32>,
    /// What it may send at most, bits per second; infinite if the links alone decide.
    pub limit: f64,
    /// What it gets, bits per second.
    pub rate: f64,
    /// What it would get if all its siblings got as much: what max-min fairness compares.
    pub level: f64,
    /// What keeps it there.
    pub bottleneck: Bottleneck,
    /// The next subflow of the same flow, in a ring; itself if it is alone or on its own.
    pub sibling: u32,
}

/// All subflows under way, by slot, and the users of every link.
#[derive(Clone, Debug)]
pub struct Active {
    /// Capacities by link, bits per second.
    pub capacities: Vec<f64>,
    slots: Vec<Option<Subflow>>,
    free: Vec<u32>,
    /// By link: (slot, which of its uses).
    users: Vec<Vec<(u32, u32)>>,
    count: usize,
}

impl Active {
    /// Nobody sends. `capacities` are finite and not negative; panics otherwise.
    pub fn new(capacities: Vec<f64>) -> Self {
        assert!(
            capacities.iter().all(|c| c.is_finite() && *c >= 0.0),
            "a capacity is a number, at least 0"
        );
        Self {
            users: vec![Vec::new(); capacities.len()],
            capacities,
            slots: Vec::new(),
            free: Vec::new(),
            count: 0,
        }
    }

    /// A subflow begins, alone, with nothing yet; returns its slot. Panics if it uses no link or one that does not exist.
    pub fn add(&mut self, uses: Vec<Use>, limit: f64) -> u32 {
        assert!(!uses.is_empty(), "a subflow without a way");
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        let places = (uses.iter().enumerate())
            .map(|(i, u)| {
                let users = &mut self.users[u.link as usize];
                users.push((slot, i as u32));
                users.len() as u32 - 1
            })
            .collect();
        self.slots[slot as usize] = Some(Subflow {
            uses,
            places,
            limit,
            rate: 0.0,
            level: 0.0,
            bottleneck: Bottleneck::Unknown,
            sibling: slot,
        });
        self.count += 1;
        slot
    }

    /// Makes siblings of subflows: they share as one flow.
    pub fn join(&mut self, slots: &[u32]) {
        for (i, &slot) in slots.iter().enumerate() {
            self[slot].sibling = slots[(i + 1) % slots.len()];
        }
    }

    /// A subflow ends; its siblings must end with it, before anything is shared again.
    pub fn remove(&mut self, slot: u32) -> Subflow {
        for i in 0..self[slot].uses.len() {
            let (link, place) = (self[slot].uses[i].link, self[slot].places[i]);
            let users = &mut self.users[link as usize];
            users.swap_remove(place as usize);
            if let Some(&(moved, which)) = users.get(place as usize) {
                self[moved].places[which as usize] = place;
            }
        }
        let gone = self.slots[slot as usize]
            .take()
            .expect("a subflow under way");
        self.free.push(slot);
        self.count -= 1;
        gone
    }

    /// Who uses a link: (slot, which of its uses).
    pub fn users(&self, link: u32) -> &[(u32, u32)] {
        &self.users[link as usize]
    }

    /// How many subflows are under way.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether nobody sends.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Slots are below this.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// All subflows under way, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Subflow)> {
        (self.slots.iter().enumerate()).filter_map(|(i, s)| Some((i as u32, s.as_ref()?)))
    }

    /// What a link carries, bits per second.
    pub fn load(&self, link: u32) -> f64 {
        let carried = |&(slot, which): &(u32, u32)| {
            let subflow = &self[slot];
            subflow.rate * subflow.uses[which as usize].weight
        };
        self.users(link).iter().map(carried).sum()
    }

    /// Whether a link carries what it can, up to the rounding of sums.
    pub fn is_full(&self, link: u32) -> bool {
        self.load(link) >= self.capacities[link as usize] * (1.0 - ROUNDING)
    }
}

/// What sums of rates may be off by, relative.
pub const ROUNDING: f64 = 1e-9;

impl std::ops::Index<u32> for Active {
    type Output = Subflow;
    fn index(&self, slot: u32) -> &Subflow {
        self.slots[slot as usize]
            .as_ref()
            .expect("a subflow under way")
    }
}

impl std::ops::IndexMut<u32> for Active {
    fn index_mut(&mut self, slot: u32) -> &mut Subflow {
        self.slots[slot as usize]
            .as_mut()
            .expect("a subflow under way")
    }
}
