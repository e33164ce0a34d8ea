/** Types that a browser draws without running anything, and how each file of them begins. */
const IMAGES: Readonly<Record<string, readonly string[]>> = {
  "image/png": ["\x89PNG\r\n\x1a\n"],
  "image/jpeg": ["\xff\xd8\xff"],
  "image/gif": ["GIF87a", "GIF89a"],
  "image/webp": ["RIFF"],
};
const WEBP_AT = 8;

/** Whether a media type is one of the images that the page shows. */
export function isShownImage(type: string): boolean {
  return Object.hasOwn(IMAGES, type);
}

/**
 * Whether bytes are an image of the type that their sender gives. A browser goes by the content of an
 * image and not by its type, so content of another type is not shown at all.
 */
export function isImageOf(type: string, bytes: Uint8Array): boolean {
  if (!isShownImage(type)) return false;
  const begins = (text: string, at = 0) =>
    [...text].every((character, index) => bytes[at + index] === character.charCodeAt(0));
  if (type === "image/webp" && !begins("WEBP", WEBP_AT)) return false;
  return IMAGES[type]!.some((text) => begins(text));
}
