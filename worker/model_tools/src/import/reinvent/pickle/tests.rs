use proptest::prelude::*;

use super::*;

fn allowed(module: &str, name: &str) -> Option<NameUse> {
    match (module, name) {
        ("collections", "OrderedDict") => Some(NameUse::Dictionary),
        ("a", "Thing") => Some(NameUse::Inert),
        _ => None,
    }
}

fn root(bytes: &[u8]) -> PickleNode {
    let pickled = read(bytes, allowed).unwrap();
    pickled.node(pickled.root()).clone()
}

#[test]
fn plain_values_are_read() {
    // Output of `pickle.dumps(value, 2)` in CPython 3.11; some cases use protocols 0 and 4.
    for (bytes, value) in [
        (&b"\x80\x02N."[..], PickleNode::None),
        (b"\x80\x02\x88.", PickleNode::Bool(true)),
        (b"I00\n.", PickleNode::Bool(false)),
        (b"\x80\x02K\x07.", PickleNode::Int(7)),
        (b"\x80\x02M\x00\x01.", PickleNode::Int(256)),
        (b"\x80\x02J\xff\xff\xff\xff.", PickleNode::Int(-1)),
        (b"\x80\x02\x8a\x05\x00\x00\x00\x00\x01.", PickleNode::Int(1 << 32)),
        (b"\x80\x02\x8a\x06\x00\x00\x00\x00\x00\xff.", PickleNode::Int(-(1 << 40))),
        (b"\x80\x02\x8a\x09\x00\x00\x00\x00\x00\x00\x00\x00\x01.", PickleNode::Long),
        (b"L12L\n.", PickleNode::Int(12)),
        (b"\x80\x02G?\xf8\x00\x00\x00\x00\x00\x00.", PickleNode::Float(1.5)),
        (b"F1.5\n.", PickleNode::Float(1.5)),
        (b"\x80\x02X\x03\x00\x00\x00C=Oq\x00.", PickleNode::Text("C=O".to_owned())),
        (b"\x80\x04\x95\x07\x00\x00\x00\x00\x00\x00\x00\x8c\x03C=O\x94.", PickleNode::Text("C=O".to_owned())),
        (b"S'C=O'\n.", PickleNode::Text("C=O".to_owned())),
        (b"\x80\x03C\x02ab.", PickleNode::Bytes(b"ab".to_vec())),
    ] {
        assert_eq!(root(bytes), value, "{}", bytes.escape_ascii());
    }
}

#[test]
fn containers_and_objects_are_read() {
    // {"a": [1, 2], "b": (3,)} with a memo, and an ordered dictionary with an attribute.
    let bytes = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01K\x02eX\x01\x00\x00\x00bK\x03\x85q\x03u.";
    let pickled = read(bytes, allowed).unwrap();
    let (a, b) = (pickled.field(pickled.root(), "a").unwrap(), pickled.field(pickled.root(), "b").unwrap());
    let numbers = |id| pickled.items(id).unwrap().iter().map(|id| pickled.count(*id)).collect::<Vec<_>>();
    assert_eq!((numbers(a), numbers(b)), (vec![Some(1), Some(2)], vec![Some(3)]));

    let bytes = b"\x80\x02ccollections\nOrderedDict\n)RK\x01K\x02s}b.";
    assert!(matches!(root(bytes), PickleNode::Dict(pairs) if pairs.len() == 1));

    let bytes = b"\x80\x02ca\nThing\n)\x81}X\x01\x00\x00\x00xK\x05sb.";
    let pickled = read(bytes, allowed).unwrap();
    assert_eq!(pickled.field(pickled.root(), "x").and_then(|id| pickled.count(id)), Some(5));
}

#[test]
fn what_would_run_something_is_refused_by_its_name_and_place() {
    for (bytes, at, name) in [
        (&b"\x80\x02cposix\nsystem\nX\x02\x00\x00\x00ls\x85R."[..], 2, "posix.system"),
        (b"cos\nsystem\n(S'ls'\ntR.", 0, "os.system"),
        (b"(S'ls'\nios\nsystem\n.", 7, "os.system"),
        (b"\x80\x04\x8c\x05posix\x8c\x06system\x93.", 17, "posix.system"),
        (b"\x80\x02c__builtin__\neval\n.", 2, "__builtin__.eval"),
        (b"\x80\x02ctorch.storage\n_load_from_bytes\n.", 2, "torch.storage._load_from_bytes"),
    ] {
        let fault = read(bytes, allowed).unwrap_err();

        assert_eq!(fault, PickleError::Forbidden { at, name: name.to_owned() });
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    for (bytes, fault) in [
        (&b""[..], PickleError::CutOff { at: 0 }),
        (b"\x80\x02", PickleError::CutOff { at: 2 }),
        (b"\x80\x02X\xff\xff\xff\xffab", PickleError::CutOff { at: 9 }),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff", PickleError::CutOff { at: 9 }),
        (b"cos", PickleError::CutOff { at: 3 }),
        (b"\x80\x09.", PickleError::Argument { at: 0, wanted: "known protocol" }),
        (b"X\x01\x00\x00\x00\xff.", PickleError::Argument { at: 0, wanted: "text in UTF-8" }),
        (b"Ix\n.", PickleError::Argument { at: 0, wanted: "number" }),
        (b".", PickleError::Stack { at: 0, opcode: b'.' }),
        (b"(.", PickleError::Stack { at: 1, opcode: b'.' }),
        (b"K\x01(0.", PickleError::Stack { at: 3, opcode: b'0' }),
        (b"K\x01K\x02a.", PickleError::Stack { at: 4, opcode: b'a' }),
        (b"}(K\x01u.", PickleError::Stack { at: 4, opcode: b'u' }),
        (b"K\x01)R.", PickleError::Stack { at: 3, opcode: b'R' }),
        (b"h\x07.", PickleError::Memo { at: 0, number: 7 }),
        (b"\x82\x01.", PickleError::Opcode { at: 0, opcode: 0x82 }),
        (b"(ca\nThing\no.", PickleError::Opcode { at: 10, opcode: b'o' }),
        (b"N2.", PickleError::Opcode { at: 1, opcode: b'2' }),
    ] {
        assert_eq!(read(bytes, allowed).unwrap_err(), fault, "{}", bytes.escape_ascii());
    }
}

#[test]
fn what_one_value_is_used_for_often_is_not_copied() {
    // A tuple of 100,000 items, and 100,000 calls with it: ten billion items if each call had its own copy.
    let mut bytes = b"\x80\x02ca\nThing\nq\x00(".to_vec();
    bytes.extend(b"N".repeat(100_000));
    bytes.extend(b"tq\x01");
    bytes.extend(b"h\x00h\x01R0".repeat(100_000));
    bytes.push(b'.');

    assert!(read(&bytes, allowed).is_ok());
}

#[test]
fn long_names_are_refused() {
    let bytes = format!("ca.{}\nThing\n.", "x".repeat(300));

    let fault = read(bytes.as_bytes(), |_, _| Some(NameUse::Inert)).unwrap_err();

    assert_eq!(fault, PickleError::Argument { at: 0, wanted: "name of reasonable length" });
}

#[test]
fn values_are_counted() {
    let mut bytes = b"N".to_vec();
    bytes.extend(vec![0x94; MAX_NODES + 1]);
    assert_eq!(read(&bytes, allowed).unwrap_err(), PickleError::TooMany);

    let mut bytes = vec![b')'; MAX_NODES + 1];
    bytes.push(b'.');

    assert_eq!(read(&bytes, allowed).unwrap_err(), PickleError::TooMany);
}

/// Returns bytes that are mostly opcodes.
fn opcodes() -> impl Strategy<Value = Vec<u8>> {
    let known =
        b"(.)]}lt0ae1sudNIJKMGFLSVTUXBCQRbhjgqrpci\x80\x81\x85\x86\x87\x88\x8a\x8c\x8f\x90\x91\x93\x94\n";
    prop::collection::vec(prop_oneof![3 => prop::sample::select(known.to_vec()), 1 => any::<u8>()], 0..80)
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in opcodes()) {
        let _ = read(&bytes, |_, _| Some(NameUse::Inert));
        let _ = read(&bytes, |_, _| Some(NameUse::Dictionary));
    }

    #[test]
    fn a_pickle_that_is_cut_is_refused(cut in 0_usize..48) {
        let bytes = b"\x80\x02}q\x00(X\x01\x00\x00\x00aq\x01]q\x02(K\x01K\x02eX\x01\x00\x00\x00bK\x03\x85q\x03u.";

        prop_assert!(read(&bytes[..cut.min(bytes.len() - 1)], allowed).is_err());
    }
}
