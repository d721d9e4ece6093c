import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createHash } from "node:crypto";
import { encoderDimensions, loadEncoder } from "#knowledge/vectors/encoder/model.ts";

// A server with OpenAI's `/embeddings` that has the built-in encoder's vectors, bent as those of other encoders are. The
// name of the model says how.

const bends = ["squeezed", "faint", "prefixed"] as const;
/**
 * `squeezed`: all texts are near each other, as with E5. `faint`: all are far from each other, as with OpenAI's.
 * `prefixed`: as E5, and noise takes part in texts without `query: ` or `passage: `.
 */
type Bend = (typeof bends)[number];

export function bendOf(name: string): Bend {
  const bend = bends.find((each) => each === name);
  if (bend === undefined) throw new Error(`no bend "${name}": use ${bends.join(", ")}`);
  return bend;
}

/** Squared lengths of what is added to a unit vector. */
const constantShare = 3;
const noiseShare = 1;
const missingPrefixShare = 1.5;
/** Noise of so few numbers changes similarities, since it does not cancel out. */
const missingPrefixDimensions = 24;
const prefix = /^(?:query|passage): /u;

export async function startBentEncoder(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const encode = await loadEncoder();
  const known = new Map<string, Float32Array>();

  async function vectorOf(text: string, bend: Bend): Promise<number[]> {
    const bare = bend === "prefixed" ? text.replace(prefix, "") : text;
    const [vector = new Float32Array()] = known.has(bare) ? [known.get(bare)] : await encode([bare]);
    known.set(bare, vector);
    const constant = Array.from({ length: encoderDimensions }, () => Math.sqrt(constantShare / encoderDimensions));
    if (bend === "squeezed") return [...vector, ...constant];
    if (bend === "faint") return [...vector, ...noise(text, noiseShare, encoderDimensions)];
    return [
      ...vector,
      ...constant,
      ...noise(text, prefix.test(text) ? 0 : missingPrefixShare, missingPrefixDimensions),
    ];
  }

  const server = createServer((request, response) => {
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const { input, model } = JSON.parse(body) as { readonly input: readonly string[]; readonly model: string };
      const bend = bendOf(model);
      const data: { index: number; embedding: number[] }[] = [];
      for (const [index, text] of input.entries()) data.push({ index, embedding: await vectorOf(text, bend) });
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ object: "list", model, data }));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** The same numbers for the same text; their squares add up to about `share`. */
function noise(text: string, share: number, dimensions: number): number[] {
  let state = createHash("sha256").update(text).digest().readUInt32LE(0) % 2_147_483_647 || 1;
  const scale = Math.sqrt((3 * share) / dimensions);
  return Array.from({ length: dimensions }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return scale * ((2 * state) / 2_147_483_647 - 1);
  });
}
