/**
 * A text in a vector. Long texts are given by their construction, so that a case of a megabyte takes
 * a line: `times` times the text `repeat`, or the parts of `concat` one after the other.
 */
export type Text =
  | string
  | { readonly repeat: string; readonly times: number }
  | { readonly concat: readonly Text[] };

export function many(repeat: string, times: number): Text {
  return { repeat, times };
}

export function expand(text: Text): string {
  if (typeof text === "string") return text;
  return "repeat" in text ? text.repeat.repeat(text.times) : text.concat.map(expand).join("");
}

export function bytesOf(text: string): Buffer {
  return Buffer.from(text, "utf8");
}

export function base64url(bytes: Uint8Array | string): string {
  return Buffer.from(bytes as Uint8Array).toString("base64url");
}

/** Three bytes become four digits, so pieces of 3n bytes can be encoded separately. */
const BLOCK = 3;

/** The base64url of a payload of three pieces, of which the middle one may be long. */
export function encodeLong(before: string, unit: string, times: number, after: string): Text {
  const filler = " ".repeat((BLOCK - (bytesOf(before).length % BLOCK)) % BLOCK);
  const size = bytesOf(unit).length;
  const grouped = size % BLOCK === 0 ? 1 : BLOCK;
  const rest = times % grouped;
  return {
    concat: [
      base64url(filler + before),
      { repeat: base64url(unit.repeat(grouped)), times: (times - rest) / grouped },
      base64url(unit.repeat(rest) + after),
    ],
  };
}
