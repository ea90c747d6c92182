// @ts-check
// Molecules in what people have: lines of SMILES, tables, SDF. What cannot be read is said by its line.

import { Molecule } from "./openchemlib.js";

/**
 * `line`: where it begins, from 1.
 * @typedef {{line: number, smiles: string, name: string}} Entry
 * @typedef {{line: number, why: string}} Fault
 * @typedef {{kind: string, molecules: Entry[], faults: Fault[]}} Reading
 */

/** Heads under which tables have their structures, the best first. */
const HEADS = ["smiles", "canonical_smiles", "isomeric_smiles", "structure", "molecule", "mol"];
const NAMES = ["name", "id", "title", "compound", "compound_id"];

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
  const separator = separatorOf(plain.split("\n")[head] ?? "");
  return separator ? readTable(plain, separator) : readLines(plain);
}

/**
 * What separates the cells of a table with this head; none where it is no table of structures.
 * @param {string} head
 */
function separatorOf(head) {
  return ["\t", ";", ","].find((separator) => cellsOf(head, separator).some((cell) => HEADS.includes(cell.trim().toLowerCase()))) ?? "";
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
  return checked("CSV", records.slice(1).map(({ line, cells }) => ({ line, smiles: cells[structure]?.trim() ?? "", name: cells[title]?.trim() ?? "" })));
}

/**
 * The records of a table (RFC 4180), each with the line where it begins.
 * @param {string} text
 * @param {string} separator
 */
function recordsOf(text, separator) {
  const records = [];
  let [line, open] = [0, /** @type {{line: number, text: string} | null} */ (null)];
  for (const part of text.split("\n")) {
    line += 1;
    const record = open ? { line: open.line, text: `${open.text}\n${part}` } : { line, text: part };
    // An odd number of quotation marks: a cell goes on in the next line.
    open = (record.text.match(/"/g)?.length ?? 0) % 2 ? record : null;
    if (!open) records.push({ line: record.line, cells: cellsOf(record.text, separator) });
  }
  if (open) records.push({ line: open.line, cells: cellsOf(open.text, separator) });
  return records;
}

/**
 * @param {string} record
 * @param {string} separator
 */
function cellsOf(record, separator) {
  const cells = [""];
  let quoted = false;
  for (const letter of record) {
    if (letter === '"') quoted = !quoted;
    else if (letter === separator && !quoted) cells.push("");
    else cells[cells.length - 1] += letter;
  }
  return cells;
}

/** @param {string} text */
function readStructures(text) {
  /** @type {Reading} */
  const reading = { kind: "SDF", molecules: [], faults: [] };
  let line = 1;
  for (const record of text.split(/^\${4}.*\n?/m)) {
    if (record.trim()) {
      try {
        const molecule = Molecule.fromMolfile(record);
        if (molecule.getAllAtoms() === 0) throw new Error("empty");
        reading.molecules.push({ line, smiles: molecule.toIsomericSmiles(), name: record.split("\n")[0].trim() });
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
 * @param {Entry[]} entries
 * @returns {Reading}
 */
function checked(kind, entries) {
  /** @type {Reading} */
  const reading = { kind, molecules: [], faults: [] };
  for (const entry of entries) {
    const why = entry.smiles === "" ? "there is no SMILES" : unreadable(entry.smiles);
    if (why) reading.faults.push({ line: entry.line, why });
    else reading.molecules.push(entry);
  }
  return reading;
}

/**
 * Why a SMILES is none; nothing where it is one.
 * @param {string} smiles
 */
function unreadable(smiles) {
  try {
    return Molecule.fromSmiles(smiles, { noCoordinates: true }).getAllAtoms() ? "" : "there is no atom in it";
  } catch {
    return `${smiles.length > 40 ? `${smiles.slice(0, 39)}…` : smiles} is no SMILES`;
  }
}
