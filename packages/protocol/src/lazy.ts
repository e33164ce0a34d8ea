/**
 * Calls `make` at the first use and keeps what it gave. Building the zod schemas of this package
 * takes longer than loading it, and whoever only reads a status code should not wait for them.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
