/** An amount of money: a decimal as a string, because a binary fraction can't represent a cent. */
export interface Money {
  /** Not negative, such as `"0.0042"`: up to 15 digits, and up to 12 after the point. */
  amount: string;
  /** The code of ISO 4217, such as `"USD"`. */
  currency: string;
}

const INTEGER_DIGITS = 15;
const DECIMALS = 12;
/** The syntax of an amount. */
export const AMOUNT: RegExp = /^(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{1,12})?$/;
/** The syntax of a currency. */
export const CURRENCY: RegExp = /^[A-Z]{3}$/;

const SCALE = 10n ** BigInt(DECIMALS);
const MOST = 10n ** BigInt(INTEGER_DIGITS + DECIMALS) - 1n;

/** Adds two amounts of one currency. A sum that can't be represented is capped at the largest amount. */
export function addMoney(one: Money, other: Money): Money {
  const sum = unitsOf(one.amount) + unitsOf(other.amount);
  return { amount: amountOf(sum > MOST ? MOST : sum), currency: one.currency };
}

/** Whether an amount is more than another; undefined if their currencies differ. */
export function isMoreMoney(one: Money, other: Money): boolean | undefined {
  if (one.currency !== other.currency) return undefined;
  return unitsOf(one.amount) > unitsOf(other.amount);
}

function unitsOf(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole) * SCALE + BigInt(fraction.padEnd(DECIMALS, "0"));
}

function amountOf(units: bigint): string {
  const fraction = String(units % SCALE)
    .padStart(DECIMALS, "0")
    .replace(/0+$/, "");
  return fraction === "" ? String(units / SCALE) : `${units / SCALE}.${fraction}`;
}
