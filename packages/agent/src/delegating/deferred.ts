/** A promise that is settled from outside, once. Without a listener it fails silently. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(reason: Error): void;
}

export function deferred<Value>(): Deferred<Value> {
  let resolve: (value: Value) => void;
  let reject: (reason: Error) => void;
  const promise = new Promise<Value>((resolveIt, rejectIt) => {
    resolve = resolveIt;
    reject = rejectIt;
  });
  promise.catch(() => undefined);
  return { promise, resolve: resolve!, reject: reject! };
}
