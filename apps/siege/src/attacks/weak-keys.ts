import type { AttackClass } from "../attack-class.ts";

/** Invalid public keys: of small order, not canonical, with a torsion component. */
const SMALL_ORDER = [
  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "7P_______________________________________38",
];
const NOT_CANONICAL = [
  "7f_______________________________________38",
  "7v_______________________________________38",
  "__________________________________________8",
];
const WITH_TORSION = [
  "1D7VZpXLppUNTEnAn-KptZ1pbtoNDkeG66_KJgpTxZw",
  "hZVdy3n_5Dr_kmQrAeGBs9KughHNgJN1ArjVIKBgljU",
  "JPHNCI_HfisU5dk_IyyLCfQ5OWQnMd5oe8knJFxcisE",
  "Rz_H4zmqSbfHS0dLCfSQ-LX1RwA4jelmj7QC-I2dLgw",
  "Qu83cVjplJw6kBuAbCnV8qvPdkIxVX9CoNKCnB929wM",
  "my4zL6YbK3Q_EBUsxh_h6eh2vJTb_Jn-kWdOwjq4B0M",
  "LGW2c88FM3JmAyxdxN06SPGNgHZp162FB1Ir5Nui7HI",
];
const ALL = [...SMALL_ORDER, ...NOT_CANONICAL, ...WITH_TORSION];

export const weakKeys: AttackClass = {
  name: "weak-keys",
  does: "manifests list up to 16 keys of small order, with torsion, or in a spelling that is not canonical: each costs curve arithmetic",
  lands: ["publish 401"],
  never: ["publish 200"],
  async run(attacker) {
    await attacker.crowd(8, (lane, turn) => {
      const actor = attacker.actor();
      const weak = Array.from({ length: 15 }, (_, index) => ({
        kty: "OKP",
        crv: "Ed25519",
        x: ALL[(lane + turn + index) % ALL.length],
        proof: "A".repeat(86),
      }));
      return attacker.publish(actor, [], { keys: [actor.key.jwk, ...weak] });
    });
  },
};
