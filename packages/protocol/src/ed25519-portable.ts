export { checkPublicKey, publicKeyOf, sign, verify } from "./platform/platform.ts";
