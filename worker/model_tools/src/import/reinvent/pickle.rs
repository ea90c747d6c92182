//! Reads a pickle without running it (opcodes: CPython's `Lib/pickletools.py`).
//!
//! A pickle says how to build an object: names of functions, arguments, calls. Python runs the calls. This reader
//! knows no functions and only records the calls. It refuses every name that its caller does not allow as soon as it
//! reads the name, so the refusal of a harmful file names what the file wanted to do. Values are nodes that refer to
//! each other by number, as in the memo of a pickle, so nothing here recurses.

mod value;

use std::collections::HashMap;

pub use value::{Id, PickleNode, Pickled};

/// Maximum number of values of a pickle, and of entries in its memo.
const MAX_NODES: usize = 1 << 20;
/// Maximum length of a class or function name with its module.
const MAX_NAME_LENGTH: usize = 256;
/// Newest supported protocol.
const NEWEST_PROTOCOL: u8 = 5;

/// Permitted use of a name in a pickle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameUse {
    /// A dictionary class, whose instances become dictionaries.
    Dictionary,
    /// A class or function whose calls and instances are only recorded.
    Inert,
}

/// Reason why a pickle cannot be read; `at` is a byte offset.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PickleError {
    /// The pickle names something that is not allowed.
    #[error("byte {at} of the pickle names `{name}`, which no prior needs; nothing in the file was run")]
    Forbidden { at: usize, name: String },
    /// The opcode is unknown, or no prior needs it.
    #[error("opcode {opcode:#04x} at byte {at} of the pickle, which no prior needs")]
    Opcode { at: usize, opcode: u8 },
    /// The pickle is truncated.
    #[error("the pickle is cut off at byte {at}")]
    CutOff { at: usize },
    /// An argument is not a valid number or text.
    #[error("byte {at} of the pickle: not a {wanted}")]
    Argument { at: usize, wanted: &'static str },
    /// An opcode finds an unusable value on the stack, or too few values.
    #[error("byte {at} of the pickle: opcode {opcode:#04x} has nothing to work on")]
    Stack { at: usize, opcode: u8 },
    /// The memo has no such entry.
    #[error("byte {at} of the pickle: nothing was remembered as number {number}")]
    Memo { at: usize, number: u32 },
    /// The pickle has more values than a prior has.
    #[error("the pickle has more than {MAX_NODES} values")]
    TooMany,
}

/// Reads a pickle; `allowed` returns the permitted use of a module and a name, or `None` if the name is forbidden.
pub fn read(bytes: &[u8], allowed: fn(&str, &str) -> Option<NameUse>) -> Result<Pickled, PickleError> {
    let mut machine = Machine {
        bytes,
        at: 0,
        opcode: (0, 0),
        allowed,
        nodes: Vec::new(),
        stack: Vec::new(),
        marks: Vec::new(),
        memo: HashMap::new(),
    };
    while machine.step()? == Next::Go {}
    let root = machine.pop()?;
    Ok(Pickled::new(machine.nodes, root))
}

#[derive(Debug, PartialEq, Eq)]
enum Next {
    Go,
    Stop,
}

struct Machine<'a> {
    bytes: &'a [u8],
    /// Offset of the next byte.
    at: usize,
    /// Offset and value of the current opcode.
    opcode: (usize, u8),
    allowed: fn(&str, &str) -> Option<NameUse>,
    nodes: Vec<PickleNode>,
    stack: Vec<Id>,
    /// Stack heights at the open marks.
    marks: Vec<usize>,
    memo: HashMap<u32, Id>,
}

impl<'a> Machine<'a> {
    fn step(&mut self) -> Result<Next, PickleError> {
        let at = self.at;
        let [opcode] = self.take()?;
        self.opcode = (at, opcode);
        match opcode {
            b'.' => return Ok(Next::Stop),
            0x80 => self.protocol()?,
            // A frame is only a hint for buffered reading.
            0x95 => drop(self.take::<8>()?),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'N' => self.push(PickleNode::None)?,
            0x88 => self.push(PickleNode::Bool(true))?,
            0x89 => self.push(PickleNode::Bool(false))?,
            b'I' | b'J' | b'K' | b'M' | b'L' | 0x8a | 0x8b | b'F' | b'G' => self.number(opcode)?,
            b'S' | b'V' | b'T' | b'U' | b'X' | 0x8c | 0x8d => self.text(opcode)?,
            b'B' | b'C' | 0x8e => {
                let long = self.length(match opcode {
                    b'C' => 1,
                    b'B' => 4,
                    _ => 8,
                })?;
                let bytes = self.slice(long)?.to_vec();
                self.push(PickleNode::Bytes(bytes))?;
            }
            b']'
            | b'l'
            | b'a'
            | b'e'
            | b')'
            | b't'
            | 0x85..=0x87
            | b'}'
            | b'd'
            | b's'
            | b'u'
            | 0x8f..=0x91 => {
                self.container(opcode)?;
            }
            b'c' | 0x93 | b'i' => self.global(opcode)?,
            b'R' | 0x81 => self.call()?,
            b'b' => self.build()?,
            b'Q' => {
                let reference = self.pop()?;
                self.push(PickleNode::Persistent(reference))?;
            }
            b'h' | b'j' | b'g' | b'q' | b'r' | b'p' | 0x94 => self.remember(opcode)?,
            opcode => return Err(PickleError::Opcode { at, opcode }),
        }
        Ok(Next::Go)
    }

    fn protocol(&mut self) -> Result<(), PickleError> {
        let [version] = self.take()?;
        if version > NEWEST_PROTOCOL {
            return Err(PickleError::Argument { at: self.opcode.0, wanted: "known protocol" });
        }
        Ok(())
    }

    fn number(&mut self, opcode: u8) -> Result<(), PickleError> {
        let node = match opcode {
            b'J' => PickleNode::Int(i32::from_le_bytes(self.take()?).into()),
            b'K' => PickleNode::Int(u8::from_le_bytes(self.take()?).into()),
            b'M' => PickleNode::Int(u16::from_le_bytes(self.take()?).into()),
            b'G' => PickleNode::Float(f64::from_be_bytes(self.take()?)),
            b'F' => PickleNode::Float(self.line()?.parse().map_err(|_| self.argument("number"))?),
            0x8a | 0x8b => {
                let long = self.length(if opcode == 0x8a { 1 } else { 4 })?;
                let bytes = self.slice(long)?;
                // Two's complement, little-endian, in as many bytes as needed.
                let sign = if bytes.last().is_some_and(|byte| *byte >= 0x80) { 0xFF } else { 0 };
                let mut whole = [sign; 8];
                match whole.get_mut(..bytes.len()) {
                    Some(low) => {
                        low.copy_from_slice(bytes);
                        PickleNode::Int(i64::from_le_bytes(whole))
                    }
                    None => PickleNode::Long,
                }
            }
            _ => match self.line()?.trim_end_matches('L') {
                "00" => PickleNode::Bool(false),
                "01" => PickleNode::Bool(true),
                digits => PickleNode::Int(digits.parse().map_err(|_| self.argument("number"))?),
            },
        };
        self.push(node)
    }

    fn text(&mut self, opcode: u8) -> Result<(), PickleError> {
        let text = match opcode {
            b'S' => self.line()?.trim_matches(['\'', '"']).to_owned(),
            b'V' => self.line()?.to_owned(),
            _ => {
                let long = self.length(match opcode {
                    b'U' | 0x8c => 1,
                    b'T' | b'X' => 4,
                    _ => 8,
                })?;
                let bytes = self.slice(long)?;
                std::str::from_utf8(bytes).map_err(|_| self.argument("text in UTF-8"))?.to_owned()
            }
        };
        self.push(PickleNode::Text(text))
    }

    fn container(&mut self, opcode: u8) -> Result<(), PickleError> {
        match opcode {
            b']' => self.push(PickleNode::List(Vec::new())),
            b')' => self.push(PickleNode::Tuple(Vec::new())),
            b'}' => self.push(PickleNode::Dict(Vec::new())),
            0x8f => self.push(PickleNode::Set(Vec::new())),
            0x85..=0x87 => {
                let from =
                    self.stack.len().checked_sub(usize::from(opcode - 0x84)).ok_or_else(|| self.stuck())?;
                if self.marks.last().is_some_and(|mark| from < *mark) {
                    return Err(self.stuck());
                }
                let items = self.stack.split_off(from);
                self.push(PickleNode::Tuple(items))
            }
            b'l' | b't' | 0x91 => {
                let items = self.pop_mark()?;
                self.push(match opcode {
                    b'l' => PickleNode::List(items),
                    b't' => PickleNode::Tuple(items),
                    _ => PickleNode::Set(items),
                })
            }
            b'd' => {
                let pairs = self.pop_pairs()?;
                self.push(PickleNode::Dict(pairs))
            }
            b'a' | b'e' | 0x90 => {
                let mut new = if opcode == b'a' { vec![self.pop()?] } else { self.pop_mark()? };
                match self.top()? {
                    PickleNode::List(items) | PickleNode::Set(items) => items.append(&mut new),
                    _ => return Err(self.stuck()),
                }
                Ok(())
            }
            _ => {
                let mut new = if opcode == b's' {
                    let value = self.pop()?;
                    vec![(self.pop()?, value)]
                } else {
                    self.pop_pairs()?
                };
                match self.top()? {
                    PickleNode::Dict(pairs) => pairs.append(&mut new),
                    _ => return Err(self.stuck()),
                }
                Ok(())
            }
        }
    }

    /// Reads a name: of an object to call, or the class of an instance. Opcode `i` calls at once and is always
    /// refused; if its name is forbidden, the error gives the name.
    fn global(&mut self, opcode: u8) -> Result<(), PickleError> {
        let at = self.opcode.0;
        let (module, name) = if opcode == 0x93 {
            let (name, module) = (self.pop()?, self.pop()?);
            match (&self.nodes[module.index()], &self.nodes[name.index()]) {
                (PickleNode::Text(module), PickleNode::Text(name)) => (module.as_str(), name.as_str()),
                _ => return Err(self.stuck()),
            }
        } else {
            (self.line()?, self.line()?)
        };
        if module.len() + name.len() > MAX_NAME_LENGTH {
            return Err(self.argument("name of reasonable length"));
        }
        let full = format!("{module}.{name}");
        match (self.allowed)(module, name) {
            None => Err(PickleError::Forbidden { at, name: full }),
            Some(_) if opcode == b'i' => Err(PickleError::Opcode { at, opcode }),
            Some(meaning) => self.push(PickleNode::Name { name: full, meaning }),
        }
    }

    /// Records a call or the creation of an instance.
    fn call(&mut self) -> Result<(), PickleError> {
        let (arguments, callee) = (self.pop()?, self.pop()?);
        let node = match (&self.nodes[callee.index()], &self.nodes[arguments.index()]) {
            (PickleNode::Name { meaning: NameUse::Dictionary, .. }, PickleNode::Tuple(_)) => {
                PickleNode::Dict(Vec::new())
            }
            (PickleNode::Name { meaning: NameUse::Inert, name }, PickleNode::Tuple(_)) => {
                PickleNode::Object { class: name.clone(), arguments, state: None }
            }
            _ => return Err(self.stuck()),
        };
        self.push(node)
    }

    fn build(&mut self) -> Result<(), PickleError> {
        let new = self.pop()?;
        match self.top()? {
            PickleNode::Object { state, .. } => *state = Some(new),
            // An ordered dictionary may have attributes; they are not needed here.
            PickleNode::Dict(_) => {}
            _ => return Err(self.stuck()),
        }
        Ok(())
    }

    fn remember(&mut self, opcode: u8) -> Result<(), PickleError> {
        let number = match opcode {
            b'h' | b'q' => u8::from_le_bytes(self.take()?).into(),
            b'j' | b'r' => u32::from_le_bytes(self.take()?),
            // The memo has at most as many entries as there can be values.
            0x94 => self.memo.len() as u32,
            _ => self.line()?.parse().map_err(|_| self.argument("number"))?,
        };
        if matches!(opcode, b'h' | b'j' | b'g') {
            let at = self.opcode.0;
            let known = self.memo.get(&number).copied();
            self.stack.push(known.ok_or(PickleError::Memo { at, number })?);
        } else {
            let last = self.stack.last().copied().ok_or_else(|| self.stuck())?;
            if self.memo.len() == MAX_NODES {
                return Err(PickleError::TooMany);
            }
            self.memo.insert(number, last);
        }
        Ok(())
    }

    fn push(&mut self, node: PickleNode) -> Result<(), PickleError> {
        if self.nodes.len() == MAX_NODES {
            return Err(PickleError::TooMany);
        }
        self.stack.push(Id::new(self.nodes.len()));
        self.nodes.push(node);
        Ok(())
    }

    /// Pops the last value above the last mark.
    fn pop(&mut self) -> Result<Id, PickleError> {
        if self.marks.last().is_some_and(|mark| self.stack.len() <= *mark) {
            return Err(self.stuck());
        }
        self.stack.pop().ok_or_else(|| self.stuck())
    }

    fn pop_mark(&mut self) -> Result<Vec<Id>, PickleError> {
        let mark = self.marks.pop().ok_or_else(|| self.stuck())?;
        Ok(self.stack.split_off(mark))
    }

    fn pop_pairs(&mut self) -> Result<Vec<(Id, Id)>, PickleError> {
        let items = self.pop_mark()?;
        let (pairs, rest) = items.as_chunks::<2>();
        if rest.is_empty() {
            Ok(pairs.iter().map(|[key, value]| (*key, *value)).collect())
        } else {
            Err(self.stuck())
        }
    }

    fn top(&mut self) -> Result<&mut PickleNode, PickleError> {
        let stuck = self.stuck();
        let top = self.stack.last().ok_or(stuck)?;
        Ok(&mut self.nodes[top.index()])
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], PickleError> {
        let taken = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk());
        let taken = *taken.ok_or(PickleError::CutOff { at: self.bytes.len() })?;
        self.at += N;
        Ok(taken)
    }

    fn slice(&mut self, long: u64) -> Result<&'a [u8], PickleError> {
        let end = usize::try_from(long).ok().and_then(|long| self.at.checked_add(long));
        let slice = end.and_then(|end| self.bytes.get(self.at..end));
        let slice = slice.ok_or(PickleError::CutOff { at: self.bytes.len() })?;
        self.at += slice.len();
        Ok(slice)
    }

    /// Reads a length of `bytes` bytes.
    fn length(&mut self, bytes: u64) -> Result<u64, PickleError> {
        let mut whole = [0; 8];
        let read = self.slice(bytes)?;
        whole[..read.len()].copy_from_slice(read);
        Ok(u64::from_le_bytes(whole))
    }

    /// Reads text up to the end of the line.
    fn line(&mut self) -> Result<&'a str, PickleError> {
        let rest = &self.bytes[self.at..];
        let long = rest.iter().position(|byte| *byte == b'\n');
        let long = long.ok_or(PickleError::CutOff { at: self.bytes.len() })?;
        self.at += long + 1;
        std::str::from_utf8(&rest[..long]).map_err(|_| self.argument("text in UTF-8"))
    }

    fn argument(&self, wanted: &'static str) -> PickleError {
        PickleError::Argument { at: self.opcode.0, wanted }
    }

    fn stuck(&self) -> PickleError {
        PickleError::Stack { at: self.opcode.0, opcode: self.opcode.1 }
    }
}

#[cfg(test)]
mod tests;
