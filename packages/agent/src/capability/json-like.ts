import type { Json } from "@waybill/protocol";

/**
 * What may stand where JSON is expected: `Json`, and objects of any interface, which TypeScript does
 * not take for `Json` because an interface has no index signature. What has no faithful spelling in
 * JSON is refused with its place when it is sent.
 */
export type JsonLike =
  | null
  | boolean
  | number
  | string
  | { readonly [name: string]: unknown }
  | (object & NoPromise);

/** A promise that nobody has awaited would be `{}`. */
interface NoPromise {
  readonly then?: never;
}

/**
 * `T` itself where all of it can be written as JSON, and a type that nothing fits where it can't:
 * `value: T & JsonCompatible<T>` takes an interface, and refuses a function or a bigint at its place.
 * Members that may be undefined are left out of the JSON; a `toJSON`, such as a Date has, is asked.
 * What is `unknown` is looked at when it is sent.
 *
 * @example
 * ```ts
 * interface Topic { title: string; year?: number }
 * declare function send<T>(value: T & JsonCompatible<T>): void;
 * send<Topic>({ title: "waybills" });
 * send({ title: () => "waybills" }); // does not compile
 * ```
 */
export type JsonCompatible<T> = [T] extends [Json] ? T : unknown extends T ? T : Written<T>;

type Written<T> = T extends null | boolean | number | string
  ? T
  : T extends ((...given: never[]) => unknown) | (abstract new (...given: never[]) => unknown)
    ? never
    : T extends { toJSON(...given: never[]): unknown }
      ? T
      : T extends object
        ? { [Member in keyof T]: JsonCompatible<Exclude<T[Member], undefined>> | Left<T[Member]> }
        : never;

/** In a list there is nothing to leave out; an `undefined` there is refused when it is sent. */
type Left<T> = undefined extends T ? undefined : never;
