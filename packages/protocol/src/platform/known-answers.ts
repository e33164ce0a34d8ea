/** What every implementation of Ed25519 answers, in hex: a private key, a message and its signature. */
export const SIGNED: readonly {
  readonly seed: string;
  readonly publicKey: string;
  readonly message: string;
  readonly signature: string;
}[] = [
  {
    seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    publicKey: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
    message: "",
    signature:
      "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
  },
  {
    seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    message: "af82",
    signature:
      "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
  },
  {
    seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    publicKey: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    // Longer than a block of SHA-512, and than what a binding might copy at once.
    message: Array.from({ length: 5_000 }, (_, index) =>
      (index % 251).toString(16).padStart(2, "0"),
    ).join(""),
    signature:
      "a8fd76eea5d256b69774d2e3bb49f551e45383854dfee8749f848991553395b270466aecfffd5a87165894276f35e35c58b91f790420c98913812a554a40640a",
  },
];

/**
 * Signatures of "a message" under one sound key. The first is valid. In the next seven R has torsion:
 * the equation holds only if it is multiplied by the cofactor. In the last the encoding of R is not
 * canonical. All other hostile cases are refused before an implementation sees them.
 */
export const ONE_KEY = {
  publicKey: "180f9b3dd5dfc36f4f188f272e2757cd33bde556cf08041d5bdb2fc601d39170",
  message: "61206d657373616765",
  valid:
    "ded8f68137b07d145d59f0976427d5f07f03d32e8f1fcc6fd9c3d4905e4612a2344913abaf7f292c1e9af9445fb29458a1384fc3441650dd07b7a603638d4109",
  invalid: [
    "bf6de247eef0fe0784eb698c986ede5d50c59bdd862a5ce425c4203fade652ebf7d63ce0059975aa61caa34401b462b688be41ed50fa2231baf7ecaf1d1eed0c",
    "facfa40917535f09a9e5c98eba91a7c19803c379c33830fb5beeab80217c2f8c32026605c118ffdebe7491aac097d5019de2c610ac4c99d55986440c32427a06",
    "58de0e9a263d8a4d87a375666801d9d19ffc6fb930ab3ddd922722dce6117a9c128b0b4e857fb4e3366591f180d4bfd8415471368591c550508f58f9bb36fc01",
    "0f27097ec84f82eba2a60f689bd82a0f80fc2cd170e03390263c2b6fa1b9ed5d1969d5397255f622c20b722068afe459276bd2921d189abe1f85e00dcece500c",
    "2e921db8110f01f87b149673679121a2af3a642279d5a31bda3bdfc05219ad14fc62b1068e10a62a3ab2d865baf5ce3c5de44820cf25f219d99e973f077b8308",
    "f32f5bf6e8aca0f6561a3671456e583e67fc3c863cc7cf04a411547fde83d073d6e74e0b7e786ffe3617b1a958716b2ff83b712b04aee278c625ecdf6bdfe602",
    "9521f165d9c275b2785c8a9997fe262e60039046cf54c2226dd8dd2319ee85634130ac0b4afacf3ce168a5feab35b359d44773b4a05835f58b955e9bf421470c",
    "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7fd135708455d841aea5ad8508521ac410c61e4a9dc65ffeeb6607abbf538a6005",
  ],
} as const;
