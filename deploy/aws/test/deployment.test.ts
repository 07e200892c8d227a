import { describe, expect, test } from "vitest";
import { parseDeployment } from "../src/deployment.ts";
import { pinnedImage } from "../src/image.ts";
import { DIGEST } from "./support/synthesized.ts";

const MINIMAL = { bridge_id: "plant-7" };

describe("the deployment file", () => {
  test("needs only the bridge's id", () => {
    expect(parseDeployment(MINIMAL)).toMatchObject({ desired_count: 2, shutdown_timeout: 60_000, queues: [] });
  });

  test("is told everything that is wrong with it at once, with the place", () => {
    const wrong = {
      bridge_id: "Plant 7",
      desired_count: 1,
      shutdown_timeout: "2m",
      queues: [{ name: "orders", use: "drain" }],
      tables: {},
    };
    const problems = [
      "bridge_id: ",
      "desired_count: ",
      "shutdown_timeout: too long: at most 105s",
      "queues[0].use: ",
      "tables: ",
    ];
    for (const problem of problems) expect(() => parseDeployment(wrong)).toThrow(problem);
  });

  test.each(["0.0.0.0/0", "::/0", "8.8.8.0/24", "10.0.0.0/7", "10.0.0.0", "172.16.0.0/11", "192.168.0.0/33", "office"])(
    "does not open a server to %s",
    (peer) => {
      for (const peers of ["monitor_peers", "admin_peers"]) {
        expect(() => parseDeployment({ ...MINIMAL, [peers]: [peer] })).toThrow(`${peers}[0]: `);
      }
      expect(() => parseDeployment({ ...MINIMAL, ingest: { port: 8082, peers: [peer] } })).toThrow("ingest.peers[0]: ");
    },
  );

  test.each(["10.1.0.0/16", "172.31.255.0/24", "192.168.1.7/32", "100.64.0.0/10", "sg-0123456789abcdef0"])(
    "opens them to %s",
    (peer) => {
      expect(parseDeployment({ ...MINIMAL, admin_peers: [peer] }).admin_peers).toEqual([peer]);
    },
  );
});

describe("the image", () => {
  test("is named by its digest", () => {
    expect(pinnedImage(`registry.example:5000/team/bridge@${DIGEST}`)).toEqual({
      name: `registry.example:5000/team/bridge@${DIGEST}`,
    });
    expect(pinnedImage(`111122223333.dkr.ecr.eu-west-1.amazonaws.com/team/bridge@${DIGEST}`).ecr).toEqual({
      account: "111122223333",
      region: "eu-west-1",
      repository: "team/bridge",
    });
  });

  test.each([
    undefined,
    "",
    "bridge",
    "bridge:latest",
    "bridge@sha256:abc",
    DIGEST,
    `bridge:1.2@${DIGEST}`,
    `a b@${DIGEST}`,
  ])("is refused as %j, with the remedy", (written) => {
    expect(() => pinnedImage(written)).toThrow(/^image: expected NAME@sha256:…/);
  });
});
