// @ts-check
// Tables as files of comma-separated values.

/** @typedef {string | number | null | undefined} Value */

/**
 * A table as RFC 4180 has it.
 * @param {string[]} columns
 * @param {Value[][]} rows whose missing values at the end are empty
 */
export function csvOf(columns, rows) {
  return [columns, ...rows].map((row) => columns.map((_, index) => cell(row[index])).join(",")).join("\r\n") + "\r\n";
}

/**
 * A cell. Text that a spreadsheet would take for a formula gets an apostrophe; no SMILES begins with one of these signs.
 * @param {Value} value
 */
function cell(value) {
  if (value === null || value === undefined) return "";
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
