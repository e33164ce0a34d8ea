/**
 * The origin of an attack: an address of its own, the address of the honest pair, or two hundred
 * addresses.
 */
export const ORIGINS = ["elsewhere", "beside", "spread"] as const;
export type Origin = (typeof ORIGINS)[number];
