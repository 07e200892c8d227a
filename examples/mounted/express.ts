/** The two servers in an express app: in front of what parses bodies. @module */
import type { AddressInfo } from "node:net";
import express from "express";
import { bridge, bridgeListener } from "./bridge-servers.ts";

const app = express();
app.use("/bridge", bridgeListener()); // express takes the prefix away
app.use(express.json());
app.post("/echo", (request, response) => void response.json(request.body));

const server = app.listen(0, "127.0.0.1", () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
);
process.once("SIGTERM", () => void bridge.shutdown().then(() => server.close()));
