const DATABASE = "waybill-console";
const STORE = "session";

/** Keeps a value in this browser. Unlike other storage it takes keys that scripts can't read. */
export async function keep(name: string, value: unknown): Promise<void> {
  await withStore("readwrite", (store) => store.put(value, name));
}

/** What was kept under a name; undefined if nothing was, or if the browser keeps nothing. */
export async function kept<Value>(name: string): Promise<Value | undefined> {
  try {
    return (await withStore("readonly", (store) => store.get(name))) as Value | undefined;
  } catch {
    return undefined;
  }
}

/** Deletes what was kept. */
export async function forget(name: string): Promise<void> {
  await withStore("readwrite", (store) => store.delete(name)).catch(() => undefined);
}

function withStore(
  mode: IDBTransactionMode,
  use: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.addEventListener("upgradeneeded", () => opening.result.createObjectStore(STORE));
    opening.addEventListener("error", () => reject(opening.error!));
    opening.addEventListener("success", () => {
      const database = opening.result;
      const asked = use(database.transaction(STORE, mode).objectStore(STORE));
      asked.addEventListener("success", () => resolve(asked.result));
      asked.addEventListener("error", () => reject(asked.error!));
      asked.transaction!.addEventListener("complete", () => database.close());
    });
  });
}
