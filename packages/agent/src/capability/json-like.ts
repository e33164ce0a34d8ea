import type { Json } from "@waybill/protocol";

/**
 * The type of a parameter that takes JSON: `Json`, and objects of any interface, which TypeScript does
 * not accept as `Json` because an interface has no index signature. A value without a faithful JSON
 * form is refused when it is sent, with its place.
 */
export type JsonLike =
  | null
  | boolean
  | number
  | string
  | { readonly [name: string]: unknown }
  | (object & NoPromise);

/** A promise that was not awaited would become `{}`. */
interface NoPromise {
  readonly then?: never;
}

/**
 * `T` itself if all of it can be written as JSON, and otherwise a type that nothing matches: `value: T
 * & JsonCompatible<T>` accepts an interface, and rejects a function or a bigint at its place. Members
 * that may be undefined are omitted from the JSON; a `toJSON` method, such as that of Date, is called.
 * Values of type `unknown` are checked when they are sent.
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

/** A list can't omit an element, so an `undefined` in it is refused when it is sent. */
type Left<T> = undefined extends T ? undefined : never;
