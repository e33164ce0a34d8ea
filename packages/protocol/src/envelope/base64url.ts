/** Strict: the unused bits of an incomplete last group are zero, so each file has one encoding. */
export const BASE64URL: RegExp =
  /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?$/;
