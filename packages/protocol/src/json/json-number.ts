const NUMBER = /-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?/y;
const PARTS = /^-?(\d+)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/;

/**
 * Up to so many digits, without an exponent, a decimal that is not whole is not whole as a double
 * either: doubles distinguish fifteen digits.
 */
const DIGITS_KEPT = 15;

/**
 * Whether a number as written is not whole, while the nearest double is: 1.0000000000000001 is version
 * 1 to a reader with doubles, and another version to one that reads the digits.
 */
export function losesFraction(literal: string): boolean {
  return Number.isInteger(Number(literal)) && !isWhole(literal);
}

function isWhole(literal: string): boolean {
  const [, digits = "", fraction = "", exponent = "0"] = PARTS.exec(literal) ?? [];
  const all = digits + fraction;
  let end = all.length;
  while (end > 0 && all.charCodeAt(end - 1) === 0x30) end--;
  // With only zeros it is zero, whatever the exponent.
  return end === 0 || Number(exponent) - fraction.length + (all.length - end) >= 0;
}

/** The end of the number whose point or exponent is at `at`, and whether it loses its fraction. */
export function numberAt(text: string, at: number): { end: number; isLost: boolean } {
  let start = at;
  while (isDigit(text.charCodeAt(start - 1))) start--;
  NUMBER.lastIndex = start;
  const literal = NUMBER.exec(text)?.[0] ?? "";
  const end = Math.max(at, start + literal.length - 1);
  const isPlain = text.charCodeAt(at) === 0x2e && literal.length <= DIGITS_KEPT + 1;
  if (isPlain && !literal.includes("e") && !literal.includes("E")) return { end, isLost: false };
  return { end, isLost: losesFraction(literal) };
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
