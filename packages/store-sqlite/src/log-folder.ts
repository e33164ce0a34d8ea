/** Where the segments of a store's log are. */
export function logFolderOf(path: string): string {
  return `${path}-log`;
}
