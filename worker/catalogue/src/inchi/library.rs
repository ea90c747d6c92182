//! The IUPAC's library, called as its `inchi_api.h` describes.
//!
//! `chematic-inchi` links the library, but passes no hydrogen as an atom, and so loses configurations that rest on
//! deuterium. This module declares the two functions itself; the types have the layout of the header's. All that the
//! library gets is owned here, and numbers of atoms are checked against the list, so a call has no other precondition.

#![allow(unsafe_code)]

use std::{
    ffi::{CStr, c_char, c_int},
    ptr,
};

use parking_lot::Mutex;

/// The library keeps global tables while it works.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The largest number of neighbours (`MAXVAL`).
const MAX_NEIGHBOURS: usize = 20;
/// The largest number of atoms of a standard InChI.
const MAX_ATOMS: usize = 1_023;

/// An atom (`inchi_Atom`).
#[repr(C)]
#[derive(Clone)]
pub(super) struct Atom {
    place: [f64; 3],
    neighbours: [i16; MAX_NEIGHBOURS],
    bond_orders: [i8; MAX_NEIGHBOURS],
    bond_stereo: [i8; MAX_NEIGHBOURS],
    symbol: [u8; 6],
    bonds: i16,
    /// Hydrogens that are no atoms: natural ones, then of mass 1, 2 and 3.
    hydrogens: [i8; 4],
    isotope: i16,
    radical: i8,
    charge: i8,
}

const _: () = assert!(size_of::<Atom>() == 120, "the header's size");

impl Atom {
    /// Creates an atom of an element, without bonds.
    pub(super) fn new(symbol: &str) -> Self {
        let mut bytes = [0; 6];
        // The last byte stays 0, which ends the text.
        symbol.bytes().take(5).enumerate().for_each(|(at, byte)| bytes[at] = byte);
        Self {
            place: [0.0; 3],
            neighbours: [0; MAX_NEIGHBOURS],
            bond_orders: [0; MAX_NEIGHBOURS],
            bond_stereo: [0; MAX_NEIGHBOURS],
            symbol: bytes,
            bonds: 0,
            hydrogens: [0; 4],
            isotope: 0,
            radical: 0,
            charge: 0,
        }
    }

    /// Sets the charge.
    pub(super) fn charge(&mut self, charge: i8) {
        self.charge = charge;
    }

    /// Sets the mass number; `None` if it is too large.
    pub(super) fn isotope(&mut self, isotope: Option<u16>) -> Option<()> {
        // From 9,900 a mass is one relative to the natural one.
        self.isotope = i16::try_from(isotope.unwrap_or(0)).ok().filter(|&mass| mass < 1_000)?;
        Some(())
    }

    /// Sets the number of hydrogens that are no atoms; `None` if it is too large.
    pub(super) fn hydrogens(&mut self, count: u8) -> Option<()> {
        self.hydrogens[0] = i8::try_from(count).ok()?;
        Some(())
    }

    /// Adds a bond to an earlier atom; `None` if there are too many.
    pub(super) fn bond(&mut self, neighbour: i16, order: i8) -> Option<()> {
        let at = usize::try_from(self.bonds).ok()?;
        *self.neighbours.get_mut(at)? = neighbour;
        *self.bond_orders.get_mut(at)? = order;
        self.bonds += 1;
        Some(())
    }
}

/// The sense of a configuration (`inchi_StereoParity0D`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub(super) enum Parity {
    /// Anticlockwise; at a double bond, both references on one side.
    Odd = 1,
    Even = 2,
}

impl Parity {
    /// Returns the other sense.
    pub(super) const fn inverted(self) -> Self {
        match self {
            Self::Odd => Self::Even,
            Self::Even => Self::Odd,
        }
    }
}

/// The place of a configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StereoKind {
    /// A double bond between the second and the third neighbour.
    DoubleBond,
    /// A tetrahedral centre. In the first place of its neighbours, it stands for its hydrogen or lone pair.
    Centre(i16),
}

/// A configuration of a structure without coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stereo {
    pub(super) neighbours: [i16; 4],
    pub(super) kind: StereoKind,
    pub(super) parity: Parity,
}

/// The library's form of a configuration (`inchi_Stereo0D`).
#[repr(C)]
struct RawStereo {
    neighbours: [i16; 4],
    centre: i16,
    kind: i8,
    parity: i8,
}

impl From<Stereo> for RawStereo {
    fn from(stereo: Stereo) -> Self {
        let (kind, centre) = match stereo.kind {
            StereoKind::DoubleBond => (1, -1),
            StereoKind::Centre(at) => (2, at),
        };
        Self { neighbours: stereo.neighbours, centre, kind, parity: stereo.parity as i8 }
    }
}

/// `inchi_Input`.
#[repr(C)]
struct Input {
    atoms: *mut Atom,
    stereo: *mut RawStereo,
    options: *const c_char,
    atom_count: i16,
    stereo_count: i16,
}

/// `inchi_Output`.
#[repr(C)]
struct Output {
    inchi: *mut c_char,
    auxiliary: *mut c_char,
    message: *mut c_char,
    log: *mut c_char,
}

unsafe extern "C" {
    /// Returns 0, or 1 with a warning, if there is an InChI.
    fn GetStdINCHI(input: *mut Input, output: *mut Output) -> c_int;
    /// Frees what an output holds.
    fn FreeStdINCHI(output: *mut Output);
}

/// Returns the standard InChI of a structure; `None` if the library gives none, or if an atom is not in the list.
pub(super) fn standard_inchi(mut atoms: Vec<Atom>, stereo: Vec<Stereo>) -> Option<String> {
    let count = i16::try_from(atoms.len()).ok().filter(|_| (1..=MAX_ATOMS).contains(&atoms.len()))?;
    let is_atom = |at: &i16| (0..count).contains(at);
    let bonded = |atom: &Atom| atom.neighbours.iter().all(is_atom);
    let placed = |stereo: &Stereo| stereo.neighbours.iter().all(is_atom);
    if !atoms.iter().all(bonded) || !stereo.iter().all(placed) {
        return None;
    }
    let mut stereo: Vec<RawStereo> = stereo.into_iter().map(RawStereo::from).collect();
    let mut input = Input {
        atoms: atoms.as_mut_ptr(),
        stereo: if stereo.is_empty() { ptr::null_mut() } else { stereo.as_mut_ptr() },
        options: ptr::null(),
        atom_count: count,
        stereo_count: i16::try_from(stereo.len()).ok()?,
    };
    let mut output = Output {
        inchi: ptr::null_mut(),
        auxiliary: ptr::null_mut(),
        message: ptr::null_mut(),
        log: ptr::null_mut(),
    };
    let _alone = ONE_AT_A_TIME.lock();
    // SAFETY: the lists outlive the call and have the stated lengths, all numbers of atoms are in range, and the types
    // have the layout of the library's header.
    let code = unsafe { GetStdINCHI(&raw mut input, &raw mut output) };
    let found = if matches!(code, 0 | 1) && !output.inchi.is_null() {
        // SAFETY: the library's text ends with a zero byte and lives until it is freed below.
        unsafe { CStr::from_ptr(output.inchi) }.to_str().ok().map(str::to_owned)
    } else {
        None
    };
    // SAFETY: the library wrote this output, and it is freed once.
    unsafe { FreeStdINCHI(&raw mut output) };
    found
}
