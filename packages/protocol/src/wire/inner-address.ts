/** Addresses of this machine, of a private network, or of no host at all. */
type Range = readonly [address: string, bits: number];

/** IPv4 ranges that are not globally reachable (RFC 6890, RFC 6598, RFC 5737, RFC 1112). */
const INNER_4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** IPv6 is the other way round: only this range is globally reachable … */
const OUTER_6: Range = ["2000::", 3];
/** … and these parts of it are not, or contain an IPv4 address. */
const INNER_6: readonly Range[] = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
];

/**
 * Whether an address, as a resolver returns it, is one that a stranger's URL must not lead to. An
 * unreadable one counts: another reader may interpret it in any way.
 */
export function isInnerAddress(address: string): boolean {
  const four = parse4(address);
  if (four !== undefined) return INNER_4.some((range) => isIn(four, range, parse4, 32));
  const six = parse6(address);
  if (six === undefined || !isIn(six, OUTER_6, parse6, 128)) return true;
  return INNER_6.some((range) => isIn(six, range, parse6, 128));
}

type Parse = (text: string) => bigint | undefined;

function isIn(value: bigint, [address, bits]: Range, parse: Parse, width: number): boolean {
  const shift = BigInt(width - bits);
  return value >> shift === parse(address)! >> shift;
}

/** Four decimal numbers, as every resolver writes them; other spellings are refused. */
function parse4(text: string): bigint | undefined {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1);
  if (parts?.some((part) => Number(part) > 255 || /^0\d/.test(part)) !== false) return undefined;
  return parts.reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

/** A zone (`%eth0`) and an embedded IPv4 part are not read: neither is in a global address. */
function parse6(text: string): bigint | undefined {
  const halves = text.toLowerCase().split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...(tail ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/.test(group))) return undefined;
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}
