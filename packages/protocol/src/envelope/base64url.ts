/** Strict: in a last group that is not full the unused bits are zero, so each file has one spelling. */
export const BASE64URL: RegExp =
  /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$/;
