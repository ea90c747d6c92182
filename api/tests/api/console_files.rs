//! Files chosen by users in the console, in a real browser: all usual kinds, and hostile ones.

use serde_json::json;

use crate::console_plan::{assert_no_errors, stage};

#[tokio::test]
async fn molecules_come_from_files_of_every_usual_kind() {
    let Some((_service, browser)) = stage().await else { return };
    browser.go("#/batches/new").await;
    browser.wait_for_title("Batches · Retort").await;
    let folder = tempfile::tempdir().unwrap();
    let molfile = "ethanol\n  x\n\n  3  2  0  0  0  0  0  0  0  0999 V2000\n    0.0000    0.0000    0.0000 C   0  0\n    1.2990    0.7500    0.0000 C   0  0\n    \
                   2.5981    0.0000    0.0000 O   0  0\n  1  2  1  0\n  2  3  1  0\nM  END\n";
    let files = [
        (
            "a.smi",
            "smiles name\nCCO ethanol\n\nCCN\n".to_owned(),
            "2 molecules read (SMILES), 1 with a name",
            "",
        ),
        (
            "b.csv",
            "Name,SMILES\r\n\"x, y\",CCO\r\nz,C1\r\n".to_owned(),
            "1 molecule read (CSV), with its name",
            "Line 3: C1 is not a valid SMILES",
        ),
        (
            "c.sdf",
            format!("{molfile}> <a>\n1\n\n$$$$\nbroken\n$$$$\n{molfile}$$$$\n"),
            "2 molecules read (SDF), each with its name",
            "Line 15: this molfile cannot be read",
        ),
    ];

    for (name, text, read, fault) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        browser.type_into("#molecules_file", path.to_str().unwrap()).await;

        browser.wait_for_text("#molecules_read", |text| text == read).await;
        let faults = browser.run("return document.getElementById('molecules_faults').textContent").await;
        assert!(faults.as_str().unwrap().contains(fault), "{name}: {faults}");
        assert_eq!(
            browser.run("return document.getElementById('molecules_faults').hidden").await,
            fault.is_empty()
        );
    }
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn hostile_files_are_read_as_far_as_they_say_something_and_harm_nothing() {
    let Some((_service, browser)) = stage().await else { return };
    let read = async |text: String, name: &str| {
        let function = format!(
            "const done = arguments[arguments.length - 1]; \
             import('/console/molecules/molecule_text.js').then(({{ readMolecules }}) => done(readMolecules({}, {})), (fault) => done(String(fault)));",
            json!(text),
            json!(name)
        );
        let reading = browser.run_async(&function).await;
        let lines = |part: &str, word: &str| {
            let all = reading[part].as_array().unwrap_or_else(|| panic!("{name}: {reading}")).iter();
            all.map(|one| format!("{} {}", one["line"], one[word].as_str().unwrap())).collect::<Vec<_>>()
        };
        (lines("molecules", "name"), lines("faults", "why"))
    };
    let table = |rows: &str| format!("smiles,name\n{rows}");
    let v3000 = |counts: &str, number: &str| {
        format!(
            "x\n\n\n  0  0  0     0  0            999 V3000\nM  V30 BEGIN CTAB\nM  V30 COUNTS {counts} 0 0 0\nM  V30 BEGIN ATOM\n\
             M  V30 {number} C 0.123456 0 0 0\nM  V30 END ATOM\nM  V30 END CTAB\nM  END\n$$$$\n"
        )
    };
    let unmatched = "its quotation marks do not match";
    let no_molfile = "1 this molfile cannot be read".to_owned();
    let cases = [
        // An inch sign opens no quotation that would swallow the lines up to the next one.
        (
            table("CCO,5\" pipe\nCCN,x\nCCC,6\" pipe\n"),
            "a.csv",
            vec!["2 5\" pipe", "3 x", "4 6\" pipe"],
            vec![],
        ),
        (table("CCO,\"x\nCCN,y\nCCC,\"z\"\n"), "a.csv", vec!["3 y", "4 z"], vec![format!("2 {unmatched}")]),
        (
            table("CCO,\"x\ny, \"\"z\"\"\"\nC1,\n"),
            "a.csv",
            vec!["2 x y, \"z\""],
            vec!["4 C1 is not a valid SMILES".to_owned()],
        ),
        ("\"name\",\"smiles\"\r\"a\",\"CCO\"\r".to_owned(), "a.csv", vec!["2 a"], vec![]),
        ("__proto__;constructor;smiles;name\n1;2;CCO;<b>\n".to_owned(), "a.csv", vec!["2 <b>"], vec![]),
        (
            "smiles\tname\nCCO\ta\0b\u{1b}c\nC\0C\tx\n".to_owned(),
            "",
            vec!["2 a b c"],
            vec!["3 it has a control character".to_owned()],
        ),
        ("C".repeat(1_000_000), "", vec![], vec!["1 it is longer than 1,000 letters".to_owned()]),
        ("x".repeat(1_100_000), "a.sdf", vec![], vec!["1 this molfile is longer than 1 MiB".to_owned()]),
        (v3000("1 0", "1"), "a.sdf", vec!["1 x"], vec![]),
        (v3000("999999999 999999999", "1"), "a.sdf", vec![], vec![no_molfile.clone()]),
        (v3000("1 0", "999999999"), "a.sdf", vec![], vec![no_molfile]),
    ];
    for (text, name, molecules, faults) in cases {
        let case = text.chars().take(60).collect::<String>();
        let molecules: Vec<_> = molecules.into_iter().map(str::to_owned).collect();
        assert_eq!(read(text, name).await, (molecules, faults), "{case:?}");
    }
    assert_no_errors(&browser).await;
}

#[tokio::test]
async fn a_file_is_read_in_the_letters_that_it_was_written_in_and_not_where_it_is_huge() {
    let Some((_service, browser)) = stage().await else { return };
    browser.go("#/batches/new").await;
    browser.wait_for_title("Batches · Retort").await;
    let folder = tempfile::tempdir().unwrap();
    let text = "CCO é\nCCN z";
    let utf_16 = |to_bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(to_bytes).collect::<Vec<_>>();
    let files = [
        ("utf8.smi", [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat()),
        ("marked_le.smi", [&b"\xff\xfe"[..], &utf_16(u16::to_le_bytes)].concat()),
        ("marked_be.smi", [&b"\xfe\xff"[..], &utf_16(u16::to_be_bytes)].concat()),
        ("le.smi", utf_16(u16::to_le_bytes)),
        ("be.smi", utf_16(u16::to_be_bytes)),
        ("latin.smi", b"CCO \xe9\nCCN z".to_vec()),
    ];
    for (name, bytes) in files {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        browser.run("document.getElementById('molecules').value = ''").await;
        browser.type_into("#molecules_file", path.to_str().unwrap()).await;

        browser.until("return document.getElementById('molecules').value !== ''").await;
        assert_eq!(browser.run("return document.getElementById('molecules').value").await, text, "{name}");
    }
    let path = folder.path().join("huge.smi");
    std::fs::File::create(&path).unwrap().set_len((32 << 20) + 1).unwrap();
    browser.type_into("#molecules_file", path.to_str().unwrap()).await;

    browser
        .until("return document.querySelector('.new_batch').textContent.includes('the limit is 32 MiB')")
        .await;
    assert_eq!(browser.run("return document.getElementById('molecules').value").await, text);
}
