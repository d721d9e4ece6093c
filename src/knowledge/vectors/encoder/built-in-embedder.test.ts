import { afterEach, expect, it } from "vitest";
import { skipped } from "#test/support/skipped.ts";
import { silentLog } from "#test/support/knowledge/knowledge.ts";
import { ModelAway } from "#models/model-away.ts";
import type { Embedder } from "#models/embedding.ts";
import { createBuiltInEmbedder } from "./built-in-embedder.ts";
import { encoderDimensions, isEncoderInstalled } from "./model.ts";

/** A part of the manual. */
const manualHeading = "Answers › Can it find passages by their meaning?";

const open: Embedder[] = [];
afterEach(async () => {
  for (const embedder of open.splice(0)) await embedder.close?.();
});

function openEmbedder(options: { readonly entry?: URL; readonly loadMs?: number } = {}): Embedder {
  const embedder = createBuiltInEmbedder({ log: silentLog, ...options });
  open.push(embedder);
  return embedder;
}

const dot = (left: Float32Array, right: Float32Array): number =>
  left.reduce((sum, each, at) => sum + each * (right[at] ?? 0), 0);

if (isEncoderInstalled()) inProcess();
else skipped("the built-in encoder", "its optional packages are not installed");

function inProcess(): void {
  it("finds the heading that means the question, though they share no word", async () => {
    const embedder = openEmbedder();
    const headings = [
      "Channels: how do I connect WhatsApp?",
      "How do I change the colour, title and greeting of the chat?",
      "Business hours: who answers outside of them?",
      "How do I delete a workspace?",
    ];
    const vectors = await embedder.embed(headings, "background");
    expect(vectors.map(({ length }) => length)).toEqual(headings.map(() => encoderDimensions));
    for (const vector of vectors) expect(dot(vector, vector)).toBeCloseTo(1, 4);
    const nearest = async (question: string): Promise<string | undefined> => {
      const [asked] = await embedder.embed([question], "question");
      const similarities = vectors.map((vector) => dot(vector, asked ?? vector));
      return headings[similarities.indexOf(Math.max(...similarities))];
    };
    expect(await nearest("can i hook this up to my whatsapp number?")).toBe(headings[0]);
    expect(await nearest("make the bubble another color")).toBe(headings[1]);
    expect(await nearest("what happens at night when nobody is there")).toBe(headings[2]);
  });

  it("lets a question wait for the model to load", async () => {
    const embedder = openEmbedder({ loadMs: 60_000 });
    expect(await embedder.embed(["Is it here?"], "question")).toHaveLength(1);
    expect(embedder.trouble()).toBeNull();
  });

  it("lets no question wait longer than its limit, and goes on loading", async () => {
    const embedder = openEmbedder({ loadMs: 0 });
    await expect(embedder.embed(["Is it here?"], "question")).rejects.toThrow(ModelAway);
    await expect.poll(() => embedder.embed(["Is it here?"], "question").catch(() => [])).toHaveLength(1);
    expect(embedder.trouble()).toBeNull();
  });
}

it("takes the vectors of the manual from the program, without the model", async () => {
  const embedder = openEmbedder({ entry: new URL("data:text/javascript,throw new Error('the model is damaged')") });
  const [vector = new Float32Array()] = await embedder.embed([manualHeading], "background");
  expect(vector).toHaveLength(encoderDimensions);
  expect(dot(vector, vector)).toBeCloseTo(1, 4);
  await expect(embedder.embed([manualHeading, "a text"], "background")).rejects.toThrow(ModelAway);
});

it("says why it cannot encode", async () => {
  const embedder = openEmbedder({ entry: new URL("data:text/javascript,throw new Error('the model is damaged')") });
  await expect(embedder.embed(["a text"], "background")).rejects.toThrow(ModelAway);
  expect(embedder.trouble()).toContain("the built-in encoder");
});
