/** The form of a time on the wire: RFC 3339 in UTC. `isTime` also checks the calendar. */
export const TIME: RegExp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
// The calendar repeats after 400 years, and `Date.UTC` takes the years 0 to 99 for 1900 to 1999.
const CYCLE_YEARS = 400;
const CYCLE_MS = 146_097 * 86_400_000;

/**
 * Milliseconds since 1970, or undefined if it is no valid UTC time. Digits beyond the milliseconds are
 * dropped. Not `Date.parse`: engines differ in what they accept, and it turns 30 February into 2
 * March.
 */
export function parseTime(text: string): number | undefined {
  if (!TIME.test(text)) return undefined;
  const year = pairAt(text, 0) * 100 + pairAt(text, 2);
  const month = pairAt(text, 5);
  const day = pairAt(text, 8);
  const hour = pairAt(text, 11);
  const minute = pairAt(text, 14);
  const second = pairAt(text, 17);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const fraction = text.length === 20 ? 0 : Number(text.slice(20, -1).slice(0, 3).padEnd(3, "0"));
  const shifted = Date.UTC(year + CYCLE_YEARS, month - 1, day, hour, minute, second, fraction);
  return shifted - CYCLE_MS;
}

const DAY_MS = 86_400_000;
let dayStart = Number.NaN;
let dayText = "";

/**
 * A time in the form of the wire, to the millisecond: what `toISOString` returns. The day is cached,
 * because envelopes of one day differ only in the time of day, and the calendar is the costly part.
 */
export function formatTime(time: number): string {
  const since = time - dayStart;
  if (!(since >= 0 && since < DAY_MS)) {
    const text = new Date(time).toISOString();
    dayStart = Math.floor(time / DAY_MS) * DAY_MS;
    dayText = text.slice(0, -13);
    return text;
  }
  const seconds = Math.floor(since / 1000);
  const minutes = Math.floor(seconds / 60);
  return (
    dayText +
    `${padded(Math.floor(minutes / 60), 2)}:${padded(minutes % 60, 2)}:` +
    `${padded(seconds % 60, 2)}.${padded(Math.floor(since % 1000), 3)}Z`
  );
}

function padded(value: number, digits: 2 | 3): string {
  const zeros = value < 10 ? digits - 1 : value < 100 ? digits - 2 : 0;
  return zeros === 0 ? `${value}` : zeros === 1 ? `0${value}` : `00${value}`;
}

/** Whether a value is a time as envelopes write it: RFC 3339, in UTC. */
export function isTime(value: unknown): value is string {
  return typeof value === "string" && parseTime(value) !== undefined;
}

function pairAt(text: string, index: number): number {
  return text.charCodeAt(index) * 10 + text.charCodeAt(index + 1) - 11 * 48;
}

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : DAYS_IN_MONTH[month - 1]!;
}
