import { createHash } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

type KeyPair = ReturnType<typeof nkeys.createUser>;

/** A server that trusts an operator of the test's, and the text of a .creds file of a user it knows. */
export interface Trust {
  readonly lines: readonly string[];
  readonly creds: string;
}

/** Made by hand: accounts and users are tokens that their makers have signed. */
export function trust(): Trust {
  const [operator, system, account, user] = [
    nkeys.createOperator(),
    nkeys.createAccount(),
    nkeys.createAccount(),
    nkeys.createUser(),
  ];
  const unlimited = { subs: -1, data: -1, payload: -1 };
  const limits = { ...unlimited, imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const storage = { mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const systemJwt = signed(operator, system, { type: "account", limits });
  const accountJwt = signed(operator, account, { type: "account", limits: { ...limits, ...storage } });
  const userJwt = signed(account, user, { type: "user", ...unlimited });
  return {
    lines: [
      `operator: ${signed(operator, operator, { type: "operator" })}`,
      `system_account: ${system.getPublicKey()}`,
      "resolver: MEMORY",
      `resolver_preload: { ${account.getPublicKey()}: ${accountJwt}, ${system.getPublicKey()}: ${systemJwt} }`,
    ],
    creds: [
      "-----BEGIN NATS USER JWT-----",
      userJwt,
      "------END NATS USER JWT------",
      "",
      "-----BEGIN USER NKEY SEED-----",
      Buffer.from(user.getSeed()).toString(),
      "------END USER NKEY SEED------",
      "",
    ].join("\n"),
  };
}

function signed(issuer: KeyPair, subject: KeyPair, nats: object): string {
  const claims = {
    iat: Math.floor(Date.now() / 1_000),
    iss: issuer.getPublicKey(),
    name: "test",
    sub: subject.getPublicKey(),
    nats: { ...nats, version: 2 },
  };
  const jti = createHash("sha256").update(JSON.stringify(claims)).digest("hex");
  const text = `${encoded({ typ: "JWT", alg: "ed25519-nkey" })}.${encoded({ jti, ...claims })}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
