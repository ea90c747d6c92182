// @ts-check
// Numbers as people read and type them.

// Made once: to make one takes longer than to use it a hundred times.
const WHOLE = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
const CENTS = new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const FEW = new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 3 });

/** @param {number | null | undefined} value */
export function dollars(value) {
  if (value === null || value === undefined) return "price not known";
  return `$${(value < 10 ? CENTS : WHOLE).format(value)}`;
}

/** @param {number | null | undefined} value */
export function days(value) {
  if (value === null || value === undefined) return "lead time not known";
  return `${significant(value)} ${value === 1 ? "day" : "days"}`;
}

/** @param {number} share of one */
export function percent(share) {
  return share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(share * 100)} %`;
}

/**
 * Three significant digits at most.
 * @param {number} value
 */
export function significant(value) {
  return FEW.format(value);
}

/**
 * An amount with its unit.
 * @param {number | null} amount
 * @param {string | null} unit
 */
export function amount(amount, unit) {
  return amount === null ? "pack not stated" : `${significant(amount)} ${unit ?? ""}`.trim();
}

/**
 * A number of things, with their name.
 * @param {number} many
 * @param {string} one
 */
export function several(many, one) {
  return `${count(many)} ${one}${many === 1 ? "" : "s"}`;
}

/**
 * The number that a person typed, whose decimal sign is a point or a comma.
 * @param {string} text
 * @returns {number | string} or why it is none
 */
export function parseNumber(text) {
  const plain = text.trim().replaceAll(/[\s\u00a0\u202f']/g, "");
  if (/^[1-9]\d{0,2},\d{3}$/.test(plain)) return `${plain} may be ${plain.replace(",", ".")} or ${plain.replace(",", "")}: write it without a comma.`;
  const decimal = plain.lastIndexOf(",") > plain.lastIndexOf(".") ? "," : ".";
  const value = Number(plain.replaceAll(decimal === "," ? "." : ",", "").replace(decimal, "."));
  return plain === "" || !Number.isFinite(value) ? `${text.trim()} is not a number.` : value;
}

/**
 * A number with its thousands told apart.
 * @param {number} value
 */
export function count(value) {
  return WHOLE.format(value);
}

/**
 * Seconds as people say them, in one unit.
 * @param {number} seconds
 */
export function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 100) return `${whole} s`;
  if (whole < 100 * 60) return `${Math.round(whole / 60)} min`;
  if (whole < 48 * 3600) return `${Math.round(whole / 3600)} h`;
  return `${Math.round(whole / 86400)} days`;
}
