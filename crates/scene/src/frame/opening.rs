//! A scene is taken up from what is declared, and states that again.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::broken::{Rule, is_broken};
use crate::declared::declaration::{Contact, Declaration};
use crate::declared::error::{DeclarationError, Problem, is_length};
use crate::declared::rules::Rules;
use crate::frame::scene::{ChangeCounts, Limits, Scene, SweptBodies};
use crate::frame::structure::Restructuring;
use crate::memory::table::PairTable;
use crate::methods::Methods;
use crate::near::near_pairs::NearPairs;
use crate::pair_key::PairKey;
use crate::placed::history::History;

impl Scene {
    /// Takes up a declared scene; or says what is wrong with it.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use clearance_geometry::{Vec3, hull::convex_hull, pose::Pose, separation::METHODS};
    /// # use clearance_geometry::until::Until;
    /// # use clearance_scene::{Body, BodyId, Declaration, Limits, Scene, Serial};
    /// # use clearance_scene::{Frame, Move, Questions};
    /// # let corner = |i: u32| Vec3::from([0, 1, 2].map(|axis| f64::from((i >> axis) & 1)));
    /// # let cube = convex_hull(&(0..8).map(corner).collect::<Vec<_>>()).unwrap().polytope;
    /// # let cube = Arc::new(cube);
    /// # let (bodies_max, parts_max, classes_max, pairs_max, listed_max) = (9, 9, 9, 9, 9);
    /// # let limits = Limits { bodies_max, parts_max, classes_max, pairs_max, listed_max };
    /// let far = Pose::translation(4.0, 0.0, 0.0);
    /// let bodies = vec![Body::solid(1, cube.clone()), Body::solid(2, cube).placed(far)];
    /// let declared = Declaration { bodies, ..Default::default() };
    /// let mut scene = Scene::open(declared, &METHODS[0], limits).unwrap();
    /// let report = scene.answer(&Questions::default(), &Serial, Until::never()).unwrap();
    /// assert_eq!(report.tally.separated, 1);
    /// ```
    pub fn open(
        declared: Declaration,
        methods: impl Into<Methods>,
        limits: Limits,
    ) -> Result<Self, DeclarationError> {
        check_release_margin(declared.release_margin)?;
        check_begin_margin(declared.begin_margin, declared.release_margin)?;
        let mut scene = Self {
            entries: Vec::new(),
            robots: Vec::new(),
            rules: Rules::default(),
            book: Arc::default(),
            changes: ChangeCounts::default(),
            begin_margin: declared.begin_margin,
            release_margin: declared.release_margin,
            contacts: BTreeMap::new(),
            noted: BTreeMap::new(),
            ended: Vec::new(),
            applied: declared.frame,
            answered: 0,
            skipped: 0,
            answers: 0,
            revision: 0,
            table: PairTable::default(),
            near: NearPairs::default(),
            still: Arc::default(),
            history: History::default(),
            travel: Vec::new(),
            moved: Vec::new(),
            has_moved: Vec::new(),
            starts: Vec::new(),
            has_changed: true,
            swept: SweptBodies::None,
            turned_far: Vec::new(),
            has_chosen: false,
            look_bytes: 0,
            open: Vec::new(),
            asked: None,
            body_bytes: 0,
            rule_bytes: 0,
            last_report: None,
            methods: methods.into(),
            limits,
        };
        scene.check_slack(declared.begin_margin, || "begin_margin".into())?;
        let Declaration { bodies, robots, rules, contacts, .. } = declared;
        scene.restructure(Restructuring::opening(bodies, robots, rules))?;
        scene.announce(&contacts)?;
        Ok(scene)
    }

    /// The contacts that were announced before.
    fn announce(&mut self, contacts: &[Contact]) -> Result<(), DeclarationError> {
        for (index, contact) in contacts.iter().enumerate() {
            let fail = |problem| DeclarationError::new(format!("contacts[{index}].pair"), problem);
            let a = self.index_of(contact.pair[0]).ok_or_else(|| fail(Problem::UnknownBody))?;
            let b = self.index_of(contact.pair[1]).ok_or_else(|| fail(Problem::UnknownBody))?;
            if a == b {
                return Err(fail(Problem::SameBody));
            }
            let key = PairKey::new(a, b);
            if !self.book.is_enabled(key) {
                return Err(fail(Problem::NotChecked));
            }
            if !is_broken(Rule::AnnouncedContacts) {
                self.contacts.insert(key, contact.began_frame);
            }
        }
        Ok(())
    }

    /// The declared state, fit for opening it elsewhere.
    pub fn declaration(&self) -> Declaration {
        let contact = |(key, began_frame): (&PairKey, &u64)| Contact {
            pair: [self.id_of(key.p), self.id_of(key.q)],
            began_frame: *began_frame,
        };
        Declaration {
            bodies: self.declared_bodies().cloned().collect(),
            robots: self.robots().cloned().collect(),
            rules: self.declared_rules(),
            begin_margin: self.begin_margin,
            release_margin: self.release_margin,
            contacts: self.contacts.iter().map(contact).collect(),
            frame: self.applied,
        }
    }

    /// The rules as another server accepts them: groups whose last body has gone are to come.
    pub fn declared_rules(&self) -> Rules {
        self.rules.declared_with(self.bodies())
    }
}

/// That the margin beyond which contacts end is a length.
fn check_release_margin(metres: f64) -> Result<(), DeclarationError> {
    let problem = || DeclarationError::new("release_margin".into(), Problem::NotALength);
    if is_length(metres) { Ok(()) } else { Err(problem()) }
}

/// That the margin within which contacts begin is a length, and none that would end them at once.
fn check_begin_margin(metres: f64, release: f64) -> Result<(), DeclarationError> {
    let fail = |problem| Err(DeclarationError::new("begin_margin".into(), problem));
    if !is_length(metres) {
        return fail(Problem::NotALength);
    }
    if metres > release { fail(Problem::BeyondRelease) } else { Ok(()) }
}
