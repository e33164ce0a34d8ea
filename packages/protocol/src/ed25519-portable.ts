export { checkPublicKey, publicKeyOf, sign, verify } from "./platform.ts";
