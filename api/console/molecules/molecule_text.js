// @ts-check
// Parser of lines of SMILES, tables and SDF. Each fault has its line.

import { Molecule } from "../vendor/openchemlib/openchemlib.js";

/**
 * `line`: where it begins, from 1.
 * @typedef {{line: number, smiles: string, name: string}} Entry
 * @typedef {{line: number, why: string}} Fault
 * @typedef {{kind: string, molecules: Entry[], faults: Fault[]}} Reading
 */

/** Heads under which tables have their structures, the best first. */
const HEADS = ["smiles", "canonical_smiles", "isomeric_smiles", "structure", "molecule", "mol"];
const NAMES = ["name", "id", "title", "compound", "compound_id"];

/** Letters of the longest target that the service takes. */
const LONGEST_SMILES = 1000;
/** Letters of a table's head that are looked at. */
const LONGEST_HEAD = 10000;
/** Letters of the longest molfile that is looked at. */
const LONGEST_MOLFILE = 1 << 20;
/** A count or number of five digits in a V3000 molfile, for which OpenChemLib would make room at once, whatever is there. */
const HUGE_NUMBER = /^M {2}V30 +(?:COUNTS +)?(?:\d+ +)*\d{5,}(?![\d.])/m;

/**
 * The molecules of a text.
 * @param {string} text
 * @param {string} name of its file, if it has one
 * @returns {Reading}
 */
export function readMolecules(text, name) {
  const plain = text.replace(/^\ufeff/, "").replaceAll(/\r\n?/g, "\n");
  if (/\.(sdf?|mol)$/i.test(name) || /^(M {2}END|\${4})/m.test(plain)) return readStructures(plain);
  const head = plain.split("\n").findIndex((line) => line.trim() !== "");
  const separator = separatorOf((plain.split("\n")[head] ?? "").slice(0, LONGEST_HEAD));
  return separator ? readTable(plain, separator) : readLines(plain);
}

/**
 * The separator of a table with this head; empty if it has no column of structures.
 * @param {string} head
 */
function separatorOf(head) {
  return ["\t", ";", ","].find((separator) => {
    const { cells, isBroken } = recordAt(head, 0, separator, false);
    return !isBroken && cells.some((cell) => HEADS.includes(cell.trim().toLowerCase()));
  }) ?? "";
}

/** @param {string} text */
function readLines(text) {
  /** @type {Entry[]} */
  const found = [];
  text.split("\n").forEach((line, index) => {
    const [smiles, ...rest] = line.trim().split(/\s+/);
    if (smiles && !smiles.startsWith("#")) found.push({ line: index + 1, smiles, name: rest.join(" ") });
  });
  // A head over a column of SMILES is none itself.
  if (found.length && HEADS.includes(found[0].smiles.toLowerCase())) found.shift();
  return checked("SMILES", found);
}

/**
 * @param {string} text
 * @param {string} separator
 */
function readTable(text, separator) {
  const records = recordsOf(text, separator).filter(({ cells }) => cells.some((cell) => cell.trim() !== ""));
  const heads = records[0].cells.map((cell) => cell.trim().toLowerCase());
  const place = (/** @type {string[]} */ wanted) => heads.indexOf(wanted.find((head) => heads.includes(head)) ?? "");
  const [structure, title] = [place(HEADS), place(NAMES)];
  return checked("CSV", records.slice(1).map(({ line, cells, isBroken }) => ({
    line, smiles: cells[structure]?.trim() ?? "", name: cells[title] ?? "", why: isBroken ? "its quotation marks do not match" : "",
  })));
}

/**
 * The records of a table (RFC 4180), each with the line where it begins, and whether its quotation marks do not match: it ends with its line then,
 * and so does every later one.
 * @param {string} text
 * @param {string} separator
 */
function recordsOf(text, separator) {
  const records = [];
  let [line, mayGoOn] = [1, true];
  for (let at = 0; at < text.length; ) {
    const record = recordAt(text, at, separator, mayGoOn);
    if (record.isBroken && mayGoOn) {
      mayGoOn = false;
      continue;
    }
    records.push({ line, ...record });
    [at, line] = [record.end + 1, line + record.lines];
  }
  return records;
}

/**
 * The record that begins at a place of a text.
 * @param {string} text
 * @param {number} at
 * @param {string} separator
 * @param {boolean} mayGoOn whether a quoted cell may go on in the next line
 */
function recordAt(text, at, separator, mayGoOn) {
  const cells = [];
  let [cell, isOpen, isClosed, isBroken, lines] = ["", false, false, false, 1];
  for (; at < text.length; at++) {
    const letter = text[at];
    if (letter === "\n" && isOpen && mayGoOn) lines += 1;
    else if (letter === "\n") break;
    if (isOpen && letter !== '"') cell += letter;
    else if (isOpen && text[at + 1] === '"') cell += text[at++];
    else if (isOpen) [isOpen, isClosed] = [false, true];
    else if (letter === separator) {
      cells.push(cell);
      [cell, isClosed] = ["", false];
    } else if (isClosed) isBroken ||= letter.trim() !== "";
    // Elsewhere in a cell it is a letter, as in inches.
    else if (letter === '"' && cell.trim() === "") [cell, isOpen] = ["", true];
    else cell += letter;
  }
  return { cells: [...cells, cell], end: at, lines, isBroken: isBroken || isOpen };
}

/** @param {string} text */
function readStructures(text) {
  /** @type {Reading} */
  const reading = { kind: "SDF", molecules: [], faults: [] };
  let line = 1;
  for (const record of text.split(/^\${4}.*\n?/m)) {
    if (record.length > LONGEST_MOLFILE) reading.faults.push({ line, why: "this molfile is longer than 1 MiB" });
    else if (record.trim()) {
      try {
        if (HUGE_NUMBER.test(record)) throw new Error("huge");
        const molecule = Molecule.fromMolfile(record);
        if (molecule.getAllAtoms() === 0) throw new Error("empty");
        reading.molecules.push({ line, smiles: molecule.toIsomericSmiles(), name: oneLine(record.split("\n", 1)[0]) });
      } catch {
        reading.faults.push({ line, why: "this molfile cannot be read" });
      }
    }
    line += record.split("\n").length;
  }
  return reading;
}

/**
 * @param {string} kind
 * @param {(Entry & {why?: string})[]} entries `why`: one cannot be read
 * @returns {Reading}
 */
function checked(kind, entries) {
  /** @type {Reading} */
  const reading = { kind, molecules: [], faults: [] };
  for (const entry of entries) {
    const { line, smiles } = entry;
    const why = entry.why || (smiles === "" ? "the SMILES is missing" : unreadable(smiles));
    if (why) reading.faults.push({ line, why });
    else reading.molecules.push({ line, smiles, name: oneLine(entry.name) });
  }
  return reading;
}

/**
 * A name without what no name has and the service does not store: NUL and other controls, halves of letters.
 * @param {string} name
 */
function oneLine(name) {
  return name.replaceAll(/[\p{Cc}\p{Cs}]+/gu, " ").trim();
}

/**
 * The fault of a SMILES; empty if it is valid.
 * @param {string} smiles
 */
function unreadable(smiles) {
  if (smiles.length > LONGEST_SMILES) return `it is longer than ${LONGEST_SMILES.toLocaleString("en")} letters`;
  if (/\p{Cc}/u.test(smiles)) return "it has a control character";
  try {
    return Molecule.fromSmiles(smiles, { noCoordinates: true }).getAllAtoms() ? "" : "it has no atoms";
  } catch {
    return `${smiles.length > 40 ? `${smiles.slice(0, 39)}…` : smiles} is not a valid SMILES`;
  }
}
