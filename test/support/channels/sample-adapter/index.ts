import type { AdapterModule } from "#channels/contract.ts";
import { createClient } from "./client.ts";
import type { SampleConfig } from "./config.ts";
import { config } from "./config.ts";
import { fetchSampleFile } from "./files.ts";
import { renderParts, textMax } from "./render.ts";
import { findPart, sendPart } from "./send.ts";
import { receive } from "./webhook.ts";

const sample: AdapterModule<SampleConfig> = {
  config,
  secrets: ["token", "signing_secret"],
  create({ config: { url, token, signing_secret: secret } }, host) {
    const client = createClient(url, token);
    return {
      capabilities: { textMax, typing: false, receipts: false, idempotentSend: false, fileBytesMax: 1_000_000 },
      inbound: { kind: "webhook", receive: (request) => receive(request, host, secret) },
      render: renderParts,
      send: (part, context) => sendPart(client, part, context),
      reconcile: (key, { signal }) => findPart(client, key, signal),
      fetchFile: (ref, signal) => fetchSampleFile(client, ref, signal),
      async check(signal) {
        const response = await client("me", { signal });
        if (!response.ok) throw new Error("the platform does not know this token: set `token`");
        return `${((await response.json()) as { readonly name: string }).name}, ${host.webhookUrl}`;
      },
      close: async () => undefined,
    };
  },
};

export default sample;
