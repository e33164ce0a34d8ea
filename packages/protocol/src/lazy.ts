/**
 * Calls `make` on first use and keeps the result. Building the zod schemas of this package takes
 * longer than loading it, and an application that only reads a status code should not wait for that.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
